//! Reader of Alibaba's block traces (Li et al., *An In-Depth Analysis of Cloud Block Storage Workloads in Large-Scale
//! Production*, IISWC 2020; the schema of `io_traces.csv` in github.com/alibaba/block-traces).

use super::spc;
use crate::fault::Fault;
use crate::fields::Fields;
use crate::line::{Choices, Line, LineParser, access};
use fathom_base::About;

pub(super) const ABOUT: About = About::new("Alibaba block traces: device,op,offset,length,us").text(
    "\
One request a line: `device_id,opcode,offset,length,timestamp`, as in `0,R,126703644672,4096,1577808000000626`.
The opcode is R or W; offset and length are in bytes; the timestamp counts microseconds since 1970. The device becomes
the disk. The published file is a tar archive: unpack it first.",
);

struct Alibaba;

pub(super) fn parser(_: &Choices) -> Box<dyn LineParser> {
    Box::new(Alibaba)
}

impl LineParser for Alibaba {
    fn columns(&self) -> &'static [&'static str] {
        &["device_id", "opcode", "offset", "length", "timestamp"]
    }

    fn line<'a>(&mut self, line: &'a [u8]) -> Result<Line, Fault<'a>> {
        let mut fields = Fields::new(line, b',');
        let disk = fields.short("device_id")?;
        let op = spc::op("opcode", fields.next("opcode")?)?;
        let offset = fields.number("offset")?;
        let len = fields.number("length")?;
        let at = fields.scaled("timestamp", 1_000)?;
        fields.end()?;
        access(at, op, offset, len, disk)
    }
}
