//! Reader of Tencent's cloud block storage traces (Zhang et al., *OSCA: An Online-Model Based Cache Allocation Scheme in
//! Cloud Block Storage Systems*, USENIX ATC 2020; the README of the distribution at SNIA).

use crate::fault::Fault;
use crate::fields::{Fields, unknown_op};
use crate::line::{Choices, Line, LineParser, access};
use fathom_base::About;
use fathom_block::Op;

pub(super) const ABOUT: About = About::new("Tencent CBS: seconds,sector,sectors,op,volume").text(
    "\
One request a line: `Timestamp,Offset,Size,IOType,VolumeID`, as in `1538323200,12910952,128,0,1063`.
The timestamp is in whole seconds since 1970, so the requests of a second arrive together; offset and size count
sectors of 512 bytes; the type is 0 for reads and 1 for writes; the volume becomes the disk. The published files are
tar archives: unpack them first.",
);

struct Tencent;

pub(super) fn parser(_: &Choices) -> Box<dyn LineParser> {
    Box::new(Tencent)
}

impl LineParser for Tencent {
    fn columns(&self) -> &'static [&'static str] {
        &["Timestamp", "Offset", "Size", "IOType", "VolumeID"]
    }

    fn line<'a>(&mut self, line: &'a [u8]) -> Result<Line, Fault<'a>> {
        let mut fields = Fields::new(line, b',');
        let at = fields.scaled("Timestamp", 1_000_000_000)?;
        let offset = fields.sectors("Offset")?;
        let len = fields.sectors("Size")?;
        let op = match fields.next("IOType")? {
            b"0" => Op::Read,
            b"1" => Op::Write,
            found => return Err(unknown_op("IOType", found, "0 (read) and 1 (write)")),
        };
        let disk = fields.short("VolumeID")?;
        fields.end()?;
        access(at, op, offset, len, disk)
    }
}
