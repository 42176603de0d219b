//! Reader of the SYSTOR '17 traces (Lee et al., *Understanding storage traffic characteristics on enterprise virtual desktop
//! infrastructure*; the README of the distribution at SNIA).

use crate::fault::Fault;
use crate::fields::{Fields, unknown_op};
use crate::line::{Choices, Line, LineParser, access};
use fathom_base::About;
use fathom_block::Op;

pub(super) const ABOUT: About = About::new("SYSTOR '17: seconds,response,op,LUN,offset,size").text(
    "\
One request a line: `Timestamp,Response,IOType,LUN,Offset,Size`, as in `1456135200.013118000,0.000806000,R,4,899056122368,131072`.
The timestamp is in seconds since 1970, exact to the microsecond; offset and size are in bytes; the type is R or W. A blank type
means that no response was seen; the line is skipped. The LUN becomes the disk. The response time is not read.",
);

struct Systor;

pub(super) fn parser(_: &Choices) -> Box<dyn LineParser> {
    Box::new(Systor)
}

impl LineParser for Systor {
    fn columns(&self) -> &'static [&'static str] {
        &["Timestamp", "Response", "IOType", "LUN", "Offset", "Size"]
    }

    fn line<'a>(&mut self, line: &'a [u8]) -> Result<Line, Fault<'a>> {
        let mut fields = Fields::new(line, b',');
        let at = fields.time("Timestamp", 9)?;
        // Blank if no response was recorded.
        let response = fields.take().unwrap_or_default();
        let op = match fields.take().unwrap_or_default() {
            b"R" => Some(Op::Read),
            b"W" => Some(Op::Write),
            b"" => None,
            found => return Err(unknown_op("IOType", found, "R, W and blank")),
        };
        if op.is_some() {
            crate::fields::time("Response", response, 9)?;
        }
        let disk = fields.short("LUN")?;
        let (offset, len) = (fields.number("Offset")?, fields.number("Size")?);
        fields.end()?;
        match op {
            Some(op) => access(at, op, offset, len, disk),
            None => Ok(Line::Event),
        }
    }
}
