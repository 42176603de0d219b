//! Reader of SPC traces (Storage Performance Council, *SPC trace file format specification*, revision 1.0.1, 2000), as the
//! UMass repository publishes them, and of fragments without the first column.

use crate::fault::Fault;
use crate::fields::{Fields, unknown_op};
use crate::line::{Choices, Line, LineParser, access};
use fathom_base::About;
use fathom_block::Op;

pub(super) const ABOUT: About = About::new("SPC: ASU,LBA,bytes,op,seconds (UMass Financial and WebSearch)").text(
    "\
One request a line: `ASU,LBA,size,opcode,timestamp`, as in `0,303567,3584,w,0.026214`.
ASU is the application storage unit, which becomes the disk; the LBA counts sectors of 512 bytes within it; the size is
in bytes; the opcode is r or w; the timestamp is in seconds. Fields after the fifth are not read.",
);

pub(super) const ABOUT_FRAGMENT: About = About::new("SPC without the ASU: LBA,bytes,op,seconds")
    .text(
        "\
SPC without its first column: `LBA,size,opcode,timestamp`, as in `999156,512,w,0.006553`.
The units are those of spc; every request goes to disk 0.",
    );

struct Spc {
    asu: bool,
}

pub(super) fn whole(_: &Choices) -> Box<dyn LineParser> {
    Box::new(Spc { asu: true })
}

pub(super) fn fragment(_: &Choices) -> Box<dyn LineParser> {
    Box::new(Spc { asu: false })
}

impl LineParser for Spc {
    fn line<'a>(&mut self, line: &'a [u8]) -> Result<Line, Fault<'a>> {
        let mut fields = Fields::new(line, b',');
        let disk = if self.asu { fields.short("ASU")? } else { 0 };
        let offset = fields.sectors("LBA")?;
        let len = fields.number("size")?;
        let op = op("opcode", fields.next("opcode")?)?;
        let at = fields.time("timestamp", 9)?;
        if !self.asu {
            fields.end()?;
        }
        access(at, op, offset, len, disk)
    }
}

/// Parses the operation: `r` or `w`, in either case.
pub(super) fn op<'a>(field: &'static str, found: &'a [u8]) -> Result<Op, Fault<'a>> {
    match found {
        b"r" | b"R" => Ok(Op::Read),
        b"w" | b"W" => Ok(Op::Write),
        _ => Err(unknown_op(field, found, "r and w")),
    }
}
