//! A write buffer in front of the drive: the middle one of the three stages of `epo` IV.A, as a part of a workload.
//!
//! The writes that come out of the steps are rounded to pages, go through the buffer of
//! [`fathom_ssd::reshape`], and what leaves it is the workload. Only writes may come in.

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

/// How many pages a write has. Its first page is always the one that its first byte lies in, and it has at least one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// The closest number to its length, half a page counting as one (`epo` IV.A: "its closest multiples of 4 KB pages").
    #[default]
    Closest,
    /// As many whole ones as its length has.
    Floor,
    /// Every page that one of its bytes lies in, so that a write that is not aligned has one more.
    Cover,
}

impl Rounding {
    /// Pages of `page` bytes that `len` bytes from `offset` on have.
    fn pages(self, offset: u64, len: u64, page: u64) -> u64 {
        let pages = match self {
            Self::Closest => (len + page / 2) / page,
            Self::Floor => len / page,
            Self::Cover => (offset % page + len).div_ceil(page),
        };
        pages.max(1)
    }
}

/// A write buffer in front of the drive, as a study file says it. The defaults are those of `epo` Table I.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reshape {
    /// What leaves when it is full.
    pub policy: WritePolicy,
    /// Bytes of data that it holds.
    pub capacity: Bytes,
    /// What has an age with `lru` and `fifo`.
    pub age: BufferAge,
    /// Bytes of a page; writes are made whole pages as `rounding` says.
    pub page: Bytes,
    /// How many pages a write has.
    pub rounding: Rounding,
    /// Flash elements that pages are striped over.
    pub elements: u32,
    /// Pages of a flash block.
    pub block_pages: u32,
    /// The end of the drive; blocks are not padded beyond it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drive: Option<Bytes>,
    /// Whether what is in the buffer at the end is written out; the paper leaves it there.
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
    /// [`SourceError::Buffer`] for a buffer that cannot be.
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

/// The accesses in front of the buffer, and what went wrong with them.
struct Shared<I> {
    accesses: I,
    /// Set once: nothing is taken from `accesses` after it, even when the error itself was handed on.
    ended: bool,
    failed: Option<SourceError>,
}

/// The writes, in pages, until one fails.
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

/// A write in whole pages of so many bytes.
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

/// What leaves the buffer.
pub(super) struct Behind<I> {
    reshaping: Reshaping<Writes<I>>,
    shared: Rc<RefCell<Shared<I>>>,
    page: u64,
    /// Pages that the buffer holds; `None` where there is none.
    room: Option<u32>,
    /// What the host waits for room, where that is watched.
    rooms: Option<WatchedRooms>,
}

impl<I> Behind<I> {
    /// What stands in front of the buffer.
    pub(super) fn with_source<T>(&self, look: impl FnOnce(&I) -> T) -> T {
        look(&self.shared.borrow().accesses)
    }
}

impl<I: Iterator<Item = Result<Access, SourceError>>> Behind<I> {
    /// From now on, works out what the host waits for room; to be asked before the first access is taken.
    pub(super) fn watch_room(&mut self) -> WatchedRooms {
        self.reshaping.note_taken();
        let rooms = Rc::new(RefCell::new(Rooms::new(self.room)));
        self.rooms = Some(Rc::clone(&rooms));
        rooms
    }

    /// What has gone through so far.
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

    /// By hand, pages of 4096 bytes: half of one, one and a half less a byte, one and a half, two that are not aligned.
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
