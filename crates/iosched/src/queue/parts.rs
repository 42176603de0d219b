//! Submitted requests and the pieces that go to the drive.

use crate::Io;
use fathom_base::Time;
use fathom_block::{Completion, IoErrorKind, Op, Request};
use std::ops::Range;

/// A request as it was submitted. Most have one piece and end as that does; only the others keep a record of their pieces.
#[derive(Clone, Debug)]
pub(super) struct Parent {
    pub(super) request: Request,
    pub(super) submitted: Time,
    split: Option<Box<Split>>,
}

/// The pieces of a request that was split.
#[derive(Clone, Debug)]
struct Split {
    /// Number of pieces that are not complete.
    left: u32,
    /// How the completed pieces have ended, taken together.
    ending: Ending,
}

/// How a piece or a request has ended.
#[derive(Clone, Debug)]
pub(super) struct Ending {
    /// When it, or the latest of several, completed.
    completed: Time,
    /// Why it, or the first of several, failed.
    failed: Option<IoErrorKind>,
    /// The data read, if the drive stores data.
    read: Option<Box<[u8]>>,
}

impl Ending {
    /// Returns how a request to the drive has ended. Takes its data.
    #[inline]
    pub(super) fn of(completion: &mut Completion) -> Self {
        Self {
            completed: completion.completed,
            failed: completion.result.as_ref().err().map(|error| error.kind),
            read: completion.data.take(),
        }
    }

    /// Returns how a part of a merged request has ended: as the request did, with a stretch of its data.
    pub(super) fn part(&self, stretch: Range<usize>) -> Self {
        let read = self.read.as_ref().and_then(|data| data.get(stretch));
        Self {
            read: read.map(Box::from),
            ..*self
        }
    }
}

/// A range of a submitted request that belongs to a piece. No request is longer than [`LONGEST`](super::LONGEST).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The slot of the submitted request.
    pub(super) parent: u32,
    /// The start of the range in that request, in bytes.
    pub(super) at: u32,
    /// Its length, in bytes.
    pub(super) len: u32,
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
    /// A pointer is cheaper to move and to drop than an empty list.
    more: Option<Box<More>>,
}

/// The parts of a merged piece after the first one.
#[derive(Clone, Debug, Default)]
struct More(Vec<Part>);

impl Parts {
    #[inline]
    pub(super) fn new(first: Part) -> Self {
        Self { first, more: None }
    }

    /// The parts after the first one.
    fn more(&mut self) -> &mut Vec<Part> {
        &mut self.more.get_or_insert_default().0
    }

    pub(super) fn push_back(&mut self, part: Part) {
        self.more().push(part);
    }

    pub(super) fn push_front(&mut self, part: Part) {
        let second = std::mem::replace(&mut self.first, part);
        self.more().insert(0, second);
    }

    pub(super) fn append(&mut self, parts: Parts) {
        self.more().extend(parts.iter());
    }

    /// Takes the parts of a piece that is complete.
    #[inline]
    pub(super) fn take(&mut self) -> Self {
        let more = self.more.take();
        let first = self.first;
        Self { first, more }
    }

    /// Returns the part of a piece that was not merged.
    #[inline]
    pub(super) fn only(&self) -> Option<&Part> {
        self.more.is_none().then_some(&self.first)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Part> {
        let more = self.more.iter().flat_map(|more| &more.0);
        std::iter::once(&self.first).chain(more)
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
    #[inline]
    pub(super) fn new(request: Request, submitted: Time) -> Self {
        Self {
            request,
            submitted,
            split: None,
        }
    }

    /// Records that the request was split into several pieces.
    #[cold]
    pub(super) fn split_into(&mut self, pieces: u32) {
        let ending = Ending {
            completed: self.submitted,
            failed: None,
            read: None,
        };
        let left = pieces;
        self.split = Some(Box::new(Split { left, ending }));
    }

    /// The data of a part of a write, if the request has data.
    pub(super) fn bytes(&self, part: &Part) -> Option<&[u8]> {
        let from = part.at as usize;
        let data = self.request.data.as_ref()?;
        data.get(from..from + part.len as usize)
    }

    /// Records how a part has ended. Returns how the request has, if that was its last part.
    #[inline]
    pub(super) fn part_done(&mut self, part: &Part, ending: Ending) -> Option<Ending> {
        match self.split {
            None => Some(ending),
            Some(_) => self.piece_done(part, ending),
        }
    }

    fn piece_done(&mut self, part: &Part, ending: Ending) -> Option<Ending> {
        let split = self.split.as_deref_mut()?;
        let all = &mut split.ending;
        split.left -= 1;
        all.completed = all.completed.max(ending.completed);
        all.failed = all.failed.or(ending.failed);
        if let Some(data) = ending.read {
            let len = self.request.len as usize;
            let whole = all
                .read
                .get_or_insert_with(|| vec![0; len].into_boxed_slice());
            let from = part.at as usize;
            if let Some(to) = whole.get_mut(from..from + part.len as usize) {
                to.copy_from_slice(&data);
            }
        }
        match split.left {
            0 => Some(self.split.take()?.ending),
            _ => None,
        }
    }

    /// Returns the completion of the request.
    #[inline]
    pub(super) fn finish(&self, ending: Ending) -> Completion {
        let request = &self.request;
        let result = match ending.failed {
            None => Ok(()),
            Some(kind) => Err(request.error(kind)),
        };
        let data = match (&result, request.op) {
            (Ok(()), Op::Read) => ending.read,
            _ => None,
        };
        let times = self.submitted..self.submitted.max(ending.completed);
        Completion::of(request, times, result, data)
    }
}
