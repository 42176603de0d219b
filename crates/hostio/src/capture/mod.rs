//! Records the block requests of the running kernel, through its tracepoints, as accesses of a trace.
//!
//! The requests of all processes on the device are recorded, because the kernel writes much of what a program asked for
//! in threads of its own. Each has the thread that was running when the event occurred. Writes that stay in the page cache
//! are no requests. Requests are held in memory (40 bytes each) until the end, so that writing the trace adds none.

mod layout;
mod place;
mod request;

use crate::error::HostError;
use crate::tracing::{Instance, Seen, Shared, events};
use fathom_base::Time;
use fathom_block::{Access, Op};
use layout::{Fields, Layout};
use place::{Places, Target};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The group of the events.
const GROUP: &str = "block";

/// The event that is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureEvent {
    /// Requests that enter the block layer, before merging and scheduling (`block_bio_queue`).
    Queue,
    /// Requests sent to the driver, after merging and scheduling (`block_rq_issue`).
    Dispatch,
}

/// Settings of a capture.
#[derive(Clone, Debug)]
pub struct CaptureConfig {
    /// The block device; all if `None`.
    pub device: Option<PathBuf>,
    /// The event.
    pub event: CaptureEvent,
    /// Size of the kernel's buffer for each CPU, in bytes.
    pub buffer_bytes: u64,
}

/// Requests that a trace describes incompletely or not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unsaid {
    /// Writes with force unit access, which are recorded as writes.
    pub fua: u64,
    /// Requests of other kinds, such as writing zeros without data, which are left out.
    pub other: u64,
}

/// A recorded device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Disk {
    /// Kernel name, such as `loop0`.
    pub name: String,
    /// Number of reads and the bytes read.
    pub read: (u64, u64),
    /// Number of writes and the bytes written.
    pub written: (u64, u64),
    /// Number of flushes.
    pub flushes: u64,
    /// Number of trims.
    pub trims: u64,
}

/// A thread that issued requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// Its name at its first request.
    pub name: String,
    /// Number of requests.
    pub count: u64,
    /// Bytes read and written.
    pub bytes: u64,
}

/// The result of a capture.
#[derive(Clone, Debug, Default)]
pub struct Captured {
    /// The requests, in order of time (of the kernel's monotonic clock).
    pub accesses: Vec<Access>,
    /// Number of events that the kernel had no room for.
    pub lost: u64,
    /// The devices, by number (major * 2^20 + minor).
    pub disks: BTreeMap<u32, Disk>,
    /// The threads, by number.
    pub threads: BTreeMap<u32, Thread>,
    /// What the trace does not say.
    pub unsaid: Unsaid,
}

/// A capture in progress. Dropping it restores the state of the kernel's tracing.
#[derive(Debug)]
pub struct Capture {
    instance: Shared,
    layout: Layout,
    places: Places,
    found: Captured,
    /// Number of pages before which events were lost.
    torn: u64,
}

impl Capture {
    /// Begins to record. Instances that ended processes have left are removed.
    ///
    /// # Errors
    /// [`HostError::NoTracefs`], [`HostError::NoPermission`], [`HostError::Unsuitable`] if the path is no block device.
    pub fn start(config: &CaptureConfig) -> Result<Self, HostError> {
        let target = config.device.as_deref().map(Target::of).transpose()?;
        let event = match config.event {
            CaptureEvent::Queue => "block_bio_queue",
            CaptureEvent::Dispatch => "block_rq_issue",
        };
        let instance = Instance::new(config.buffer_bytes)?;
        instance.set_clock("mono")?;
        let layout = layout(&instance, event)?;
        let filter = target.as_ref().map(Target::filter).unwrap_or_default();
        instance.enable(GROUP, event, &filter)?;
        instance.start()?;
        Ok(Self {
            instance: Shared::new(instance),
            layout,
            places: Places::new(target),
            found: Captured::default(),
            torn: 0,
        })
    }

    /// Takes what was recorded since the last call out of the kernel's buffers. Call it often enough that they do not fill.
    ///
    /// # Errors
    /// The buffers cannot be read.
    pub fn drain(&mut self) -> Result<(), HostError> {
        let Self {
            instance,
            layout,
            places,
            found,
            torn,
        } = self;
        let mut instance = instance.lock();
        let Some(instance) = instance.as_mut() else {
            return Ok(());
        };
        let data = instance.data();
        instance.drain(|_cpu, page| {
            let seen = events(page, data, |at_ns, record| {
                if let Some(fields) = layout.fields(record) {
                    found.add(at_ns, &fields, places);
                }
            });
            *torn += u64::from(seen != Seen::All);
        })
    }

