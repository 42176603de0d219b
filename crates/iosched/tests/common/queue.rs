//! A queue over a drive that records its requests.

use fathom_base::{Dur, Time};
use fathom_block::devices::NullDevice;
use fathom_block::{Busy, Completion, Device, DeviceInfo, DriveLog, Op, Request};
use fathom_iosched::{BlockQueue, QueueConfig};

const KIB: u64 = 1024;

/// A drive that takes 100 us for everything and records its requests.
pub(crate) struct Recorder {
    pub(crate) inner: NullDevice,
    pub(crate) given: Vec<Request>,
    /// When each request was submitted to the drive.
    pub(crate) when: Vec<Time>,
}

impl Recorder {
    pub(crate) fn new(inner: NullDevice) -> Self {
        let (given, when) = (Vec::new(), Vec::new());
        Self { inner, given, when }
    }
}

impl Device for Recorder {
    fn info(&self) -> &DeviceInfo {
        self.inner.info()
    }
    fn now(&self) -> Time {
        self.inner.now()
    }
    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        self.inner.submit(request.clone())?;
        self.given.push(request);
        self.when.push(self.now());
        Ok(())
    }
    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        self.inner.wait(until, done);
    }
    fn log(&mut self) -> Option<DriveLog> {
        Some(DriveLog {
            host_bytes_written: Some(self.given.iter().map(|r| r.len).sum()),
            ..DriveLog::default()
        })
    }
}

pub(crate) fn queue(config: QueueConfig) -> BlockQueue<Recorder> {
    let inner = NullDevice::new(super::info(), Dur::us(100));
    BlockQueue::new(Recorder::new(inner), config).unwrap()
}

pub(crate) fn write(id: u64, offset: u64, len: u64) -> Request {
    Request::new(id, Op::Write, offset, len)
}

pub(crate) fn read(id: u64, offset: u64, len: u64) -> Request {
    Request::new(id, Op::Read, offset, len)
}

/// Submits all requests at once. Returns their completions in order.
pub(crate) fn run(queue: &mut impl Device, requests: Vec<Request>) -> Vec<Completion> {
    let count = requests.len();
    for request in requests {
        queue.submit(request).unwrap();
    }
    finish(queue, count)
}

/// Waits for some completions. Returns them in order.
pub(crate) fn finish(queue: &mut impl Device, count: usize) -> Vec<Completion> {
    let mut done = Vec::new();
    while done.len() < count {
        let before = done.len();
        queue.wait(Time::MAX, &mut done);
        assert!(done.len() > before, "the queue stopped");
    }
    done
}

/// The requests submitted to the drive, as (offset, length) in KiB.
pub(crate) fn given(queue: &BlockQueue<Recorder>) -> Vec<(u64, u64)> {
    let given = queue.inner().given.iter();
    given.map(|r| (r.offset / KIB, r.len / KIB)).collect()
}
