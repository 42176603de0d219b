//! The RAM device: stores bytes, completes everything after a fixed time.
//!
//! Requests take effect in order of submission. Blocks that were never written, or were trimmed, read as zero. Nothing is
//! lost or cached, so a flush only takes its time.

use super::Pages;
use super::fixed::{Fixed, Serve, Served};
use crate::{IoErrorKind, Op, Request};

/// Stores bytes in memory, in pages of 4 KiB allocated on first write; completes everything after a fixed time.
pub type RamDevice = Fixed<Pages>;

impl Serve for Pages {
    fn serve(&mut self, request: &Request) -> Result<Served, IoErrorKind> {
        let &Request {
            op, offset, len, ..
        } = request;
        match (op, &request.data) {
            (Op::Read, _) => return Ok(Served::read(self.read(offset, len))),
            (Op::Write, Some(data)) if data.len() as u64 != len => {
                return Err(IoErrorKind::Misaligned);
            }
            (Op::Write, Some(data)) => self.write(offset, data),
            (Op::Trim, _) => self.zero(offset, len),
            // Of a write without data the submitter measures only time: the content stays unchanged.
            (Op::Write | Op::Flush, _) => {}
            // The check of every request refuses them.
            (Op::Append | Op::Zone(_), _) => return Err(IoErrorKind::Unsupported),
        }
        Ok(Served::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::modelled_info;
    use crate::{Completion, Device};
    use fathom_base::{Dur, Time};

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
        assert_eq!(device.served.len(), 4, "whole pages are given back");
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
        assert_eq!(device.served.len(), 0);
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