    /// Ends the capture, removes the instance and returns what was recorded.
    ///
    /// # Errors
    /// The buffers cannot be read, or the instance cannot be removed.
    pub fn finish(mut self) -> Result<Captured, HostError> {
        if let Some(instance) = self.instance.lock().as_ref() {
            instance.stop()?;
        }
        self.drain()?;
        let mut instance = self.instance.lock().take();
        if let Some(instance) = &mut instance {
            let lost: u64 = instance.lost().iter().map(|lost| lost.events).sum();
            self.found.lost = lost.max(self.torn);
            instance.remove()?;
        }
        for (disk, seen) in &mut self.found.disks {
            seen.name = self.places.name(*disk);
        }
        self.found.accesses.sort_by_key(|access| access.at);
        Ok(self.found)
    }

    /// Returns a function that ends the recording and removes the instance from any thread.
    pub fn at_the_end(&self) -> impl Fn() + Send + Sync + use<> {
        self.instance.at_the_end()
    }
}

/// Returns the layout of an event.
fn layout(instance: &Instance, event: &'static str) -> Result<Layout, HostError> {
    let format = instance.format(GROUP, event)?;
    let format = format.ok_or(HostError::NoTracepoint {
        names: event.into(),
    })?;
    let layout = Layout::parse(&format);
    layout.ok_or_else(|| instance.unknown(GROUP, event, "a field is missing"))
}

impl Captured {
    /// Adds the request of an event.
    fn add(&mut self, at_ns: u64, fields: &Fields, places: &mut Places) {
        let Some(place) = places.place(fields.dev, fields.sector, fields.sectors) else {
            return;
        };
        let request = request::request(&fields.rwbs);
        let access = |op, offset, len| Access {
            at: Time(at_ns),
            op,
            offset,
            len,
            disk: place.disk,
            process: fields.thread,
        };
        if request.flush {
            self.push(access(Op::Flush, 0, 0), fields);
        }
        match request.op {
            Some(op) if fields.sectors > 0 => {
                self.unsaid.fua += u64::from(request.fua);
                let len = u64::from(fields.sectors) * 512;
                self.push(access(op, place.sector.saturating_mul(512), len), fields);
            }
            _ => self.unsaid.other += u64::from(!request.flush),
        }
    }

    fn push(&mut self, access: Access, fields: &Fields) {
        let disk = self.disks.entry(access.disk).or_default();
        let thread = self.threads.entry(access.process).or_default();
        if thread.count == 0 {
            thread.name.clone_from(&fields.comm);
        }
        thread.count += 1;
        let sum = match access.op {
            Op::Read => &mut disk.read,
            Op::Write | Op::Append => &mut disk.written,
            // The kernel's letters of a request do not tell them.
            Op::Zone(_) => return self.accesses.push(access),
            Op::Flush => {
                disk.flushes += 1;
                return self.accesses.push(access);
            }
            Op::Trim => {
                disk.trims += 1;
                return self.accesses.push(access);
            }
        };
        *sum = (sum.0 + 1, sum.1 + access.len);
        thread.bytes += access.len;
        self.accesses.push(access);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(rwbs: &str, sector: u64, sectors: u32) -> Fields {
        Fields {
            thread: 12,
            dev: 7 << 20,
            sector,
            sectors,
            rwbs: rwbs.into(),
            comm: "dd".into(),
        }
    }

    #[test]
    fn requests_become_accesses_and_the_rest_is_counted() {
        let mut places = Places::new(None);
        let mut found = Captured::default();
        let events = [
            fields("WS", 8, 16),
            fields("FWFS", 100, 1),
            fields("FWS", u64::MAX, 0),
            fields("R", 0, 8),
            fields("DS", 8, 8),
            fields("N", 8, 8),
        ];
        for (event, at) in events.iter().zip(5..) {
            found.add(at, event, &mut places);
        }
        let told: Vec<_> = found
            .accesses
            .iter()
            .map(|a| (a.at.0, a.op, a.offset, a.len, a.process))
            .collect();
        let expected = [
            (5, Op::Write, 4096, 8192, 12),
            (6, Op::Flush, 0, 0, 12),
            (6, Op::Write, 51_200, 512, 12),
            (7, Op::Flush, 0, 0, 12),
            (8, Op::Read, 0, 4096, 12),
            (9, Op::Trim, 4096, 4096, 12),
        ];
        assert_eq!(told, expected);
        assert_eq!(found.unsaid, Unsaid { fua: 1, other: 1 });
        let disk = &found.disks[&(7 << 20)];
        assert_eq!((disk.read, disk.written), ((1, 4096), (2, 8704)));
        assert_eq!((disk.flushes, disk.trims), (2, 1));
        assert_eq!(
            (found.threads[&12].count, found.threads[&12].bytes),
            (6, 12_800)
        );
    }
}
