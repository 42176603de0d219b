//! A write buffer of whole pages: any policy, over page numbers alone.
//!
//! The same lines and the same policies as inside the drive, with lines of one sector. It knows no time and holds
//! no bytes; [`super::reshape`] puts it in front of a drive.

use super::WritePolicy;
use super::lines::{LineSetup, Piece, WriteLines};
use super::policy::{Elements, How, Shape};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What has an age in a buffer with the policy `lru` or `fifo`. The other policies do not look at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Age {
    /// A whole request (`epo` IV.A: "the age of each buffered write request"): what is left of it leaves together.
    #[default]
    Request,
    /// Each page by itself, and each leaves by itself.
    Page,
}

/// What makes a buffer of pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// What leaves when it is full.
    pub policy: WritePolicy,
    /// What has an age.
    pub age: Age,
    /// Pages that it holds, 1 to 2^28. Not used by `no-cache`.
    pub capacity_pages: u32,
    /// Flash elements that pages are striped over, 1 to 65,536: page `p` lies on element `p / stride mod elements`.
    pub elements: u32,
    /// Neighbouring pages on one element, at least 1.
    pub stride_pages: u32,
    /// Pages of a flash block, 1 to 65,536.
    pub block_pages: u32,
    /// Pages of the drive: a block is not padded beyond them.
    pub drive_pages: u32,
}

impl Default for Setup {
    /// The middle of `epo` Table I: 8 MiB of 4-KiB pages, 48 elements, blocks of 64 pages; a drive of any size.
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

/// A buffer that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` of a write buffer is {found}: {least} to {most}")]
pub struct PageBufferError {
    /// Which number.
    pub key: &'static str,
    /// What it is.
    pub found: u32,
    /// The least that would do.
    pub least: u32,
    /// The most that would do.
    pub most: u32,
}

/// What has left a buffer together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evicted {
    /// Pages, in the order in which they are to be written.
    pub pages: Vec<u32>,
    /// Each is a write of its own, even beside its neighbour.
    pub singly: bool,
    /// The block that they are padded to: its other pages are to be read, and all of it written in order.
    pub padded: Option<Range<u32>>,
}

/// What became of a page that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// It replaced the same page in the buffer.
    Replaced,
    /// It took new room.
    New,
    /// There is no buffer: it is in [`Evicted`].
    Passed,
}

/// Pages in a buffer.
#[derive(Clone, Debug)]
pub struct PageBuffer {
    lines: WriteLines,
    setup: Setup,
    /// Pages that were written, each a request of its own where pages have ages.
    written: u64,
}

impl PageBuffer {
    /// An empty buffer.
    ///
    /// # Errors
    /// [`PageBufferError`] for the first number that is out of its range.
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

    /// Pages in it; a page counts as often as it takes room.
    pub fn len(&self) -> usize {
        self.lines.occupied() as usize
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// A page is written, by the request of that number; numbers must not fall. `evicted` is what left to make
    /// room, if anything did.
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

    /// Whether a read of the page would be answered from here.
    pub fn read(&self, page: u32) -> bool {
        self.lines.holds(page, 0)
    }

    /// What leaves next, whether room is needed or not; false where nothing is left.
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

    /// The page is no longer needed; whether it was here.
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
