//! Reader of MQSim's ASCII format (Tavakkol et al., *MQSim*, FAST 2018; `ASCII_Trace_Definition.h`).

use crate::fault::Fault;
use crate::fields::{Fields, unknown_op};
use crate::line::{Choices, Line, LineParser, access};
use fathom_base::About;
use fathom_block::Op;

pub(super) const ABOUT: About = About::new("MQSim ASCII: ns device sector sectors op").text(
    "\
One request a line, separated by blanks: arrival time in ns, device, first sector, number of sectors, operation; as in
`11413000 0 657728 16 1`.
Sectors have 512 bytes; the operation is 0 for writes and 1 for reads; the device becomes the disk.",
);

struct MqSim;

pub(super) fn parser(_: &Choices) -> Box<dyn LineParser> {
    Box::new(MqSim)
}

impl LineParser for MqSim {
    fn line<'a>(&mut self, line: &'a [u8]) -> Result<Line, Fault<'a>> {
        let mut fields = Fields::new(line, b' ');
        let at = fields.number("arrival time")?;
        let disk = fields.short("device")?;
        let offset = fields.sectors("first sector")?;
        let len = fields.sectors("sectors")?;
        let op = match fields.next("operation")? {
            b"0" => Op::Write,
            b"1" => Op::Read,
            found => return Err(unknown_op("operation", found, "0 (write) and 1 (read)")),
        };
        fields.end()?;
        access(at, op, offset, len, disk)
    }
}
