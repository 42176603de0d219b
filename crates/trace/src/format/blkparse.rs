//! Reader of the text that blkparse prints in its default format (blkparse(1), *Default output*).
//!
//! An event that a CPU recorded before the first event of CPU 0 has a negative time. blkparse stores it as an unsigned
//! 64-bit number and prints the seconds in 32 bits: 893 us before the start appear as 1266874889.708658509. Such times
//! are converted back, up to an hour before the start.

use crate::fault::Fault;
use crate::fields::{Fields, malformed, too_large, unknown_op};
use crate::line::{BlockEvent, Choices, Line, LineParser, access};
use fathom_base::About;
use fathom_block::Op;

pub(super) const ABOUT: About = About::new("blkparse text, in its default format").text(
    "\
One event a line: `major,minor cpu sequence seconds pid action rwbs sector + sectors [process]`, as in
`8,16 3 5 0.000026421 3645 D R 4938888 + 256 [java]`, and a summary at the end.
Accesses are the events D (sent to the driver), or with `block_event = \"queue\"` the events Q (before merging).
Other events and SCSI commands are skipped. Sectors have 512 bytes. F before the direction is a flush where no
sectors follow, and ignored otherwise; D there is a trim. The device becomes the disk, as major * 2^20 + minor,
and the pid the process.
blkparse merges the CPUs' events only roughly: up to 4096 accesses are sorted by time. An event before the start of
the trace, which blkparse prints as a time of 40 years, is put back.",
);

/// Offset added to all times, so that times before the start do not become negative.
const START_NS: u64 = 3_600_000_000_000;
/// 2^64 ns as blkparse prints it, with the seconds in 32 bits.
const WRAP_NS: u64 = (((1 << 64) / 1_000_000_000 % (1 << 32)) * 1_000_000_000
    + (1 << 64) % 1_000_000_000_u128) as u64;

struct Blkparse {
    action: &'static [u8],
    /// True once the summary at the end has begun.
    summary: bool,
}

pub(super) fn parser(choices: &Choices) -> Box<dyn LineParser> {
    Box::new(Blkparse {
        action: match choices.block_event {
            BlockEvent::Dispatch => b"D",
            BlockEvent::Queue => b"Q",
        },
        summary: false,
    })
}

impl LineParser for Blkparse {
    fn line<'a>(&mut self, line: &'a [u8]) -> Result<Line, Fault<'a>> {
        self.summary |= line.starts_with(b"CPU") || line.starts_with(b"Total (");
        let mut fields = Fields::new(line, b' ');
        let first = fields.next("device")?;
        let disk = match device(first) {
            Ok(disk) => disk,
            Err(_) if self.summary || line.starts_with(b"Input file ") => return Ok(Line::Text),
            Err(fault) => return Err(fault),
        };
        fields.number("cpu")?;
        fields.number("sequence")?;
        let at = time(fields.time("time", 9)?);
        let process = fields.short("pid")?;
        if fields.next("action")? != self.action {
            return Ok(Line::Event);
        }
        Ok(request(fields, at, disk)?.of_process(process))
    }

    fn has_processes(&self) -> bool {
        true
    }
}

fn device(found: &[u8]) -> Result<u32, Fault<'_>> {
    let wrong = malformed("device", found, "major,minor");
    let mut fields = Fields::new(found, b',');
    let major = fields.short("device").map_err(|_| wrong)?;
    let minor = fields.short("device").map_err(|_| wrong)?;
    fields.end().map_err(|_| wrong)?;
    if major >= 1 << 12 || minor >= 1 << 20 {
        return Err(too_large("device", found));
    }
    Ok(major << 20 | minor)
}

fn time(ns: u64) -> u64 {
    match WRAP_NS.checked_sub(ns) {
        Some(before) if before <= START_NS => START_NS - before,
        _ => START_NS.saturating_add(ns),
    }
}

fn request<'a>(mut fields: Fields<'a>, at: u64, disk: u32) -> Result<Line, Fault<'a>> {
    let (op, preflush) = direction(fields.next("rwbs")?)?;
    let sector = fields.take().unwrap_or(b"[");
    if sector.starts_with(b"[") {
        // No sectors: a flush, or an event that is not an access.
        return match op {
            _ if preflush => access(at, Op::Flush, 0, 0, disk),
            _ => Ok(Line::Event),
        };
    }
    let offset = Fields::new(sector, b' ').sectors("sector")?;
    match fields.next("+")? {
        b"+" => {}
        found if found.starts_with(b"(") => return Ok(Line::Event),
        found => return Err(malformed("+", found, "a + before the number of sectors")),
    }
    let len = fields.sectors("sectors")?;
    match op {
        _ if len == 0 && preflush => access(at, Op::Flush, 0, 0, disk),
        None => Ok(Line::Event),
        Some(op) => access(at, op, offset, len, disk),
    }
}

/// Parses `rwbs`: returns the operation, if it moves data, and whether a flush precedes it.
fn direction(found: &[u8]) -> Result<(Option<Op>, bool), Fault<'_>> {
    let (preflush, rest) = match found.strip_prefix(b"F") {
        Some(rest) => (true, rest),
        None => (false, found),
    };
    let op = match rest.first() {
        Some(b'R') => Some(Op::Read),
        Some(b'W') => Some(Op::Write),
        Some(b'D') => Some(Op::Trim),
        Some(b'N') => None,
        _ if preflush => None,
        _ => return Err(unknown_op("rwbs", found, "R, W, D, F and N")),
    };
    Ok((op, preflush))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_before_the_start_is_put_before_the_start() {
        // 2^64 ns are 18446744073.709551616 s; 18446744073 mod 2^32 is 1266874889.
        assert_eq!(WRAP_NS, 1_266_874_889_709_551_616);
        assert_eq!(time(1_266_874_889_708_658_509), START_NS - 893_107);
        assert_eq!(time(0), START_NS);
        assert_eq!(time(11_950), START_NS + 11_950);
        assert_eq!(time(u64::MAX), u64::MAX);
    }
}
