//! Steps that round accesses to pages and other multiples.

use super::place::{floor, given_page, page_default, placed};
use super::work::{Problem, Verdict, Work, given};
use fathom_base::{BadValue, Bytes, keys};
use fathom_block::Access;
use fathom_block::Op;
use serde::{Deserialize, Serialize};

/// How an access is rounded to whole pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// Every page that the access touches: the start is rounded down, the end up. No byte is lost. An access that
    /// straddles a page boundary may get one page more than its length needs.
    #[default]
    Cover,
    /// Exactly as in `epo` III.A and IV.A: the length is rounded to the closest multiple of a page (halves upwards),
    /// and is at least one page. The start is rounded down, which the paper does not specify. Bytes at the end may be
    /// lost.
    Closest,
    /// The length is rounded up to a multiple of a page and is at least one page; the start is rounded down. Bytes at
    /// the end may be lost if the start was not a multiple of a page.
    Up,
}

keys! {
    /// Rounds every access to whole pages (`epo` IV.A, last task).
    ///
    /// A trim is reduced to the whole pages inside it, whatever the rounding, and dropped if there are none: the drive
    /// must not discard bytes that the trace did not trim.
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    pub struct RoundToPages {
        /// Size of a page.
        #[serde(default = "page_default")]
        pub page: Bytes,
        /// How reads and writes are rounded.
        #[serde(default)]
        pub rounding: Rounding,
    }
}

keys! {
    /// Rounds every start down to a multiple and keeps the lengths.
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    pub struct Align {
        /// The multiple, at least one byte.
        pub to: Bytes,
    }
}

impl RoundToPages {
    /// Returns the new length of an access whose start is rounded down by `lead` bytes, or `None` if it overflows.
    fn len(&self, lead: u64, len: u64) -> Option<u64> {
        let page = self.page.0;
        let rounded = match self.rounding {
            Rounding::Cover => lead.checked_add(len)?.checked_next_multiple_of(page)?,
            Rounding::Up => len.checked_next_multiple_of(page)?,
            Rounding::Closest => {
                let below = floor(len, page);
                let half_or_more = len - below >= page.div_ceil(2);
                below.checked_add(if half_or_more { page } else { 0 })?
            }
        };
        Some(rounded.max(page))
    }

    /// Reduces a trim to the whole pages inside it.
    fn inside(&self, mut access: Access) -> Verdict {
        let page = self.page.0;
        let Some(start) = access.offset.checked_next_multiple_of(page) else {
            return Ok(None);
        };
        match floor(access.end(), page).checked_sub(start) {
            None | Some(0) => Ok(None),
            Some(len) => {
                (access.offset, access.len) = (start, len);
                Ok(Some(access))
            }
        }
    }
}

impl Work for RoundToPages {
    fn check(&self) -> Result<(), BadValue> {
        given_page(self.page)
    }

    fn shape(&mut self, mut access: Access) -> Verdict {
        match access.op {
            Op::Flush | Op::Append | Op::Zone(_) => return Ok(Some(access)),
            Op::Trim => return self.inside(access),
            Op::Read | Op::Write => {}
        }
        let start = floor(access.offset, self.page.0);
        let len = self.len(access.offset - start, access.len);
        let len = len.filter(|len| start.checked_add(*len).is_some());
        (access.offset, access.len) = (start, len.ok_or(Problem::TooFar)?);
        Ok(Some(access))
    }
}

impl Work for Align {
    fn check(&self) -> Result<(), BadValue> {
        given(self.to, "to", "give the multiple, such as 4KiB")
    }

    fn shape(&mut self, mut access: Access) -> Verdict {
        if placed(&access) {
            access.offset = floor(access.offset, self.to.0);
        }
        Ok(Some(access))
    }
}
