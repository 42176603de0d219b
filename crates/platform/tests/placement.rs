//! Zoned drives and placement handles below the model of a host: it refuses the one and passes the other on.

use crate::model::{charged, info, platform};
use fathom_base::{Bytes, Dur, Time};
use fathom_block::devices::NullDevice;
use fathom_block::{Busy, Completion, Device, DeviceInfo, Op, Request, Subject, Zoned};
use fathom_platform::{Charged, Platform, Processors};
use std::cell::RefCell;
use std::rc::Rc;

/// A drive with eight handles that notes the handle of each write.
struct Handles {
    inner: NullDevice,
    seen: Rc<RefCell<Vec<u16>>>,
}

impl Device for Handles {
    fn info(&self) -> &DeviceInfo {
        self.inner.info()
    }
    fn now(&self) -> Time {
        self.inner.now()
    }
    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        self.seen.borrow_mut().push(request.tag.placement);
        self.inner.submit(request)
    }
    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        self.inner.wait(until, done);
    }
}

impl Subject for Handles {
    fn next_at(&mut self) -> Option<Time> {
        self.inner.next_at()
    }
}

#[test]
fn a_host_passes_handles_on_to_one_drive_and_to_each_of_several() {
    for (drives, kib, pieces) in [(1, 0, 1), (2, 64, 2)] {
        let platform = Platform {
            drives,
            stripe: Bytes(kib * 1024),
            ..platform()
        };
        let seen = Rc::new(RefCell::new(Vec::new()));
        let drive = || Handles {
            inner: NullDevice::new(
                DeviceInfo {
                    placement_handles: 8,
                    ..info()
                },
                Dur::us(10),
            ),
            seen: seen.clone(),
        };
        let mut host = charged(platform, drive);
        assert_eq!(host.info().placement_handles, 8);
        for handle in 0..8 {
            let mut request = Request::new(handle, Op::Write, handle << 17, 128 << 10);
            request.tag.placement = handle as u16;
            host.submit(request).unwrap();
            let mut done = Vec::new();
            while done.is_empty() {
                host.wait(Time::MAX, &mut done);
            }
            assert_eq!(done[0].result, Ok(()));
        }
        let expected: Vec<u16> = (0..8).flat_map(|n| vec![n; pieces]).collect();
        assert_eq!(*seen.borrow(), expected, "{drives} drives");
    }
}

#[test]
fn a_zoned_drive_is_refused_with_the_reason() {
    let zoned = Zoned {
        zone_bytes: 1 << 20,
        zone_capacity_bytes: 1 << 20,
        max_open: 0,
        max_active: 0,
        max_append_bytes: 1 << 20,
        reads_cross: false,
    };
    let info = DeviceInfo {
        zoned: Some(zoned),
        ..info()
    };
    let drive = NullDevice::new(info, Dur::ZERO);
    let host = Charged::new(platform(), vec![drive], Processors::new(1));
    let error = host.err().unwrap().to_string();
    assert!(
        error.contains("platform: `drive` is drive, a zoned drive: it is for drives without zones"),
        "{error}"
    );
}
