//! The RAM device: stores bytes, completes everything after a fixed time.
//!
//! Requests take effect in order of submission. Blocks that were never written, or were trimmed, read as zero. Nothing is
//! lost or cached, so a flush only takes its time.

use super::clock::Clock;
use crate::{Busy, Completion, Device, DeviceInfo, IoError, IoErrorKind, Op, Request};
use fathom_base::{Dur, Time};
use std::collections::BTreeMap;
use std::ops::Range;

const PAGE_BYTES: usize = 4096;

/// Stores bytes in memory, in pages of 4 KiB allocated on first write; completes everything after a fixed time.
#[derive(Clone, Debug)]
pub struct RamDevice {
    info: DeviceInfo,
    latency: Dur,
    clock: Clock,
    /// By page number; absent pages are all zero.
    pages: BTreeMap<u64, Box<[u8]>>,
}

/// The part of a request within one page: the page, the range within it, the range within the request.
struct Part {
    page: u64,
    within: Range<usize>,
    of_request: Range<usize>,
}

/// Splits `len` bytes at `offset` into the parts of each page, in order.
fn parts(offset: u64, len: u64) -> impl Iterator<Item = Part> {
    let page_bytes = PAGE_BYTES as u64;
    let end = offset + len;
    (offset / page_bytes..end.div_ceil(page_bytes)).map(move |page| {
        let base = page * page_bytes;
        let (from, to) = (offset.max(base), end.min(base + page_bytes));
        Part {
            page,
            within: (from - base) as usize..(to - base) as usize,
            of_request: (from - offset) as usize..(to - offset) as usize,
        }
    })
}

impl RamDevice {
    /// Creates a device with the properties `info` (its time is always modelled) that completes everything after
    /// `latency`.
    pub fn new(info: DeviceInfo, latency: Dur) -> Self {
        Self {
            info: DeviceInfo {
                modelled: true,
                rotational: Some(false),
                ..info
            },
            latency,
            clock: Clock::default(),
            pages: BTreeMap::new(),
        }
    }

    fn serve(&mut self, request: &Request) -> Result<Option<Box<[u8]>>, IoError> {
        self.info.check(request)?;
        let &Request {
            op, offset, len, ..
        } = request;
        match op {
            Op::Read => return Ok(Some(self.read(offset, len))),
            Op::Write => match &request.data {
                Some(data) if data.len() as u64 != len => {
                    return Err(request.error(IoErrorKind::Misaligned));
                }
                Some(data) => self.write(offset, data),
                // The submitter measures only time: the content stays unchanged.
                None => {}
            },
            Op::Trim => self.trim(offset, len),
            Op::Flush => {}
        }
        Ok(None)
    }

    fn read(&self, offset: u64, len: u64) -> Box<[u8]> {
        let mut data = vec![0; len as usize].into_boxed_slice();
        for part in parts(offset, len) {
            if let Some(page) = self.pages.get(&part.page) {
                data[part.of_request].copy_from_slice(&page[part.within]);
            }
        }
        data
    }

    fn write(&mut self, offset: u64, data: &[u8]) {
        for part in parts(offset, data.len() as u64) {
            let page = self
                .pages
                .entry(part.page)
                .or_insert_with(|| vec![0; PAGE_BYTES].into_boxed_slice());
            page[part.within].copy_from_slice(&data[part.of_request]);
        }
    }

    /// Visits the pages that exist, not the whole range, so a whole device can be trimmed at once.
    fn trim(&mut self, offset: u64, len: u64) {
        let page_bytes = PAGE_BYTES as u64;
        let end = offset + len;
        let whole = offset.div_ceil(page_bytes)..end / page_bytes;
        if whole.start < whole.end {
            let mut from = self.pages.split_off(&whole.start);
            self.pages.append(&mut from.split_off(&whole.end));
        }
        let touched = offset / page_bytes..end.div_ceil(page_bytes);
        for (&page, bytes) in self.pages.range_mut(touched) {
            let base = page * page_bytes;
            let (from, to) = (offset.max(base), end.min(base + page_bytes));
            bytes[(from - base) as usize..(to - base) as usize].fill(0);
        }
    }
}

impl Device for RamDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> Time {
        self.clock.now()
    }

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        let request = self.clock.admit(&self.info, request)?;
        let result = self.serve(&request);
        self.clock.complete(&request, self.latency, result);
        Ok(())
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        self.clock.wait(until, done);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::modelled_info;

    fn device() -> RamDevice {
        RamDevice::new(modelled_info("ram", 1 << 40), Dur(7))
    }

    fn run(device: &mut RamDevice, request: Request) -> Completion {
        device.submit(request).unwrap();
        let mut done = Vec::new();
        device.wait(Time::MAX, &mut done);
        assert_eq!(done.len(), 1);
        done.remove(0)
    }

    fn write(offset: u64, data: &[u8]) -> Request {
        Request {
            data: Some(data.into()),
            ..Request::new(1, Op::Write, offset, data.len() as u64)
        }
    }

    #[test]
    fn trimming_a_terabyte_zeroes_it_and_nothing_else() {
        let mut device = device();
        let cut = (1 << 39) + 512;
        run(&mut device, write(cut - 1024, &[5; 16_384]));
        run(&mut device, Request::new(2, Op::Trim, 0, cut));
        assert_eq!(device.pages.len(), 4, "whole pages are given back");
        let read = run(&mut device, Request::new(3, Op::Read, cut - 512, 1024));
        assert_eq!(
            read.data.as_deref(),
            Some([[0; 512], [5; 512]].as_flattened())
        );
        assert_eq!((read.latency(), device.now()), (Dur(7), Time(21)));
    }

    #[test]
    fn a_write_whose_data_has_another_length_is_refused() {
        let mut device = device();
        let request = Request {
            len: 1024,
            ..write(0, &[5; 512])
        };
        assert!(run(&mut device, request).result.is_err());
        assert!(device.pages.is_empty());
    }

    #[test]
    fn the_clock_stops_at_until_and_jumps_to_completions() {
        let mut device = device();
        let mut done = Vec::new();
        device.submit(Request::new(1, Op::Flush, 0, 0)).unwrap();
        device.wait(Time(6), &mut done);
        assert_eq!((device.now(), done.len()), (Time(6), 0));
        device.wait(Time(100), &mut done);
        assert_eq!((device.now(), done.len()), (Time(7), 1));
        device.wait(Time(100), &mut done);
        device.wait(Time::MAX, &mut done);
        device.wait(Time(3), &mut done);
        assert_eq!((device.now(), done.len()), (Time(100), 1));
    }
}
