//! A write buffer in front of the drive: the middle one of the three stages of `epo` IV.A, as a part of a workload.
//!
//! The writes after the steps are rounded to pages and go through the buffer of [`fathom_ssd::reshape`]. The evicted pages
//! are the workload. The buffer takes writes only.

use super::SourceError;
use super::rooms::{Rooms, WatchedRooms};
use fathom_base::Bytes;
use fathom_block::Access;
use fathom_block::Op;
use fathom_ssd::reshape::{Counters, PageWrite, Reshape as Reshaping, Reshaped};
use fathom_ssd::spec::WritePolicy;
use fathom_ssd::{BufferAge, PageBufferSetup};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::rc::Rc;

/// How the length of a write is rounded to pages. The first page is always the one that holds the first byte, and a write
/// has at least one page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// The closest number of pages; half a page is rounded up (`epo` IV.A: "its closest multiples of 4 KB pages").
    #[default]
    Closest,
    /// The number of whole pages in its length.
    Floor,
    /// Every page that the write touches, so that an unaligned write has one more.
    Cover,
}

impl Rounding {
    /// Returns the number of pages, of `page` bytes each, for `len` bytes at `offset`.
    fn pages(self, offset: u64, len: u64, page: u64) -> u64 {
        let pages = match self {
            Self::Closest => (len + page / 2) / page,
            Self::Floor => len / page,
            Self::Cover => (offset % page + len).div_ceil(page),
        };
        pages.max(1)
    }
}

/// A write buffer in front of the drive, as described in a study file. The defaults are those of `epo` Table I.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reshape {
    /// Eviction policy.
    pub policy: WritePolicy,
    /// Capacity for data, in bytes.
    pub capacity: Bytes,
    /// The unit whose age counts with `lru` and `fifo`.
    pub age: BufferAge,
    /// Page size in bytes. Writes are rounded to whole pages by `rounding`.
    pub page: Bytes,
    /// How writes are rounded to pages.
    pub rounding: Rounding,
    /// Number of flash elements that pages are striped over.
    pub elements: u32,
    /// Number of pages of a flash block.
    pub block_pages: u32,
    /// End of the drive; blocks are not padded beyond it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drive: Option<Bytes>,
    /// True if the buffer is written out at the end; the paper leaves its contents there.
    pub drain: bool,
}

impl Default for Reshape {
    fn default() -> Self {
        let setup = PageBufferSetup::default();
        Self {
            policy: WritePolicy::Epo,
            capacity: Bytes::mib(8),
            age: BufferAge::Request,
            page: Bytes::kib(4),
            rounding: Rounding::Closest,
            elements: setup.elements,
            block_pages: setup.block_pages,
            drive: None,
            drain: false,
        }
    }
}

impl Reshape {
    fn setup(&self, name: &str) -> Result<PageBufferSetup, SourceError> {
        let failed = |detail: String| SourceError::Buffer {
            name: name.to_owned(),
            detail,
        };
        let page = self.page.0;
        if page < 512 || !page.is_multiple_of(512) {
            let detail = format!("`page` is {}: a multiple of 512B", self.page);
            return Err(failed(detail));
        }
        let pages = |bytes: Bytes| u32::try_from(bytes.0 / page).unwrap_or(u32::MAX);
        Ok(PageBufferSetup {
            policy: self.policy,
            age: self.age,
            capacity_pages: pages(self.capacity),
            elements: self.elements,
            stride_pages: 1,
            block_pages: self.block_pages,
            drive_pages: self.drive.map_or(u32::MAX, pages),
        })
    }

    /// Puts the buffer behind `accesses`.
    ///
    /// # Errors
    /// [`SourceError::Buffer`] if the buffer's settings are invalid.
    pub(super) fn over<I>(&self, name: &str, accesses: I) -> Result<Behind<I>, SourceError>
    where
        I: Iterator<Item = Result<Access, SourceError>>,
    {
        let shared = Rc::new(RefCell::new(Shared {
            accesses,
            ended: false,
            failed: None,
        }));
        let writes = Writes {
            shared: Rc::clone(&shared),
            page: self.page.0,
            rounding: self.rounding,
            name: name.to_owned(),
        };
        let setup = self.setup(name)?;
        let reshaping =
            Reshaping::new(writes, &setup, self.drain).map_err(|e| SourceError::Buffer {
                name: name.to_owned(),
                detail: e.to_string(),
            })?;
        Ok(Behind {
            reshaping,
            shared,
            page: self.page.0,
            room: match self.policy {
                WritePolicy::NoCache => None,
                _ => Some(setup.capacity_pages),
            },
            rooms: None,
        })
    }
}

/// The accesses in front of the buffer, and their error.
struct Shared<I> {
    accesses: I,
    /// Set at the first error and never reset: nothing is taken from `accesses` after it, even once the error was handed
    /// on.
    ended: bool,
    failed: Option<SourceError>,
}

/// The writes in pages, up to the first error.
struct Writes<I> {
    shared: Rc<RefCell<Shared<I>>>,
    page: u64,
    rounding: Rounding,
    name: String,
}

impl<I: Iterator<Item = Result<Access, SourceError>>> Iterator for Writes<I> {
    type Item = PageWrite;

