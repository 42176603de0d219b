//! What a new request is merged with, and what becomes one then.
//!
//! As in Linux it is looked for in the plug list of its task, then in what the scheduler holds. In the list: today the last
//! request alone (`blk_attempt_plug_merge`, `block/blk-merge.c`, since 5.16; from 6.13 up to a fix in 6.16 the first one),
//! and of a scheduler of old all, the last first (2.6.39, `attempt_plug_merge`, `block/blk-core.c`). In the scheduler: as
//! its [`Merging`] says.

use super::{BlockQueue, Part, Place};
use crate::{Era, Io, IoKey, Merging};
use fathom_block::{Device, Op};

/// How many of the latest requests are looked at (`blk_bio_list_merge`).
const LATEST: usize = 8;

/// At which end of a request another one joins it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Back,
    Front,
}

/// At which end of `held` a request is adjacent to it, if it is.
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
    /// What a new request is merged with, and at which end.
    pub(super) fn partner(&self, io: &Io) -> Option<(Io, End)> {
        if !self.config.merge || io.fua {
            return None;
        }
        let plugged = self.plug.tasks.of(io.process).iter().rev();
        let searched = match self.era {
            Era::Single => usize::MAX,
            Era::Multi => 1,
        };
        let mut plugged = plugged
            .take(searched)
            .filter_map(|&slot| self.held(IoKey(slot)));
        let here = plugged.find_map(|held| self.fits(&held, io, false));
        here.or_else(|| self.partner_in_scheduler(io))
    }

    fn partner_in_scheduler(&self, io: &Io) -> Option<(Io, End)> {
        let any = |key: Option<IoKey>| self.fits(&self.held(key?)?, io, true);
        match self.merges.how {
            Merging::ByPlace => any(self.merges.mergeable.before(io))
                .or_else(|| any(self.merges.mergeable.after(io))),
            Merging::ByEnd => {
                any(self.merges.last).or_else(|| any(self.merges.mergeable.before(io)))
            }
            Merging::Latest { of_kind } => {
                let list = &self.merges.latest[usize::from(of_kind && io.op != Op::Read)];
                // One that is adjacent and does not fit ends the search (`BIO_MERGE_FAILED`).
                let mut held = list.iter().rev().filter_map(|&key| self.held(key));
                let held = held.find(|held| !held.fua && adjacent(held, io).is_some())?;
                self.fits(&held, io, true)
            }
        }
    }

    /// At which end a new request fits a held one: it is adjacent and both may become one.
    fn fits(&self, held: &Io, new: &Io, in_scheduler: bool) -> Option<(Io, End)> {
        let end = adjacent(held, new)?;
        let first = match end {
            End::Back => held,
            End::Front => new,
        };
        self.may_join(held, new, first, in_scheduler)
            .then_some((*held, end))
    }

    /// Whether two adjacent requests may become one that begins where `first` does. The scheduler has no say in plug lists.
    fn may_join(&self, held: &Io, new: &Io, first: &Io, in_scheduler: bool) -> bool {
        // `blk_rq_merge_ok`.
        let alike = (held.class, held.priority) == (new.class, new.priority);
        // `REQ_NOMERGE_FLAGS`.
        !held.fua
            && !new.fua
            && (alike || self.era == Era::Single)
            && held.len + new.len <= self.room(held.op, first.offset)
            && (!in_scheduler || self.scheduler.may_merge(held, new))
    }

    /// A new piece joins one that is held.
    pub(super) fn merge(&mut self, held: &Io, end: End, io: &Io, part: Part) {
        let Some(piece) = self.pieces.get_mut(held.key.0) else {
            return;
        };
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
        let grown = self.grow(held, io, held.offset.min(io.offset));
        if in_scheduler {
            self.join_neighbour(&grown, end);
        }
    }

    /// `attempt_back_merge`, `attempt_front_merge`: what has grown may reach the next request of the scheduler.
    fn join_neighbour(&mut self, grown: &Io, end: End) {
        let [former, latter] = match self.merges.how {
            Merging::ByPlace => [
                self.merges.mergeable.before(grown),
                self.merges.mergeable.after(grown),
            ],
            Merging::ByEnd => self.scheduler.neighbours(grown.key),
            Merging::Latest { .. } => return,
        };
        let other = |key: Option<IoKey>| self.held(key?);
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

    /// A request that comes from a plug list joins one that ends where it begins, and both may join a third
    /// (`elv_attempt_insert_merge`, `block/elevator.c`). Whether it did.
    pub(super) fn merge_inserted(&mut self, slot: u32) -> bool {
        if matches!(self.merges.how, Merging::Latest { .. }) {
            return false;
        }
        let mut merged = false;
        let mut second = self.held(IoKey(slot));
        while let Some(new) = second
            && let Some(first) = self
                .merges
                .mergeable
                .before(&new)
                .and_then(|key| self.held(key))
            && first.key != new.key
            && self.may_join(&first, &new, &first, true)
        {
            second = Some(self.join(&first, &new));
            merged = true;
        }
        merged
    }

    /// Two that are adjacent become one, which is where `first` was.
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

    fn held(&self, key: IoKey) -> Option<Io> {
        self.pieces.get(key.0).map(|piece| piece.io)
    }

    /// The scheduler holds a request that may grow.
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

    /// A request does not grow any more.
    pub(super) fn forget(&mut self, io: &Io) {
        self.merges.mergeable.remove(io);
        if self.merges.last == Some(io.key) {
            self.merges.last = None;
        }
        for list in &mut self.merges.latest {
            list.retain(|&key| key != io.key);
        }
    }

    /// What is held becomes longer by `new`; it begins at `offset` now.
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
            self.scheduler.changed(self.inner.now(), held, grown);
        }
        grown
    }
}
