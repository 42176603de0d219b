//! A write buffer of whole pages, with any policy, that handles page numbers only.
//!
//! It uses the same lines and policies as the buffer inside the drive, with lines of one sector. It knows no time and
//! holds no data. [`super::reshape`] puts it in front of a drive.

use super::WritePolicy;
use super::lines::{LineSetup, Piece, WriteLines};
use super::policy::{Elements, How, Shape};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The unit of age in a buffer with the policy `lru` or `fifo`. The other policies ignore it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Age {
    /// A whole request (`epo` IV.A: "the age of each buffered write request"). All pages left of it are evicted
    /// together.
    #[default]
    Request,
    /// A page. Each page is evicted by itself.
    Page,
}

/// Parameters of a [`PageBuffer`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Eviction policy.
    pub policy: WritePolicy,
    /// The unit of age.
    pub age: Age,
    /// Capacity in pages, 1 to 2^28. Not used by `no-cache`.
    pub capacity_pages: u32,
    /// Number of flash elements that pages are striped over, 1 to 65,536. Page `p` lies on element
    /// `p / stride mod elements`.
    pub elements: u32,
    /// Number of consecutive pages on one element, at least 1.
    pub stride_pages: u32,
    /// Pages of a flash block, 1 to 65,536.
    pub block_pages: u32,
    /// Pages of the drive. A block is not padded beyond its end.
    pub drive_pages: u32,
}

impl Default for Setup {
    /// The middle values of `epo` Table I: 8 MiB of 4-KiB pages, 48 elements, blocks of 64 pages. The drive size is
    /// unlimited.
    fn default() -> Self {
        Setup {
            policy: WritePolicy::Epo,
            age: Age::Request,
            capacity_pages: 2048,
            elements: 48,
            stride_pages: 1,
            block_pages: 64,
            drive_pages: u32::MAX,
        }
    }
}

/// A parameter of a [`PageBuffer`] that is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` of a write buffer is {found}: {least} to {most}")]
pub struct PageBufferError {
    /// Name of the parameter.
    pub key: &'static str,
    /// Its value.
    pub found: u32,
    /// Minimum value.
    pub least: u32,
    /// Maximum value.
    pub most: u32,
}

/// Pages that were evicted together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evicted {
    /// The pages, in the order in which they are to be written.
    pub pages: Vec<u32>,
    /// Each page is a write of its own, even next to a neighbouring page.
    pub singly: bool,
    /// The block that the pages are padded to. Its other pages are to be read, and the whole block is to be written in
    /// order.
    pub padded: Option<Range<u32>>,
}

/// Result of writing a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// The page replaced the same page in the buffer.
    Replaced,
    /// The page took new room.
    New,
    /// There is no buffer: the page is in [`Evicted`].
    Passed,
}

/// A write buffer of whole pages.
#[derive(Clone, Debug)]
pub struct PageBuffer {
    lines: WriteLines,
    setup: Setup,
    /// Number of pages written. It numbers the requests if each page has an age of its own.
    written: u64,
}

impl PageBuffer {
    /// Creates an empty buffer.
    ///
    /// # Errors
    /// [`PageBufferError`] for the first parameter that is out of range.
    pub fn new(setup: &Setup) -> Result<Self, PageBufferError> {
        let ranges = [
            ("capacity_pages", setup.capacity_pages, 1 << 28),
            ("elements", setup.elements, 1 << 16),
            ("stride_pages", setup.stride_pages, u32::MAX),
            ("block_pages", setup.block_pages, 1 << 16),
            ("drive_pages", setup.drive_pages, u32::MAX),
        ];
        for (key, found, most) in ranges {
            if !(1..=most).contains(&found) {
                let least = 1;
                return Err(PageBufferError {
                    key,
                    found,
                    least,
                    most,
                });
            }
        }
        let lines = WriteLines::by_request(&LineSetup {
            policy: setup.policy,
            combine: true,
            capacity_sectors: u64::from(setup.capacity_pages),
            sectors_per_line: 1,
            shape: Shape {
                elements: Elements {
                    stride: setup.stride_pages,
                    count: setup.elements,
                    lanes: 1,
                },
                block_pages: setup.block_pages,
            },
            clines: setup.drive_pages,
        });
        let setup = setup.clone();
        Ok(Self {
            lines,
            setup,
            written: 0,
        })
    }

    /// Returns the number of pages in the buffer. A page that takes room more than once is counted each time.
    pub fn len(&self) -> usize {
        self.lines.occupied() as usize
    }

    /// Returns true if the buffer is empty.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Writes a page that belongs to request `request`. Request numbers must not decrease. Sets `evicted` to the pages
    /// that were evicted to make room, which may be none.
    pub fn write(&mut self, page: u32, request: u64, evicted: &mut Evicted) -> Stored {
        evicted.clear();
        if self.setup.policy == WritePolicy::NoCache {
            evicted.pages.push(page);
            return Stored::Passed;
        }
        let grows = self.lines.growth(page, 0, 1) > 0;
        if grows && self.lines.occupied() == self.lines.capacity() {
            self.evict(evicted);
        }
        self.written += 1;
        self.lines.begin_request(match self.setup.age {
            Age::Request => request,
            Age::Page => self.written,
        });
        let piece = Piece {
            cline: page,
            first: 0,
            sectors: 1,
            reserved: 0,
            owner: 0,
        };
        self.lines.insert(piece, 0);
        if grows { Stored::New } else { Stored::Replaced }
    }

    /// Returns true if the buffer would answer a read of the page.
    pub fn read(&self, page: u32) -> bool {
        self.lines.holds(page, 0)
    }

    /// Evicts the next pages into `evicted`, whether room is needed or not. Returns false if the buffer is empty.
    pub fn evict(&mut self, evicted: &mut Evicted) -> bool {
        evicted.clear();
        if self.is_empty() {
            return false;
        }
        match self.lines.take_together(&mut evicted.pages) {
            How::Runs => {}
            How::Singly => evicted.singly = true,
            How::Padded { first } => {
                let end = first.saturating_add(self.setup.block_pages);
                let last = evicted.pages.last().copied().unwrap_or(first);
                let within = self.setup.drive_pages.max(last.saturating_add(1));
                evicted.padded = Some(first..end.min(within));
            }
        }
        true
    }

    /// Discards a page that is no longer needed. Returns true if it was in the buffer.
    pub fn trim(&mut self, page: u32) -> bool {
        let before = self.lines.occupied();
        self.lines.discard(page, 0, 1);
        self.lines.occupied() < before
    }
}

impl Evicted {
    fn clear(&mut self) {
        self.pages.clear();
        (self.singly, self.padded) = (false, None);
    }
}
