//! Reader of DiskSim's ASCII format (Bucy et al., *The DiskSim Simulation Environment Version 4.0 Reference Manual*,
//! CMU-PDL-08-101, 2008, chapter on input traces; `iotrace_ascii_get_ioreq_event`).

use crate::fault::Fault;
use crate::fields::{Fields, malformed};
use crate::line::{Choices, Line, LineParser, access};
use fathom_base::About;
use fathom_block::Op;

pub(super) const ABOUT: About = About::new("DiskSim ASCII: ms device block blocks flags").text(
    "\
One request a line, separated by blanks: arrival time in ms, device, first block, number of blocks, flags; as in
`0.221 5 162947904 16 1`.
Blocks are sectors of 512 bytes. The flags are hexadecimal, and bit 0 is set for reads. The device becomes the disk.
Some published files count the fourth column in other units, such as pages of 4 KiB: set `disksim_size_unit` for
those. A file whose times are all whole numbers looks like one of MQSim: name the format.",
);

struct DiskSim {
    size_unit: u64,
}

pub(super) fn parser(choices: &Choices) -> Box<dyn LineParser> {
    Box::new(DiskSim {
        size_unit: choices.disksim_size_unit.0,
    })
}

impl LineParser for DiskSim {
    fn line<'a>(&mut self, line: &'a [u8]) -> Result<Line, Fault<'a>> {
        let mut fields = Fields::new(line, b' ');
        let at = fields.time("arrival time", 6)?;
        let disk = fields.short("device")?;
        let offset = fields.sectors("block number")?;
        let len = fields.scaled("block count", self.size_unit)?;
        let op = op(fields.next("flags")?)?;
        fields.end()?;
        access(at, op, offset, len, disk)
    }
}

fn op(found: &[u8]) -> Result<Op, Fault<'_>> {
    match found {
        // Nearly always.
        [b'0'] => return Ok(Op::Write),
        [b'1'] => return Ok(Op::Read),
        _ => {}
    }
    let wrong = || malformed("flags", found, "a hexadecimal number of 32 bits");
    let digits = found.strip_prefix(b"0x").unwrap_or(found);
    if digits.is_empty() || digits.len() > 8 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return Err(wrong());
    }
    let last = digits.last().and_then(|&d| char::from(d).to_digit(16));
    match last {
        Some(digit) if digit & 1 == 1 => Ok(Op::Read),
        Some(_) => Ok(Op::Write),
        None => Err(wrong()),
    }
}
