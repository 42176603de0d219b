//! The way in: a request is split, its pieces are merged with what is held, plugged, and handed to the scheduler.

use super::config::BATCH_MAX;
use super::{BlockQueue, Part, Parts, Piece, Place, Plug};
use crate::{Io, IoKey};
use fathom_base::Time;
use fathom_block::{Device, Op};

/// The priority of a process of which nothing else is said: the middle of the best-effort class.
const PRIORITY: u8 = 4;

impl<D: Device> BlockQueue<D> {
    /// A request that may enter does: nothing earlier meets it.
    pub(super) fn enter(&mut self, slot: u32) {
        let Some(parent) = self.parents.get_mut(slot) else {
            return;
        };
        let (op, mut offset, end) = (
            parent.request.op,
            parent.request.offset,
            parent.request.end(),
        );
        if !matches!(op, Op::Read | Op::Write) {
            parent.left = 1;
            return self.whole.push_back(slot);
        }
        let (tag, queued) = (parent.request.tag, parent.submitted);
        let priority = self.priorities.get(&tag.process);
        let priority = priority.copied().unwrap_or(PRIORITY);
        let begin = offset;
        // Not done before its last piece is in: what is merged may not complete while this goes on.
        while offset < end {
            let len = self.room(op, offset).min(end - offset);
            let io = Io {
                key: IoKey(0),
                op,
                offset,
                len,
                process: tag.process,
                priority,
                sync: tag.sync || op == Op::Read,
                fua: tag.fua && op == Op::Write,
                queued,
            };
            let part = Part {
                parent: slot,
                at: offset - begin,
                len,
            };
            if let Some(parent) = self.parents.get_mut(slot) {
                parent.left += 1;
            }
            self.work.pieces += 1;
            self.place(io, part);
            offset += len;
        }
    }

    /// The longest request that may begin at a place: a positive multiple of the drive's logical block.
    fn room(&self, op: Op, offset: u64) -> u64 {
        let block = u64::from(self.info.logical_block_bytes);
        let wanted = self.config.split.room(op, offset);
        let room = wanted
            .min(self.scheduler.room(op, offset))
            .min(self.inner.info().max_request_bytes);
        (room - room % block).max(block)
    }

    /// A piece joins one that is held, or is held itself.
    fn place(&mut self, io: Io, part: Part) {
        if self.config.merge && (self.merge_back(&io, part) || self.merge_front(&io, part)) {
            return;
        }
        let slot = self.pieces.insert(Piece {
            io,
            place: Place::Plug,
            parts: Parts::new(part),
        });
        let io = Io {
            key: IoKey(slot),
            ..io
        };
        if let Some(piece) = self.pieces.get_mut(slot) {
            piece.io = io;
        }
        if self.config.merge {
            self.mergeable.insert(&io);
        }
        if self.is_plugged() {
            self.plug.push(slot);
        } else {
            self.hand_over(slot);
        }
    }

    /// Whether a new piece goes into the plug.
    fn is_plugged(&mut self) -> bool {
        match self.config.plug {
            Plug::Off => false,
            Plug::Batch => {
                if self.plug.len() >= BATCH_MAX {
                    self.pull_plug();
                }
                true
            }
            Plug::Timer { delay, .. } => {
                let idle = self.in_flight == 0 && self.scheduler.is_empty();
                if self.plug.is_empty() && idle {
                    self.plug_until = self.inner.now() + delay;
                    return true;
                }
                !self.plug.is_empty()
            }
        }
    }

    /// Hands over what is in the plug, where it is time: this is called when the submitter waits.
    pub(super) fn pull_plug_if_due(&mut self) {
        let due = match self.config.plug {
            Plug::Off | Plug::Batch => true,
            Plug::Timer { requests, .. } => {
                self.plug.len() >= requests as usize
                    || self.inner.now() >= self.plug_until
                    || self.plug.iter().any(|&slot| self.is_sync(slot))
            }
        };
        if due {
            self.pull_plug();
        }
    }

    fn is_sync(&self, slot: u32) -> bool {
        self.pieces.get(slot).is_some_and(|piece| piece.io.sync)
    }

    fn pull_plug(&mut self) {
        self.plug_until = Time::MAX;
        let mut plug = std::mem::take(&mut self.plug);
        for slot in plug.drain(..) {
            self.hand_over(slot);
        }
        self.plug = plug;
    }

    fn hand_over(&mut self, slot: u32) {
        if let Some(piece) = self.pieces.get_mut(slot) {
            piece.place = Place::Scheduler;
            self.scheduler.insert(self.inner.now(), piece.io);
        }
    }

    /// Whether two adjacent requests may become one that begins where `first` does.
    fn may_join(&self, held: &Io, new: &Io, first: &Io) -> bool {
        // `REQ_NOMERGE_FLAGS`.
        !held.fua
            && !new.fua
            && held.len + new.len <= self.room(held.op, first.offset)
            && self.scheduler.may_merge(held, new)
    }

    /// Joins a piece to the end of one that is held.
    fn merge_back(&mut self, io: &Io, part: Part) -> bool {
        let Some(held) = self.mergeable.before(io).and_then(|key| self.held(key)) else {
            return false;
        };
        if !self.may_join(&held, io, &held) {
            return false;
        }
        if let Some(piece) = self.pieces.get_mut(held.key.0) {
            piece.parts.push_back(part);
        }
        self.work.back_merges += 1;
        let grown = self.grow(&held, io, held.offset);
        if let Some(next) = self.mergeable.after(&grown).and_then(|key| self.held(key)) {
            self.join(&grown, &next);
        }
        true
    }

    /// Joins a piece to the beginning of one that is held.
    fn merge_front(&mut self, io: &Io, part: Part) -> bool {
        let Some(held) = self.mergeable.after(io).and_then(|key| self.held(key)) else {
            return false;
        };
        if !self.may_join(&held, io, io) {
            return false;
        }
        if let Some(piece) = self.pieces.get_mut(held.key.0) {
            piece.parts.push_front(part);
        }
        self.work.front_merges += 1;
        self.grow(&held, io, io.offset);
        true
    }

    /// Joins two that are held and have become adjacent.
    fn join(&mut self, first: &Io, second: &Io) {
        if first.key == second.key || !self.may_join(first, second, first) {
            return;
        }
        self.mergeable.remove(second);
        let Some(gone) = self.pieces.remove(second.key.0) else {
            return;
        };
        if gone.place == Place::Scheduler {
            self.scheduler.remove(second);
        } else {
            self.plug.retain(|&slot| slot != second.key.0);
        }
        if let Some(piece) = self.pieces.get_mut(first.key.0) {
            piece.parts.append(gone.parts);
        }
        self.work.joined += 1;
        self.grow(first, second, first.offset);
    }

    fn held(&self, key: IoKey) -> Option<Io> {
        self.pieces.get(key.0).map(|piece| piece.io)
    }

    /// What is held becomes longer by `new`; it begins at `offset` now.
    fn grow(&mut self, held: &Io, new: &Io, offset: u64) -> Io {
        let grown = Io {
            offset,
            len: held.len + new.len,
            sync: held.sync || new.sync,
            queued: held.queued.min(new.queued),
            priority: held.priority.min(new.priority),
            ..*held
        };
        self.mergeable.remove(held);
        self.mergeable.insert(&grown);
        if let Some(piece) = self.pieces.get_mut(held.key.0) {
            piece.io = grown;
            if piece.place == Place::Scheduler {
                self.scheduler.changed(self.inner.now(), held, grown);
            }
        }
        grown
    }
}
