//! Reader of blkreplay's load files (Schöbel-Theuer, *blkreplay*, 2012).

use crate::fault::Fault;
use crate::fields::{Fields, time, unknown_op};
use crate::line::{Choices, Line, LineParser, access};
use fathom_base::About;
use fathom_block::Op;

pub(super) const ABOUT: About = About::new("blkreplay .load: seconds;sector;sectors;op;delay;duration").text(
    "\
Any text, then a line of column names, `start ; sector; length ; op ; replay_delay=0 ; replay_duration=0`, then one
request a line, as in `0.000085 ; 37779096 ; 64 ; W ; 0.0 ; 0.0`. The start is in seconds; sector and length count
sectors of 512 bytes; the operation is R or W, and letters after it (as in blktrace; RA for reading ahead) are
ignored. The last two columns are results of a replay and are not read. Every request goes to disk 0.",
);

struct Blkreplay {
    /// True once the text before the records has ended.
    begun: bool,
}

pub(super) fn parser(_: &Choices) -> Box<dyn LineParser> {
    Box::new(Blkreplay { begun: false })
}

impl LineParser for Blkreplay {
    fn line<'a>(&mut self, line: &'a [u8]) -> Result<Line, Fault<'a>> {
        if is_names(line) {
            self.begun = true;
            return Ok(Line::Event);
        }
        let record = record(line);
        self.begun |= record.is_ok();
        if self.begun { record } else { Ok(Line::Text) }
    }
}

fn is_names(line: &[u8]) -> bool {
    let mut fields = Fields::new(line, b';');
    fields.take() == Some(b"start") && fields.take() == Some(b"sector")
}

fn record(line: &[u8]) -> Result<Line, Fault<'_>> {
    let mut fields = Fields::new(line, b';');
    let at = fields.time("start", 9)?;
    let offset = fields.sectors("sector")?;
    let len = fields.sectors("length")?;
    let op = op(fields.next("op")?)?;
    for field in ["replay_delay", "replay_duration"] {
        if let Some(found) = fields.take() {
            time(field, found, 9)?;
        }
    }
    fields.end()?;
    access(at, op, offset, len, 0)
}

fn op(found: &[u8]) -> Result<Op, Fault<'_>> {
    let (op, flags) = match found {
        [b'R', flags @ ..] => (Op::Read, flags),
        [b'W', flags @ ..] => (Op::Write, flags),
        _ => (Op::Read, &b"?"[..]),
    };
    if flags.iter().all(|flag| b"FASM".contains(flag)) {
        Ok(op)
    } else {
        Err(unknown_op("op", found, "R and W"))
    }
}
