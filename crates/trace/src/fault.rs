//! Errors of line parsers. They borrow from the line, so that nothing is allocated unless the error is reported.

use super::error::ErrorKind;

/// An error in a line whose number is not known yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fault<'a> {
    pub(super) what: What,
    pub(super) field: &'static str,
    pub(super) found: &'a [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Missing,
    Malformed(&'static str),
    UnknownOp(&'static str),
    TooLarge,
    ZeroLength,
    TooManyFiles(usize),
}

impl Fault<'_> {
    pub(super) fn zero_length() -> Self {
        Fault {
            what: What::ZeroLength,
            field: "",
            found: b"",
        }
    }

    pub(super) fn kind(&self) -> ErrorKind {
        let field = self.field;
        let found = || shown(self.found);
        match self.what {
            What::Missing => ErrorKind::Missing { field },
            What::Malformed(wanted) => ErrorKind::Malformed {
                field,
                found: found(),
                wanted,
            },
            What::UnknownOp(wanted) => ErrorKind::UnknownOp {
                field,
                found: found(),
                wanted,
            },
            What::TooLarge => ErrorKind::TooLarge {
                field,
                found: found(),
            },
            What::ZeroLength => ErrorKind::ZeroLength,
            What::TooManyFiles(limit) => ErrorKind::TooManyFiles { limit },
        }
    }
}

/// Formats bytes of a trace for an error message: at most 40, with control characters escaped.
fn shown(bytes: &[u8]) -> String {
    const LIMIT: usize = 40;
    let cut = &bytes[..bytes.len().min(LIMIT)];
    let mut text = String::new();
    for c in String::from_utf8_lossy(cut).chars() {
        if c.is_control() {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
    }
    if bytes.len() > LIMIT {
        text.push_str("...");
    }
    text
}
