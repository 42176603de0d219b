//! The step that cuts long accesses.

use super::{Settings, Verdict, Work};
use fathom_base::{About, BadValue, Bytes, keys};
use fathom_block::Access;

keys! {
    /// Cuts an access into pieces of at most so many bytes, from its start, all at its time. The bytes stay the same.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case", deny_unknown_fields)]
    pub struct Split {
        /// The longest piece; at least one byte.
        pub longest: Bytes,
    }
}

impl Split {
    /// What the list says of it.
    pub(super) const ABOUT: About = About::new("cut accesses longer than a number of bytes")
        .keys(Split::KEYS)
        .example("split,longest=256KiB");
}

/// [`Split`] at work: what is left of the last access.
struct Cutting {
    longest: u64,
    left: Option<Access>,
}

/// The first `at` bytes of an access, and what is behind them.
pub(super) fn cut(access: Access, at: u64) -> (Access, Option<Access>) {
    if access.len <= at {
        return (access, None);
    }
    let head = Access { len: at, ..access };
    let tail = Access {
        offset: access.offset.saturating_add(at),
        len: access.len - at,
        ..access
    };
    (head, Some(tail))
}

impl Work for Cutting {
    fn shape(&mut self, access: Access) -> Verdict {
        let (head, left) = cut(access, self.longest);
        self.left = left;
        Verdict::Pass(head)
    }

    fn rest(&mut self) -> Option<Access> {
        let (head, left) = cut(self.left.take()?, self.longest);
        self.left = left;
        Some(head)
    }
}

impl Settings for Split {
    fn check(&self) -> Result<(), BadValue> {
        match self.longest.0 {
            0 => Err(BadValue::new(
                "longest",
                "zero",
                "give the longest piece, such as 128KiB",
            )),
            _ => Ok(()),
        }
    }
    fn work(&self) -> Box<dyn Work> {
        Box::new(Cutting {
            longest: self.longest.0,
            left: None,
        })
    }
}
