//! Reader of the text formats: skips comments and column names, and adds line numbers to errors.

use super::Access;
use super::buffer::Buffer;
use super::error::{ErrorKind, Place, TraceError};
use super::line::{Line, LineParser};

/// Reads accesses from the lines of a stream.
pub(super) struct Reader {
    buffer: Buffer,
    parser: Box<dyn LineParser>,
}

impl Reader {
    pub(super) fn new(buffer: Buffer, parser: Box<dyn LineParser>) -> Self {
        Self { buffer, parser }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.buffer.memory_bytes()
    }

    pub(super) fn unconfirmed(&self) -> u64 {
        self.buffer.unconfirmed()
    }

    /// Returns true if the accesses have processes; known once the names of the columns were read.
    pub(super) fn has_processes(&self) -> bool {
        self.parser.has_processes()
    }

    /// Returns the damage in the rest of the stream, if any ([`Buffer::damage`]).
    pub(super) fn damage(&mut self) -> Option<ErrorKind> {
        self.buffer.damage()
    }

    /// Returns the next line's place, with its access or `None` if the line is not an access.
    pub(super) fn next(&mut self) -> Option<Result<(Option<Access>, Place), TraceError>> {
        let number = self.buffer.line_number() + 1;
        let place = Place::Line(number);
        let line = match self.buffer.next_line() {
            Ok(line) => line?,
            Err(error) => return Some(Err(error)),
        };
        if line.is_empty() || is_comment(line) {
            return Some(Ok((None, place)));
        }
        if number == 1 && is_column_names(line) {
            let named = self.parser.names(line);
            return Some(match named {
                Ok(()) => Ok((None, place)),
                Err(fault) => Err(TraceError::new(fault.kind(), place)),
            });
        }
        Some(match self.parser.line(line) {
            Ok(Line::Access(access)) => Ok((Some(access), place)),
            Ok(Line::Event | Line::Text) => Ok((None, place)),
            Err(fault) => Err(TraceError::new(fault.kind(), place)),
        })
    }
}

/// Returns true if the line is blank or starts with `#`.
pub(super) fn is_comment(line: &[u8]) -> bool {
    match line.first() {
        Some(b'#') => true,
        Some(b' ' | b'\t') => line.trim_ascii().is_empty(),
        first => first.is_none(),
    }
}

/// Returns true if the line looks like the column names of a comma-separated file: it contains a comma and no digit.
pub(super) fn is_column_names(line: &[u8]) -> bool {
    line.contains(&b',') && !line.iter().any(u8::is_ascii_digit)
}
