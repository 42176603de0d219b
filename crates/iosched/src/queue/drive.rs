//! The path to the drive: dispatch and completion.

use super::order::Open;
use super::parts::Ending;
use super::stats::above_multiple;
use super::{BlockQueue, Parent, Part, Parts, Piece, Place, WHOLE, pool, stats};
use crate::{Era, Io, Merging};
use fathom_base::{Slab, Time};
use fathom_block::{Completion, Device, Op, Payload, Request, RequestId, Tag};

/// The completions that a call of `wait` returns.
type Done = Vec<Completion>;

impl<D: Device> BlockQueue<D> {
    /// Dispatches until the drive is full or nothing is ready.
    pub(super) fn pump(&mut self) {
        loop {
            let is_full = self.in_flight >= self.depth;
            if is_full && (self.next.is_some() || !self.takes_ahead()) {
                return;
            }
            let id = match self.next.take() {
                Some(id) => id,
                None => match self.take_next() {
                    Some(id) => id,
                    None => return,
                },
            };
            if is_full {
                self.next = Some(id);
                return;
            }
            let Some(request) = self.request(id) else {
                return;
            };
            let (op, offset, len) = (request.op, request.offset, request.len);
            if self.inner.submit(request).is_err() {
                self.next = Some(id);
                return;
            }
            self.in_flight += 1;
            if id.0 & WHOLE == 0 {
                let aligned = above_multiple(offset, self.config.alignment.0.max(1)) == 0;
                stats::dispatch(&mut self.counts.work, op, len, aligned, self.in_flight);
                self.counts.lengths[pool(op)].add(len);
            }
        }
    }

    /// Returns whether the queue takes one more request from the scheduler than the drive has room for. All current
    /// schedulers do: Linux notices that no tag is left with the request already in hand (`__blk_mq_do_dispatch_sched`,
    /// `blk_mq_dispatch_rq_list`, 6.18). Without a scheduler a request has its tag from the beginning.
    #[inline]
    pub(super) fn takes_ahead(&self) -> bool {
        self.era == Era::Multi && self.merges.how != Merging::Latest { of_kind: false }
    }

    /// Takes the request that goes to the drive next.
    #[inline]
    fn take_next(&mut self) -> Option<RequestId> {
        if let Some(slot) = self.whole.pop_front() {
            return Some(RequestId(u64::from(slot) | WHOLE));
        }
        if self.is_closed() {
            return None;
        }
        let io = self.scheduler.dispatch(self.time())?;
        self.forget(&io);
        self.leaves(&io)
    }

    /// Records that the scheduler has released a request.
    #[inline]
    pub(super) fn leaves(&mut self, io: &Io) -> Option<RequestId> {
        self.pieces.get_mut(io.key.0)?.place = Place::Drive;
        Some(RequestId(u64::from(io.key.0)))
    }

    /// Returns the piece that a request to the drive is made of; `None` for a flush or a trim.
    #[inline]
    fn piece(&self, id: RequestId) -> Option<&Piece> {
        match id.0 & WHOLE {
            0 => self.pieces.get(id.0 as u32),
            _ => None,
        }
    }

    /// Returns the request to the drive.
    #[inline]
    fn request(&self, id: RequestId) -> Option<Request> {
        let Some(piece) = self.piece(id) else {
            let request = &self.parents.get(id.0 as u32)?.request;
            return Some(Request {
                id,
                data: None,
                ..*request
            });
        };
        let (payload, data) = match piece.parts.only() {
            Some(part) => {
                let parent = self.parents.get(part.parent)?;
                (
                    parent.request.tag.payload,
                    parent.bytes(part).map(Box::from),
                )
            }
            None => Self::contents(&self.parents, &piece.parts),
        };
        let io = &piece.io;
        Some(Request {
            id,
            op: io.op,
            offset: io.offset,
            len: io.len,
            tag: Tag {
                process: io.process,
                sync: io.sync,
                fua: io.fua,
                direct: false,
                payload,
                placement: io.placement,
            },
            data,
        })
    }

    /// The payload that all parts of a merged request have, if it is the same, and the data if all of them have some.
    fn contents(parents: &Slab<Parent>, parts: &Parts) -> (Payload, Option<Box<[u8]>>) {
        let stretches = parts
            .iter()
            .map(|part| parents.get(part.parent)?.bytes(part));
        let data: Option<Vec<&[u8]>> = stretches.collect();
        let mut payloads = parts.iter().filter_map(|part| {
            let parent = parents.get(part.parent)?;
            Some(parent.request.tag.payload)
        });
        let first = payloads.next().unwrap_or_default();
        let payload = match payloads.all(|other| other == first) {
            true => first,
            false => Payload::default(),
        };
        (payload, data.map(|data| data.concat().into_boxed_slice()))
    }

    /// Handles a completion from the drive. Appends the requests that are complete with it to `done`.
    #[inline]
    pub(super) fn settle(&mut self, id: RequestId, op: Op, ending: Ending, done: &mut Done) {
        self.in_flight -= 1;
        self.pools.full = [false; 2];
        // `scsi_run_queue`, `blk_run_queue`: a completion removes the timer plug.
        self.plug.until = Time::MAX;
        let slot = id.0 as u32;
        if id.0 & WHOLE != 0 {
            self.pools.used[pool(op)] -= 1;
            return self.finish(slot, ending, done);
        }
        let Some(piece) = self.pieces.get_mut(slot) else {
            return;
        };
        self.pools.used[pool(piece.io.op)] -= 1;
        let now = self.counts.work.at;
        self.scheduler.completed(now, &piece.io);
        let parts = piece.parts.take();
        self.pieces.discard(slot);
        match parts.only() {
            Some(part) => self.part_done(part, ending, done),
            None => self.all_done(&parts, &ending, done),
        }
    }

    /// Divides the end of a merged request among its parts.
    fn all_done(&mut self, parts: &Parts, ending: &Ending, done: &mut Done) {
        let mut at = 0;
        for part in parts.iter() {
            let end = at + part.len as usize;
            self.part_done(part, ending.part(at..end), done);
            at = end;
        }
    }

    fn part_done(&mut self, part: &Part, ending: Ending, done: &mut Done) {
        if let Some(parent) = self.parents.get_mut(part.parent)
            && let Some(ending) = parent.part_done(part, ending)
        {
            self.finish(part.parent, ending, done);
        }
    }

    /// Completes a request after its last piece, and lets the requests enter that waited for it.
    #[inline]
    fn finish(&mut self, slot: u32, ending: Ending, done: &mut Done) {
        let Some(parent) = self.parents.get(slot) else {
            return;
        };
        let gone = self.order.done(slot);
        done.push(parent.finish(ending));
        self.parents.discard(slot);
        if let Some(gone) = gone {
            self.let_in(&gone);
        }
    }

    /// Lets the requests enter that have waited for one and wait for no other.
    #[cold]
    fn let_in(&mut self, gone: &Open) {
        for slot in self.order.release(gone) {
            // From here on its pieces occupy room instead.
            if let Some(parent) = self.parents.get(slot)
                && matches!(parent.request.op, Op::Read | Op::Write)
            {
                self.pools.used[pool(parent.request.op)] -= 1;
            }
            self.enter(slot);
        }
    }
}
