//! The path into the queue: a request is split, and each piece is merged with a held request, plugged, or passed to the
//! scheduler.

use super::stats::above_multiple;
use super::{BlockQueue, Part, Parts, Piece, Place, pool};
use crate::{Era, Io, IoKey};
use fathom_base::Time;
use fathom_block::{Device, Op, Request};

impl<D: Device> BlockQueue<D> {
    /// Lets in a request that conflicts with no earlier one.
    pub(super) fn enter(&mut self, slot: u32) {
        let Some(parent) = self.parents.get(slot) else {
            return;
        };
        let request = &parent.request;
        let (op, tag) = (request.op, request.tag);
        if !matches!(op, Op::Read | Op::Write) {
            self.whole.push_back(slot);
            // `blk_execute_rq_nowait`.
            return self.open();
        }
        let mut io = Self::io(self.era, &self.priorities, request, parent.submitted);
        let (begin, end) = (io.offset, io.end());
        let mut pieces = 0;
        while io.offset < end {
            io.len = self.room(op, io.offset).min(end - io.offset);
            let part = Part {
                parent: slot,
                at: (io.offset - begin) as u32,
                len: io.len as u32,
            };
            self.place(&io, part);
            io.offset += io.len;
            pieces += 1;
        }
        self.counts.work.pieces += u64::from(pieces);
        // No piece has completed so far: that takes a call of `wait`.
        if pieces > 1
            && let Some(parent) = self.parents.get_mut(slot)
        {
            parent.split_into(pieces);
        }
        self.note_waiter(op, tag);
    }

    /// Returns a read or a write as a scheduler sees it, before it is split.
    fn io(era: Era, priorities: &super::Priorities, request: &Request, queued: Time) -> Io {
        let tag = request.tag;
        let priority = priorities.get(&tag.process).copied().unwrap_or_default();
        Io {
            key: IoKey(0),
            op: request.op,
            offset: request.offset,
            len: request.len,
            process: tag.process,
            class: priority.class,
            priority: priority.level,
            sync: Self::is_awaited(era, request),
            fua: tag.fua && matches!(request.op, Op::Write),
            placement: tag.placement,
            queued,
        }
    }

    /// Returns whether somebody waits for a request.
    #[inline]
    fn is_awaited(era: Era, request: &Request) -> bool {
        let tag = &request.tag;
        tag.sync || matches!(request.op, Op::Read) || (tag.direct && era == Era::Multi)
    }

    /// Returns whether there is room for a request that is not merged: in the pool of its direction under the
    /// schedulers of 2.6, in the common pool under current ones, where the scheduler may set a lower limit
    /// (`limit_depth`). Linux treats a flush neither as a write nor as asynchronous.
    pub(super) fn has_room(&self, request: &Request) -> bool {
        let all: u32 = match self.era {
            Era::Single => return self.pools.used[pool(request.op)] < self.pools.each,
            Era::Multi => self.pools.used.iter().sum(),
        };
        let limit = match request.op {
            Op::Write | Op::Trim => {
                let sync = Self::is_awaited(self.era, request);
                self.scheduler.limit(self.pools.each, sync)
            }
            _ => self.pools.each,
        };
        all < self.pools.each
            && (matches!(request.op, Op::Read) || self.pools.used[pool(request.op)] < limit)
    }

    /// Returns true if a request can be merged as a whole with a held one and therefore needs no room.
    pub(super) fn needs_no_room(&self, request: &Request) -> bool {
        let io = Self::io(self.era, &self.priorities, request, Time::ZERO);
        matches!(request.op, Op::Read | Op::Write)
            && self.room(io.op, io.offset) >= io.len
            && self.partner(&io).is_some()
    }

    /// The longest request that may begin at an offset, in bytes: a positive multiple of the drive's logical block.
    #[inline]
    pub(super) fn room(&self, op: Op, offset: u64) -> u64 {
        let block = u64::from(self.info.logical_block_bytes);
        let wanted = self.config.split.room(op, offset);
        let room = wanted
            .min(self.scheduler.room(op, offset))
            .min(self.longest);
        (room - above_multiple(room, block)).max(block)
    }

    /// Merges a piece with a held request, or adds it as a new one.
    ///
    /// Not a part of [`BlockQueue::enter`]: there, the many small fields of `io` would be moved one by one.
    #[inline(never)]
    fn place(&mut self, io: &Io, part: Part) {
        if let Some((held, end)) = self.partner(io) {
            return self.merge(held, end, io, part);
        }
        let slot = self.pieces.insert_with(|slot| Piece {
            io: Io {
                key: IoKey(slot),
                ..*io
            },
            place: Place::Plug,
            parts: Parts::new(part),
        });
        self.pools.used[pool(io.op)] += 1;
        self.add(slot, io.process);
    }
}
