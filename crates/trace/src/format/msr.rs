//! Reader of the MSR Cambridge traces (Narayanan et al., *Write Off-Loading*, FAST 2008), as SNIA publishes them.

use crate::fault::Fault;
use crate::fields::{Fields, unknown_op};
use crate::line::{Choices, Line, LineParser, access};
use fathom_base::About;
use fathom_block::Op;

pub(super) const ABOUT: About = About::new("MSR Cambridge: ticks,host,disk,type,offset,size,response").text(
    "\
One request a line: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`, as in
`128166385295514663,hm,0,Write,9056014336,2048,2833`.
The timestamp counts ticks of 100 ns since 1601; offset and size are in bytes; the type is Read or Write. The disk's
number becomes the disk. The host's name and the response time are not read: do not join the files of different
hosts.",
);

/// One tick of a Windows file time, in ns.
const TICK_NS: u64 = 100;

struct Msr;

pub(super) fn parser(_: &Choices) -> Box<dyn LineParser> {
    Box::new(Msr)
}

impl LineParser for Msr {
    fn columns(&self) -> &'static [&'static str] {
        &[
            "Timestamp",
            "Hostname",
            "DiskNumber",
            "Type",
            "Offset",
            "Size",
            "ResponseTime",
        ]
    }

    fn line<'a>(&mut self, line: &'a [u8]) -> Result<Line, Fault<'a>> {
        let mut fields = Fields::new(line, b',');
        let at = fields.scaled("Timestamp", TICK_NS)?;
        fields.next("Hostname")?;
        let disk = fields.short("DiskNumber")?;
        let op = match fields.next("Type")? {
            b"Read" => Op::Read,
            b"Write" => Op::Write,
            found => return Err(unknown_op("Type", found, "Read and Write")),
        };
        let offset = fields.number("Offset")?;
        let len = fields.number("Size")?;
        fields.number("ResponseTime")?;
        fields.end()?;
        access(at, op, offset, len, disk)
    }
}
