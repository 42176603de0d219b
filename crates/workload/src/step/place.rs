//! Steps that map accesses to another address space.

use super::cut::cut;
use super::work::{Problem, Settings, Survey, Verdict, Work, given};
use fathom_base::{BadValue, Bytes, keys};
use fathom_block::Access;
use fathom_block::Op;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The default of `page`: the flash page of the `epo` paper, 4 KiB.
pub(super) fn page_default() -> Bytes {
    Bytes::kib(4)
}

pub(super) fn given_page(page: Bytes) -> Result<(), BadValue> {
    given(page, "page", "give the page, such as 4KiB")
}

pub(super) fn given_capacity(capacity: Bytes) -> Result<(), BadValue> {
    let how = "give the drive's capacity, such as 192GiB";
    given(capacity, "capacity", how)
}

keys! {
    /// Scales addresses down evenly, so that the address space of a trace fits a capacity (`epo` IV.A, third task).
    ///
    /// The new offset is `offset * capacity / span`, computed exactly and rounded down to a page. Lengths do not
    /// change. An access that would then end past the capacity (only near the end of the span) is moved down until it
    /// fits. If the span already fits, offsets are not scaled, but they are still rounded down to a page.
    ///
    /// The order of offsets is preserved, except around an access that had to be moved. Distances below `span /
    /// capacity` pages are not preserved: consecutive accesses may overlap afterwards, and distinct pages may become
    /// one. Use `wrap` if sequential runs matter more than the whole span.
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    pub struct Shrink {
        /// The capacity that the addresses must fit.
        pub capacity: Bytes,
        /// End of the trace; no access may end after it. If omitted, a first pass finds it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub span: Option<Bytes>,
        /// New offsets are multiples of it.
        #[serde(default = "page_default")]
        pub page: Bytes,
    }
}

keys! {
    /// Takes addresses modulo a capacity. Sequential runs are preserved, but distant places may fall on each other.
    ///
    /// An access that crosses a multiple of the capacity is split into two: one up to the end of the capacity and one
    /// from its start.
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    pub struct Wrap {
        /// The capacity that the addresses must fit.
        pub capacity: Bytes,
    }
}

/// A disk of a trace, with its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// Number of the disk in the trace.
    pub disk: u32,
    /// Length of the disk; none of its accesses may end after it.
    pub span: Bytes,
}

keys! {
    /// Places the disks of a trace one after another on one drive and sets the disk of every access to 0. Each disk
    /// starts at a multiple of a page. This is how a trace of an array is fed to a simulator of one drive.
    #[derive(Eq)]
    #[serde(deny_unknown_fields)]
    pub struct Concatenate {
        /// The disks, in the order in which they are placed. If omitted, a first pass finds them and they are placed in
        /// the order of their numbers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub disks: Option<Vec<Span>>,
        /// Each disk starts at a multiple of it.
        #[serde(default = "page_default")]
        pub page: Bytes,
    }
}

/// Rounds down to a multiple of `to`.
pub(super) fn floor(value: u64, to: u64) -> u64 {
    value - value % to
}

/// Returns true if the access has an address.
pub(super) fn placed(access: &Access) -> bool {
    access.op != Op::Flush
}

/// [`Shrink`] at work. All lengths are in bytes and above zero.
struct Shrinking {
    capacity: u64,
    span: u64,
    page: u64,
}

impl Work for Shrinking {
    fn shape(&mut self, mut access: Access) -> Verdict {
        if !placed(&access) {
            return Ok(Some(access));
        }
        if access.end() > self.span {
            return Err(Problem::PastSpan(Bytes(self.span)));
        }
        let last = self.capacity.checked_sub(access.len);
        let last = last.ok_or(Problem::LongerThan(Bytes(self.capacity)))?;
        let scaled = if self.span <= self.capacity {
            access.offset
        } else {
            // The result is at most the offset, so it fits in 64 bits.
            (u128::from(access.offset) * u128::from(self.capacity) / u128::from(self.span)) as u64
        };
        access.offset = floor(scaled.min(last), self.page);
        Ok(Some(access))
    }
}

