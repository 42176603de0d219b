//! The write buffer: dirty sectors in lines of one clustered page each, in order of age.
//!
//! A FIFO buffer joins a write only to the newest line. A cache joins a write to any line of the same clustered page,
//! which becomes the newest. Without a buffer, the same structure is the staging memory of the controller, without a
//! limit of size, and a write never joins a line. Lines that are being programmed have left the order but still take
//! room.
//!
//! Lines that a flush waits for leave in order of age. To make room, the oldest line leaves, unless the policy has an
//! order of its own ([`super::policy`]). Then the policy chooses the lines, which may leave together.

mod leave;
mod parked;
mod parts;
mod room;

#[cfg(test)]
mod tests;

pub(crate) use parts::{LineSetup, LineView, Out, Piece};

use super::masks::Masks;
use super::{AnyPolicy, WritePolicy};
use fathom_base::links::{Links, List, NONE};
use parts::{Line, Parked, Room, Together};
use rustc_hash::FxHashMap;

/// The dirty lines of a write buffer.
#[derive(Clone, Debug)]
pub(crate) struct WriteLines {
    joins_any: bool,
    joins_newest: bool,
    room: Room,
    lines: Vec<Line>,
    masks: Masks,
    unused: Vec<u32>,
    links: Links,
    age: List,
    insertions: u64,
    by_cline: FxHashMap<u32, u32>,
    /// `None` if lines leave in order of age.
    policy: Option<AnyPolicy>,
    request: u64,
    together: Together,
    parked: Parked,
}

impl WriteLines {
    /// Creates a buffer that evicts in order of age with `no-cache`, FIFO and LRU, because the lines are kept in that
    /// order anyway. Other policies choose themselves.
    pub(crate) fn new(setup: &LineSetup) -> Self {
        let by_age = matches!(
            setup.policy,
            WritePolicy::NoCache | WritePolicy::Fifo | WritePolicy::Lru
        );
        let lines = Self::by_request(setup);
        let policy = lines.policy.filter(|_| !by_age);
        Self { policy, ..lines }
    }

    /// Creates a buffer in which the policy always chooses. FIFO and LRU then evict all lines left of a request
    /// together.
    pub(super) fn by_request(setup: &LineSetup) -> Self {
        Self {
            joins_any: setup.policy.is_cache(),
            joins_newest: setup.combine && setup.policy != WritePolicy::NoCache,
            room: Room::new(setup.capacity_sectors),
            lines: Vec::new(),
            masks: Masks::new(setup.sectors_per_line),
            unused: Vec::new(),
            links: Links::default(),
            age: List::default(),
            insertions: 0,
            by_cline: FxHashMap::default(),
            policy: Some(AnyPolicy::new(setup.policy, &setup.shape)),
            request: 0,
            together: Together::new(setup.shape.block_pages, setup.clines),
            parked: Parked::default(),
        }
    }

