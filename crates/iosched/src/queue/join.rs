//! Merging: finds the request that a new one is merged with, and joins the two.
//!
//! As in Linux, the plug list of the task is searched first, then the requests in the scheduler. In the plug list,
//! current Linux looks only at the last request (`blk_attempt_plug_merge`, `block/blk-merge.c`, since 5.16; from 6.13
//! up to a fix in 6.16 at the first one), and Linux 2.6 at all, starting from the last (2.6.39, `attempt_plug_merge`,
//! `block/blk-core.c`). In the scheduler, its [`Merging`] decides.

use super::{BlockQueue, Part, Place};
use crate::{Era, Io, IoKey, Merging};
use fathom_block::{Device, Op};

/// Number of latest requests that are searched (`blk_bio_list_merge`).
const LATEST: usize = 8;

/// The end of a request at which another one joins it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Back,
    Front,
}

/// The end of `held` at which `new` is adjacent to it, if any.
fn adjacent(held: &Io, new: &Io) -> Option<End> {
    if held.op != new.op {
        None
    } else if held.end() == new.offset {
        Some(End::Back)
    } else if new.end() == held.offset {
        Some(End::Front)
    } else {
        None
    }
}

impl<D: Device> BlockQueue<D> {
    /// Finds the held request that a new one can be merged with, and at which end.
    #[inline]
    pub(super) fn partner(&self, io: &Io) -> Option<(IoKey, End)> {
        match self.config.merge && !io.fua && !self.holds_nothing() {
            true => self.search(io),
            false => None,
        }
    }

    /// Searches the plug list of the task, then the scheduler.
    #[inline(never)]
    fn search(&self, io: &Io) -> Option<(IoKey, End)> {
        let plugged = self.plug.tasks.of(io.process).iter().rev();
        let searched = match self.era {
            Era::Single => usize::MAX,
            Era::Multi => 1,
        };
        let mut plugged = plugged
            .take(searched)
            .filter_map(|&slot| self.held(IoKey(slot)));
        let here = plugged.find_map(|held| self.fits(held, io, false));
        here.or_else(|| self.partner_in_scheduler(io))
    }

    #[inline]
    fn partner_in_scheduler(&self, io: &Io) -> Option<(IoKey, End)> {
        let any = |key: Option<IoKey>| self.fits(self.held(key?)?, io, true);
        match self.merges.how {
            Merging::ByPlace => any(self.merges.mergeable.before(io))
                .or_else(|| any(self.merges.mergeable.after(io))),
            Merging::ByEnd => {
                any(self.merges.last).or_else(|| any(self.merges.mergeable.before(io)))
            }
            Merging::Latest { of_kind } => {
                let list = &self.merges.latest[usize::from(of_kind && io.op != Op::Read)];
                // An adjacent request that does not fit ends the search (`BIO_MERGE_FAILED`).
                let mut held = list.iter().rev().filter_map(|&key| self.held(key));
                let held = held.find(|held| !held.fua && adjacent(held, io).is_some())?;
                self.fits(held, io, true)
            }
        }
    }

    /// The end at which a new request can be merged with a held one: they are adjacent and allowed to become one.
    fn fits(&self, held: &Io, new: &Io, in_scheduler: bool) -> Option<(IoKey, End)> {
        let end = adjacent(held, new)?;
        let first = match end {
            End::Back => held,
            End::Front => new,
        };
        self.may_join(held, new, first, in_scheduler)
            .then_some((held.key, end))
    }

    /// Returns whether two adjacent requests may become one that begins where `first` does. The scheduler is not asked
    /// about requests in plug lists.
    fn may_join(&self, held: &Io, new: &Io, first: &Io, in_scheduler: bool) -> bool {
        // `blk_rq_merge_ok`.
        let alike = (held.class, held.priority) == (new.class, new.priority);
        // `REQ_NOMERGE_FLAGS`.
        !held.fua
            && !new.fua
            && held.placement == new.placement
            && (alike || self.era == Era::Single)
            && held.len + new.len <= self.room(held.op, first.offset)
            && (!in_scheduler || self.scheduler.may_merge(held, new))
    }

    /// Merges a new piece with a held request.
    pub(super) fn merge(&mut self, held: IoKey, end: End, io: &Io, part: Part) {
        let Some(piece) = self.pieces.get_mut(held.0) else {
            return;
        };
        let held = piece.io;
        let in_scheduler = piece.place == Place::Scheduler;
        match end {
            End::Back => {
                piece.parts.push_back(part);
                self.counts.work.back_merges += 1;
            }
            End::Front => {
                piece.parts.push_front(part);
                self.counts.work.front_merges += 1;
            }
        }
        let grown = self.grow(&held, io, held.offset.min(io.offset));
        if in_scheduler {
            self.join_neighbour(&grown, end);
        }
    }

