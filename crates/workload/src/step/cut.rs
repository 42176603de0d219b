//! The step that splits long accesses.

use super::work::{Settings, Verdict, Work, given};
use fathom_base::{BadValue, Bytes, keys};
use fathom_block::Access;

keys! {
    /// Splits an access, from its start, into pieces of at most `longest` bytes with the same time. Together the pieces
    /// cover the same bytes.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case", deny_unknown_fields)]
    pub struct Split {
        /// Maximum length of a piece, at least one byte.
        pub longest: Bytes,
    }
}

/// [`Split`] at work: the remainder of the last access.
struct Cutting {
    longest: u64,
    left: Option<Access>,
}

/// Returns the first `at` bytes of an access, and the remainder if there is any.
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
        Ok(Some(head))
    }

    fn rest(&mut self) -> Option<Access> {
        let (head, left) = cut(self.left.take()?, self.longest);
        self.left = left;
        Some(head)
    }
}

impl Settings for Split {
    fn check(&self) -> Result<(), BadValue> {
        given(
            self.longest,
            "longest",
            "give the longest piece, such as 128KiB",
        )
    }
    fn work(&self) -> Box<dyn Work> {
        Box::new(Cutting {
            longest: self.longest.0,
            left: None,
        })
    }
}