    fn next(&mut self) -> Option<PageWrite> {
        let mut shared = self.shared.borrow_mut();
        if shared.ended {
            return None;
        }
        let write = shared
            .accesses
            .next()?
            .and_then(|access| pages(&access, self.page, self.rounding, &self.name));
        match write {
            Ok(write) => Some(write),
            Err(error) => {
                shared.ended = true;
                shared.failed = Some(error);
                None
            }
        }
    }
}

/// Rounds a write to whole pages of that size.
fn pages(
    access: &Access,
    page: u64,
    rounding: Rounding,
    name: &str,
) -> Result<PageWrite, SourceError> {
    let failed = |detail: String| SourceError::Buffer {
        name: name.to_owned(),
        detail,
    };
    if access.op != Op::Write {
        return Err(failed(format!(
            "a {} came to the buffer, which takes writes only: put the step `writes-only` before it",
            access.op
        )));
    }
    let length = rounding.pages(access.offset, access.len, page);
    let number = |n: u64| {
        u32::try_from(n).map_err(|_| {
            failed(format!(
                "a write at offset {} lies beyond page 2^32: shrink the addresses",
                access.offset
            ))
        })
    };
    Ok(PageWrite {
        at: access.at,
        page: number(access.offset / page)?,
        pages: number(length)?,
    })
}

/// The accesses that leave the buffer.
pub(super) struct Behind<I> {
    reshaping: Reshaping<Writes<I>>,
    shared: Rc<RefCell<Shared<I>>>,
    page: u64,
    /// Capacity of the buffer in pages; `None` if there is none.
    room: Option<u32>,
    /// The host's wait for room, if it is watched.
    rooms: Option<WatchedRooms>,
}

impl<I> Behind<I> {
    /// Gives access to the source in front of the buffer.
    pub(super) fn with_source<T>(&self, look: impl FnOnce(&I) -> T) -> T {
        look(&self.shared.borrow().accesses)
    }
}

impl<I: Iterator<Item = Result<Access, SourceError>>> Behind<I> {
    /// Starts to compute the host's wait for room. Must be called before the first access is taken.
    pub(super) fn watch_room(&mut self) -> WatchedRooms {
        self.reshaping.note_taken();
        let rooms = Rc::new(RefCell::new(Rooms::new(self.room)));
        self.rooms = Some(Rc::clone(&rooms));
        rooms
    }

    /// Returns the buffer's counters so far.
    pub(super) fn counters(&self) -> &Counters {
        self.reshaping.counters()
    }
}

impl<I: Iterator<Item = Result<Access, SourceError>>> Iterator for Behind<I> {
    type Item = Result<Access, SourceError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.reshaping.next();
        if let Some(rooms) = &self.rooms {
            let mut rooms = rooms.borrow_mut();
            self.reshaping.taken().for_each(|taken| rooms.take(taken));
            rooms.send(next.map_or(0, |out| out.frees));
        }
        let Some(Reshaped {
            at,
            op,
            page,
            pages,
            ..
        }) = next
        else {
            return self.shared.borrow_mut().failed.take().map(Err);
        };
        Some(Ok(Access {
            at,
            op,
            offset: u64::from(page) * self.page,
            len: u64::from(pages) * self.page,
            disk: 0,
            process: 0,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Time;

    fn write(at: u64, offset: u64, len: u64) -> Result<Access, SourceError> {
        Ok(Access {
            at: Time(at),
            op: Op::Write,
            offset,
            len,
            disk: 0,
            process: 0,
        })
    }

    fn through(accesses: Vec<Result<Access, SourceError>>) -> Vec<Result<Access, String>> {
        let reshape = Reshape {
            policy: WritePolicy::NoCache,
            ..Reshape::default()
        };
        let behind = reshape.over("w", accesses.into_iter()).unwrap();
        behind.map(|a| a.map_err(|e| e.to_string())).collect()
    }

    /// By hand, pages of 4096 bytes: half a page, one and a half less a byte, one and a half, and two writes that are not
    /// aligned.
    #[test]
    fn floor_takes_whole_pages_and_cover_all_that_are_touched() {
        let of = |rounding: Rounding| {
            let writes = [
                (0, 2048),
                (0, 6143),
                (4096, 6144),
                (4095, 8192),
                (5000, 3192),
            ];
            writes.map(|(offset, len)| rounding.pages(offset, len, 4096))
        };
        assert_eq!(of(Rounding::Closest), [1, 1, 2, 2, 1]);
        assert_eq!(of(Rounding::Floor), [1, 1, 1, 2, 1]);
        assert_eq!(of(Rounding::Cover), [1, 2, 2, 3, 1]);
    }

    #[test]
    fn writes_are_rounded_to_the_closest_number_of_pages() {
        let got = through(vec![
            write(1, 5000, 6143),
            write(2, 8192, 6144),
            write(3, 0, 1),
        ]);
        let got: Vec<_> = got
            .into_iter()
            .map(|a| a.map(|a| (a.at.0, a.offset, a.len)).unwrap())
            .collect();
        assert_eq!(got, [(1, 4096, 4096), (2, 8192, 8192), (3, 0, 4096)]);
    }

    #[test]
    fn what_fails_ends_the_workload_after_what_came_before() {
        let read = write(2, 0, 512).map(|a| Access { op: Op::Read, ..a });
        let got = through(vec![write(1, 0, 4096), read, write(3, 0, 4096)]);
        assert_eq!(got.len(), 2);
        assert!(got[0].is_ok());
        assert!(
            got[1].as_ref().unwrap_err().contains("writes-only"),
            "{got:?}"
        );
    }
}