    /// `attempt_back_merge`, `attempt_front_merge`: joins a request that has grown with its next neighbour in the
    /// scheduler if they have become adjacent.
    fn join_neighbour(&mut self, grown: &Io, end: End) {
        let [former, latter] = match self.merges.how {
            Merging::ByPlace => [
                self.merges.mergeable.before(grown),
                self.merges.mergeable.after(grown),
            ],
            Merging::ByEnd => self.scheduler.neighbours(grown.key),
            Merging::Latest { .. } => return,
        };
        let other = |key: Option<IoKey>| self.held(key?).copied();
        let pair = match end {
            End::Back => other(latter).map(|latter| (*grown, latter)),
            End::Front => other(former).map(|former| (former, *grown)),
        };
        if let Some((first, second)) = pair
            && adjacent(&first, &second) == Some(End::Back)
            && self.may_join(&first, &second, &first, true)
        {
            self.join(&first, &second);
        }
    }

    /// Merges a request from a plug list with one in the scheduler that ends where it begins; the result may then be
    /// merged with a third one (`elv_attempt_insert_merge`, `block/elevator.c`). Returns whether it was merged.
    #[inline]
    pub(super) fn merge_inserted(&mut self, slot: u32) -> bool {
        if matches!(self.merges.how, Merging::Latest { .. }) || self.scheduler.is_empty() {
            return false;
        }
        let mut merged = false;
        let mut key = IoKey(slot);
        while let Some(new) = self.held(key)
            && let Some(first) = self.merges.mergeable.before(new)
            && let Some(first) = self.held(first)
            && first.key != new.key
            && self.may_join(first, new, first, true)
        {
            let (first, new) = (*first, *new);
            key = self.join(&first, &new).key;
            merged = true;
        }
        merged
    }

    /// Joins two adjacent requests. The result takes the place of `first`.
    fn join(&mut self, first: &Io, second: &Io) -> Io {
        self.forget(second);
        let Some(gone) = self.pieces.remove(second.key.0) else {
            return *first;
        };
        if gone.place == Place::Scheduler {
            self.scheduler.remove(second);
        }
        self.pools.used[super::pool(second.op)] -= 1;
        if let Some(piece) = self.pieces.get_mut(first.key.0) {
            piece.parts.append(gone.parts);
        }
        self.counts.work.joined += 1;
        self.grow(first, second, first.offset)
    }

    #[inline]
    fn held(&self, key: IoKey) -> Option<&Io> {
        self.pieces.get(key.0).map(|piece| &piece.io)
    }

    /// Records that the scheduler holds a request that others may be merged with.
    #[inline]
    pub(super) fn note_mergeable(&mut self, io: &Io) {
        let Merging::Latest { of_kind } = self.merges.how else {
            self.merges.mergeable.insert(io);
            // `elv_insert`.
            self.merges.last.get_or_insert(io.key);
            return;
        };
        let list = &mut self.merges.latest[usize::from(of_kind && io.op != Op::Read)];
        if list.len() == LATEST {
            list.pop_front();
        }
        list.push_back(io.key);
    }

    /// Removes a request from those that others may be merged with.
    #[inline]
    pub(super) fn forget(&mut self, io: &Io) {
        if matches!(self.merges.how, Merging::Latest { .. }) {
            for list in &mut self.merges.latest {
                list.retain(|&key| key != io.key);
            }
            return;
        }
        self.merges.mergeable.remove(io);
        if self.merges.last == Some(io.key) {
            self.merges.last = None;
        }
    }

    /// Extends a held request by `new`; it begins at `offset` afterwards.
    fn grow(&mut self, held: &Io, new: &Io, offset: u64) -> Io {
        let grown = Io {
            offset,
            len: held.len + new.len,
            sync: held.sync || new.sync,
            queued: held.queued.min(new.queued),
            // `ioprio_best`.
            class: held.class.min(new.class),
            priority: held.priority.min(new.priority),
            ..*held
        };
        let Some(piece) = self.pieces.get_mut(held.key.0) else {
            return grown;
        };
        piece.io = grown;
        if piece.place == Place::Scheduler {
            if !matches!(self.merges.how, Merging::Latest { .. }) {
                self.merges.mergeable.remove(held);
                self.merges.mergeable.insert(&grown);
                self.merges.last = Some(grown.key);
            }
            self.scheduler.changed(self.time(), held, grown);
        }
        grown
    }
}
