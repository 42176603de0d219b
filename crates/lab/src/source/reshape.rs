//! A write buffer in front of the drive: the middle one of the three stages of `epo` IV.A, as a part of a workload.
//!
//! The writes that come out of the steps are rounded to pages, go through the buffer of
//! [`fathom_ssd::reshape`], and what leaves it is the workload. Only writes may come in.

use super::SourceError;
use fathom_base::Bytes;
use fathom_block::Op;
use fathom_ssd::PageBufferSetup;
use fathom_ssd::reshape::{Counters, PageWrite, Reshape as Reshaping, Reshaped};
use fathom_ssd::spec::WritePolicy;
use fathom_workload::Access;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::rc::Rc;

/// A write buffer in front of the drive, as a study file says it. The defaults are those of `epo` Table I.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reshape {
    /// What leaves when it is full.
    pub policy: WritePolicy,
    /// Bytes of data that it holds.
    pub capacity: Bytes,
    /// Bytes of a page; writes are rounded to the closest number of them, at least one.
    pub page: Bytes,
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
            page: Bytes::kib(4),
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
            .and_then(|access| pages(&access, self.page, &self.name));
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

/// A write in whole pages: its start rounded down, its length to the closest number, at least one (`epo` IV.A).
fn pages(access: &Access, page: u64, name: &str) -> Result<PageWrite, SourceError> {
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
    let length = ((access.len + page / 2) / page).max(1);
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
}

impl<I> Behind<I> {
    /// What stands in front of the buffer.
    pub(super) fn with_source<T>(&self, look: impl FnOnce(&I) -> T) -> T {
        look(&self.shared.borrow().accesses)
    }
}

impl<I: Iterator<Item = Result<Access, SourceError>>> Behind<I> {
    /// What has gone through so far.
    pub(super) fn counters(&self) -> &Counters {
        self.reshaping.counters()
    }
}

impl<I: Iterator<Item = Result<Access, SourceError>>> Iterator for Behind<I> {
    type Item = Result<Access, SourceError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Some(Reshaped {
            at,
            op,
            page,
            pages,
            ..
        }) = self.reshaping.next()
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
