//! Submitted requests and the pieces that go to the drive.

use crate::Io;
use fathom_base::Time;
use fathom_block::{Completion, IoErrorKind, Op, Request};

/// A request as it was submitted.
#[derive(Clone, Debug)]
pub(super) struct Parent {
    pub(super) request: Request,
    pub(super) submitted: Time,
    /// Number of pieces that are not complete.
    pub(super) left: u32,
    /// When the latest of the completed pieces completed.
    pub(super) completed: Time,
    pub(super) failed: Option<IoErrorKind>,
    /// The data read so far, if the drive stores data.
    read: Option<Box<[u8]>>,
}

/// A range of a submitted request that belongs to a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The slot of the submitted request.
    pub(super) parent: u32,
    /// The start of the range in that request, in bytes.
    pub(super) at: u64,
    /// Its length, in bytes.
    pub(super) len: u64,
}

/// Where a piece is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Plug,
    Scheduler,
    Drive,
}

/// The parts of a piece in order of address. Without merges there is one part and no allocation.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    first: Part,
    more: Vec<Part>,
}

impl Parts {
    pub(super) fn new(first: Part) -> Self {
        let more = Vec::new();
        Self { first, more }
    }

    pub(super) fn push_back(&mut self, part: Part) {
        self.more.push(part);
    }

    pub(super) fn push_front(&mut self, part: Part) {
        self.more.insert(0, self.first);
        self.first = part;
    }

    pub(super) fn append(&mut self, parts: Parts) {
        self.more.push(parts.first);
        self.more.extend(parts.more);
    }

    /// Takes the parts of a piece that is complete.
    #[inline]
    pub(super) fn take(&mut self) -> Self {
        let more = std::mem::take(&mut self.more);
        let first = self.first;
        Self { first, more }
    }

    /// Returns the part of a piece that was not merged.
    #[inline]
    pub(super) fn only(&self) -> Option<&Part> {
        self.more.is_empty().then_some(&self.first)
    }

    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = &Part> {
        std::iter::once(&self.first).chain(&self.more)
    }
}

/// A piece as the scheduler and the drive see it, with its parts.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) io: Io,
    pub(super) place: Place,
    pub(super) parts: Parts,
}

impl Parent {
    pub(super) fn new(request: Request, submitted: Time) -> Self {
        Self {
            request,
            submitted,
            left: 0,
            completed: submitted,
            failed: None,
            read: None,
        }
    }

    /// The data of a part of a write, if the request has data.
    pub(super) fn bytes(&self, part: &Part) -> Option<&[u8]> {
        let from = part.at as usize;
        let data = self.request.data.as_ref()?;
        data.get(from..from + part.len as usize)
    }

    /// Records the completion of a part; `data` is the data read.
    pub(super) fn part_done(&mut self, part: &Part, completion: &Completion, data: Option<&[u8]>) {
        self.left -= 1;
        self.completed = self.completed.max(completion.completed);
        if let Err(error) = &completion.result {
            self.failed.get_or_insert(error.kind);
        }
        let (Some(data), Op::Read) = (data, self.request.op) else {
            return;
        };
        let len = self.request.len as usize;
        let whole = self
            .read
            .get_or_insert_with(|| vec![0; len].into_boxed_slice());
        let from = part.at as usize;
        if let Some(to) = whole.get_mut(from..from + part.len as usize) {
            to.copy_from_slice(data);
        }
    }

    /// Returns the completion of the request.
    pub(super) fn finish(&mut self) -> Completion {
        let failed = self.failed.map(|kind| self.request.error(kind));
        let read = self.read.take();
        let data = if failed.is_none() { read } else { None };
        let times = self.submitted..self.completed;
        Completion::of(&self.request, times, failed.map_or(Ok(()), Err), data)
    }
}