    /// Returns true if no line waits to be programmed.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.age.is_empty()
    }

    /// Returns true if at most one line waits.
    pub(crate) fn has_one_line(&self) -> bool {
        self.age.oldest == self.age.newest
    }

    /// Returns the number of insertions so far. A flush drains the lines up to such a mark.
    pub(crate) fn insertions(&self) -> u64 {
        self.insertions
    }

    /// Returns true if the oldest line became dirty at or before `mark`. Lines that are due are never moved, so all of
    /// them are in front.
    pub(crate) fn oldest_is_due(&self, mark: u64) -> bool {
        !self.is_empty() && self.is_due(self.age.oldest, mark)
    }

    /// Returns true if a line became dirty at or before `mark`.
    pub(crate) fn is_due(&self, id: u32, mark: u64) -> bool {
        self.lines[id as usize].since <= mark
    }

    /// Returns true if a second write to a line replaces the first.
    pub(crate) fn is_cache(&self) -> bool {
        self.joins_any
    }

    /// Returns the newest line. In a FIFO buffer only this line can still grow.
    pub(crate) fn newest(&self) -> Option<u32> {
        Some(self.age.newest).filter(|&id| id != NONE)
    }

    /// Returns the number of sectors that a write of `sectors` from `first` on would add to the dirty ones.
    #[inline(always)]
    pub(crate) fn growth(&self, cline: u32, first: u32, sectors: u32) -> u32 {
        let id = self.joinable(cline);
        if id == NONE {
            sectors
        } else {
            sectors - self.masks.count(id, first, sectors)
        }
    }

    /// Returns the line that a write to a clustered page would join, or [`NONE`].
    #[inline]
    fn joinable(&self, cline: u32) -> u32 {
        if self.joins_any {
            return self.by_cline.get(&cline).copied().unwrap_or(NONE);
        }
        let newest = self.age.newest;
        let joins =
            self.joins_newest && newest != NONE && self.lines[newest as usize].cline == cline;
        if joins { newest } else { NONE }
    }

    /// Inserts data that has arrived and returns the line that holds it. A cache moves the line to the newest place,
    /// unless the line is due (dirty since `due_mark` or earlier).
    pub(crate) fn insert(&mut self, piece: Piece, due_mark: u64) -> u32 {
        let Piece {
            cline,
            first,
            sectors,
            ..
        } = piece;
        self.insertions += 1;
        self.room.reserved -= u64::from(piece.reserved);
        let mut id = self.joinable(cline);
        if id == NONE {
            id = self.open(cline, piece.owner);
        } else {
            if self.joins_any && self.lines[id as usize].since > due_mark {
                self.links.renew(&mut self.age, id);
            }
            if let Some(policy) = &mut self.policy
                && !self.lines[id as usize].parked
            {
                policy.touch(id, cline, self.request);
            }
        }
        let new = sectors - self.masks.count(id, first, sectors);
        self.masks.set(id, first, sectors);
        let line = &mut self.lines[id as usize];
        line.dirty += new;
        if line.parked {
            self.parked.sectors += u64::from(new);
        }
        self.room.used += u64::from(new);
        id
    }

    fn open(&mut self, cline: u32, owner: u32) -> u32 {
        let line = Line {
            cline,
            covered: NONE,
            since: self.insertions,
            dirty: 0,
            owner,
            parked: false,
        };
        let id = match self.unused.pop() {
            Some(id) => id,
            None => {
                self.lines.push(line);
                (self.lines.len() - 1) as u32
            }
        };
        let covered = self.by_cline.insert(cline, id).unwrap_or(NONE);
        self.lines[id as usize] = Line { covered, ..line };
        self.masks.open(id);
        self.links.append(&mut self.age, id);
        if let Some(policy) = &mut self.policy {
            policy.insert(id, cline, self.request);
        }
        id
    }

    /// Fills in the view of a line that would consist of this piece alone.
    pub(crate) fn view_of(&self, piece: Piece, into: &mut LineView) {
        (into.id, into.cline, into.owner) = (NONE, piece.cline, piece.owner);
        (into.dirty, into.whole) = (piece.sectors, false);
        self.masks.range(piece.first, piece.sectors, &mut into.mask);
    }

    /// Takes a line out of the order. Its sectors keep their room until [`WriteLines::release`].
    fn remove(&mut self, id: u32) {
        self.links.detach(&mut self.age, id);
        let Line { cline, covered, .. } = self.lines[id as usize];
        let newest = self.by_cline.get(&cline).copied().unwrap_or(NONE);
        if newest == id {
            match covered {
                NONE => self.by_cline.remove(&cline),
                _ => self.by_cline.insert(cline, covered),
            };
        } else {
            let mut above = newest;
            while self.lines[above as usize].covered != id {
                above = self.lines[above as usize].covered;
            }
            self.lines[above as usize].covered = covered;
        }
        self.unused.push(id);
        let line = self.lines[id as usize];
        if line.parked {
            self.parked.lines -= 1;
            self.parked.sectors -= u64::from(line.dirty);
        } else if let Some(policy) = &mut self.policy {
            policy.remove(id);
        }
    }

    /// Iterates over the lines of a clustered page, newest first.
    pub(crate) fn lines_of(&self, cline: u32) -> impl Iterator<Item = u32> + '_ {
        let first = self.by_cline.get(&cline).copied();
        std::iter::successors(first, |&id| {
            Some(self.lines[id as usize].covered).filter(|&c| c != NONE)
        })
    }

    /// Returns true if a sector is dirty in any line of a clustered page.
    pub(crate) fn holds(&self, cline: u32, sector: u32) -> bool {
        self.lines_of(cline).any(|id| self.line_holds(id, sector))
    }

    /// Returns true if a sector is dirty in a line.
    pub(crate) fn line_holds(&self, id: u32, sector: u32) -> bool {
        self.masks.holds(id, sector)
    }

    /// Discards trimmed sectors of a clustered page. Returns the owners of the lines that have no other sectors and are
    /// removed.
    pub(crate) fn discard(&mut self, cline: u32, first: u32, sectors: u32) -> Vec<u32> {
        let ids: Vec<u32> = self.lines_of(cline).collect();
        let mut owners = Vec::new();
        for id in ids {
            let gone = self.masks.count(id, first, sectors);
            self.masks.clear(id, first, sectors);
            let line = &mut self.lines[id as usize];
            line.dirty -= gone;
            self.room.used -= u64::from(gone);
            if line.parked {
                self.parked.sectors -= u64::from(gone);
            }
            if line.dirty == 0 {
                owners.push(line.owner);
                self.remove(id);
            }
        }
        owners
    }
}