impl Settings for Shrink {
    fn check(&self) -> Result<(), BadValue> {
        given_page(self.page)?;
        given_capacity(self.capacity)?;
        match self.span {
            Some(Bytes(0)) => Err(BadValue::new("span", "zero", "give where the trace ends")),
            None => Err(BadValue::new(
                "span",
                "not known",
                "give where the trace ends, or make a first pass",
            )),
            Some(_) => Ok(()),
        }
    }
    fn work(&self) -> Box<dyn Work> {
        Box::new(Shrinking {
            capacity: self.capacity.0.max(1),
            span: self.span.map_or(1, |span| span.0.max(1)),
            page: self.page.0.max(1),
        })
    }
    fn needs_survey(&self) -> bool {
        self.span.is_none()
    }
    fn learn(&mut self, survey: &Survey) {
        // An empty trace has no end. Any span is right for it, and zero would be refused.
        self.span = Some(Bytes(survey.end().max(1)));
    }
}

/// [`Wrap`] at work: the piece of the last access that goes to the start of the capacity.
struct Wrapping {
    capacity: u64,
    left: Option<Access>,
}

impl Work for Wrapping {
    fn shape(&mut self, mut access: Access) -> Verdict {
        if !placed(&access) {
            return Ok(Some(access));
        }
        if access.len > self.capacity {
            return Err(Problem::LongerThan(Bytes(self.capacity)));
        }
        access.offset %= self.capacity;
        let (head, tail) = cut(access, self.capacity - access.offset);
        self.left = tail.map(|tail| Access { offset: 0, ..tail });
        Ok(Some(head))
    }

    fn rest(&mut self) -> Option<Access> {
        self.left.take()
    }
}

impl Settings for Wrap {
    fn check(&self) -> Result<(), BadValue> {
        given_capacity(self.capacity)
    }
    fn work(&self) -> Box<dyn Work> {
        Box::new(Wrapping {
            capacity: self.capacity.0.max(1),
            left: None,
        })
    }
}

/// [`Concatenate`] at work: the start and the span of each disk, in bytes.
struct Laying(BTreeMap<u32, (u64, u64)>);

impl Work for Laying {
    fn shape(&mut self, mut access: Access) -> Verdict {
        let disk = std::mem::take(&mut access.disk);
        if !placed(&access) {
            return Ok(Some(access));
        }
        let &(start, span) = self.0.get(&disk).ok_or(Problem::UnknownDisk)?;
        if access.end() > span {
            return Err(Problem::PastSpan(Bytes(span)));
        }
        access.offset += start;
        Ok(Some(access))
    }
}

impl Concatenate {
    /// Returns the start and the length of each disk, or `None` if they do not fit in 2^64 bytes.
    fn layout(&self) -> Option<BTreeMap<u32, (u64, u64)>> {
        let mut starts = BTreeMap::new();
        let mut end = 0u64;
        for &Span { disk, span } in self.disks.iter().flatten() {
            let start = end.checked_next_multiple_of(self.page.0.max(1))?;
            end = start.checked_add(span.0)?;
            starts.insert(disk, (start, span.0));
        }
        Some(starts)
    }
}

impl Settings for Concatenate {
    fn check(&self) -> Result<(), BadValue> {
        given_page(self.page)?;
        let Some(disks) = &self.disks else {
            return Err(BadValue::new(
                "disks",
                "not known",
                "list { disk, span }, or make a first pass",
            ));
        };
        match self.layout() {
            None => Err(BadValue::new(
                "disks",
                "",
                "together they are longer than 2^64 bytes",
            )),
            Some(starts) if starts.len() < disks.len() => {
                Err(BadValue::new("disks", "", "a disk is listed twice"))
            }
            Some(_) => Ok(()),
        }
    }
    fn work(&self) -> Box<dyn Work> {
        Box::new(Laying(self.layout().unwrap_or_default()))
    }
    fn needs_survey(&self) -> bool {
        self.disks.is_none()
    }
    fn learn(&mut self, survey: &Survey) {
        let spans = survey.disks.iter().map(|(&disk, &end)| Span {
            disk,
            span: Bytes(end),
        });
        self.disks = Some(spans.collect());
    }
}
