//! The memory for writes: dirty sectors in lines of one clustered page, in order.
//!
//! FIFO buffer: a line is joined only while it is the newest. LRU cache: any line is joined and becomes the
//! newest. Without a buffer the same structure is the staging memory of the controller, of any size, and a line
//! is never joined. Lines that are being programmed have left the order but still take room.

use crate::spec::WritePolicy;
use rustc_hash::FxHashMap;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Line {
    /// Which clustered page of the host's address space.
    cline: u32,
    older: u32,
    newer: u32,
    /// The line of the same `cline` that was newest before this one.
    covered: u32,
    /// When it became dirty, by the count of insertions.
    since: u64,
    dirty: u32,
    owner: u32,
}

/// A line as the engine sees it. `mask` has a bit for every dirty sector.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineView {
    pub(crate) id: u32,
    pub(crate) cline: u32,
    pub(crate) dirty: u32,
    pub(crate) owner: u32,
    pub(crate) mask: Vec<u64>,
}

impl LineView {
    /// Whether a sector of the clustered page is dirty.
    #[inline]
    pub(crate) fn holds(&self, sector: u32) -> bool {
        self.mask[(sector / 64) as usize] >> (sector % 64) & 1 == 1
    }
}

/// A piece of a write that has arrived: sectors of one clustered page, and those for which room was set aside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) cline: u32,
    pub(crate) first: u32,
    pub(crate) sectors: u32,
    pub(crate) reserved: u32,
    pub(crate) owner: u32,
}

/// Dirty lines.
#[derive(Clone, Debug)]
pub(crate) struct WriteLines {
    joins_any: bool,
    joins_newest: bool,
    capacity: u64,
    used: u64,
    reserved: u64,
    words: usize,
    lines: Vec<Line>,
    masks: Vec<u64>,
    unused: Vec<u32>,
    oldest: u32,
    newest: u32,
    insertions: u64,
    by_cline: FxHashMap<u32, u32>,
}

impl WriteLines {
    /// `policy` is `None` for a drive without a write buffer.
    pub(crate) fn new(
        policy: Option<WritePolicy>,
        capacity_sectors: u64,
        sectors_per_line: u32,
    ) -> Self {
        Self {
            joins_any: policy == Some(WritePolicy::Lru),
            joins_newest: policy.is_some(),
            capacity: capacity_sectors,
            used: 0,
            reserved: 0,
            words: (sectors_per_line as usize).div_ceil(64),
            lines: Vec::new(),
            masks: Vec::new(),
            unused: Vec::new(),
            oldest: NONE,
            newest: NONE,
            insertions: 0,
            by_cline: FxHashMap::default(),
        }
    }

    /// Whether no line waits to be programmed.
    pub(crate) fn is_empty(&self) -> bool {
        self.oldest == NONE
    }

    /// Whether only one line waits.
    pub(crate) fn has_one_line(&self) -> bool {
        self.oldest == self.newest
    }

    /// Counts insertions: the mark up to which a flush drains.
    pub(crate) fn insertions(&self) -> u64 {
        self.insertions
    }

    /// Whether the oldest line became dirty at or before `mark`. Lines that are due are never moved, so that
    /// all of them stand in front.
    pub(crate) fn oldest_is_due(&self, mark: u64) -> bool {
        self.oldest != NONE && self.lines[self.oldest as usize].since <= mark
    }

    /// Whether a line became dirty at or before `mark`.
    pub(crate) fn is_due(&self, id: u32, mark: u64) -> bool {
        self.lines[id as usize].since <= mark
    }

    /// Whether a second write to a line replaces the first.
    pub(crate) fn is_cache(&self) -> bool {
        self.joins_any
    }

    /// The line to leave first.
    pub(crate) fn oldest(&self) -> Option<u32> {
        Some(self.oldest).filter(|&id| id != NONE)
    }

    /// The line that may still grow.
    pub(crate) fn newest(&self) -> Option<u32> {
        Some(self.newest).filter(|&id| id != NONE)
    }

    /// The line after `id`.
    pub(crate) fn newer(&self, id: u32) -> Option<u32> {
        Some(self.lines[id as usize].newer).filter(|&id| id != NONE)
    }

    /// Sectors that a write of `sectors` from `first` on would add to what is dirty.
    pub(crate) fn growth(&self, cline: u32, first: u32, sectors: u32) -> u32 {
        let id = self.joinable(cline);
        if id == NONE {
            sectors
        } else {
            sectors - self.overlap(id, first, sectors)
        }
    }

    /// Sets room aside; false where there is not enough.
    #[inline]
    pub(crate) fn reserve(&mut self, sectors: u32) -> bool {
        // A piece that is larger than the buffer goes through it when it is empty.
        let fits = self.used + self.reserved + u64::from(sectors) <= self.capacity;
        let empty = self.used + self.reserved == 0;
        if fits || empty {
            self.reserved += u64::from(sectors);
        }
        fits || empty
    }

    /// Room that is taken or set aside, in sectors.
    pub(crate) fn occupied(&self) -> u64 {
        self.used + self.reserved
    }

    /// Capacity in sectors.
    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Gives room back: `sectors` are programmed.
    #[inline]
    pub(crate) fn release(&mut self, sectors: u32) {
        self.used = self.used.saturating_sub(u64::from(sectors));
    }

    fn joinable(&self, cline: u32) -> u32 {
        if self.joins_any {
            return self.by_cline.get(&cline).copied().unwrap_or(NONE);
        }
        let newest = self.newest;
        let joins =
            self.joins_newest && newest != NONE && self.lines[newest as usize].cline == cline;
        if joins { newest } else { NONE }
    }

    fn overlap(&self, id: u32, first: u32, sectors: u32) -> u32 {
        (0..self.words)
            .map(|w| {
                (self.masks[id as usize * self.words + w] & span(w, first, sectors)).count_ones()
            })
            .sum()
    }

    /// Data has arrived; gives the line that holds it. A cache moves the line to the newest place unless it is
    /// due (dirty since `due_mark` or earlier).
    pub(crate) fn insert(&mut self, piece: Piece, due_mark: u64) -> u32 {
        let Piece {
            cline,
            first,
            sectors,
            ..
        } = piece;
        self.insertions += 1;
        self.reserved -= u64::from(piece.reserved);
        let mut id = self.joinable(cline);
        if id == NONE {
            id = self.open(cline, piece.owner);
        } else if self.joins_any && self.lines[id as usize].since > due_mark {
            self.unlink(id);
            self.link(id);
        }
        let new = sectors - self.overlap(id, first, sectors);
        for w in 0..self.words {
            self.masks[id as usize * self.words + w] |= span(w, first, sectors);
        }
        self.lines[id as usize].dirty += new;
        self.used += u64::from(new);
        id
    }

    fn open(&mut self, cline: u32, owner: u32) -> u32 {
        let line = Line {
            cline,
            older: NONE,
            newer: NONE,
            covered: NONE,
            since: self.insertions,
            dirty: 0,
            owner,
        };
        let id = match self.unused.pop() {
            Some(id) => id,
            None => {
                self.lines.push(line);
                self.masks.resize(self.lines.len() * self.words, 0);
                (self.lines.len() - 1) as u32
            }
        };
        let covered = self.by_cline.insert(cline, id).unwrap_or(NONE);
        self.lines[id as usize] = Line { covered, ..line };
        self.masks[id as usize * self.words..(id as usize + 1) * self.words].fill(0);
        self.link(id);
        id
    }

    fn link(&mut self, id: u32) {
        let newest = std::mem::replace(&mut self.newest, id);
        (self.lines[id as usize].older, self.lines[id as usize].newer) = (newest, NONE);
        if newest == NONE {
            self.oldest = id;
        } else {
            self.lines[newest as usize].newer = id;
        }
    }

    fn unlink(&mut self, id: u32) {
        let Line { older, newer, .. } = self.lines[id as usize];
        match older {
            NONE => self.oldest = newer,
            _ => self.lines[older as usize].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            _ => self.lines[newer as usize].older = older,
        }
    }

    /// What a line holds.
    pub(crate) fn view(&self, id: u32, into: &mut LineView) {
        let line = self.lines[id as usize];
        (into.id, into.cline, into.dirty, into.owner) = (id, line.cline, line.dirty, line.owner);
        let at = id as usize * self.words;
        into.mask.clear();
        into.mask
            .extend_from_slice(&self.masks[at..at + self.words]);
    }

    /// What a line of this piece alone would hold.
    pub(crate) fn view_of(&self, piece: Piece, into: &mut LineView) {
        (into.id, into.cline, into.owner) = (NONE, piece.cline, piece.owner);
        into.dirty = piece.sectors;
        into.mask.clear();
        let words = (0..self.words).map(|w| span(w, piece.first, piece.sectors));
        into.mask.extend(words);
    }

    /// A piece went on without a line; its sectors take room until [`WriteLines::release`].
    #[inline]
    pub(crate) fn pass(&mut self, piece: Piece) {
        self.reserved -= u64::from(piece.reserved);
        self.used += u64::from(piece.sectors);
    }

    /// A line leaves the order; its sectors keep their room until [`WriteLines::release`].
    pub(crate) fn remove(&mut self, id: u32) {
        self.unlink(id);
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
    }

    /// Lines of a clustered page, newest first.
    pub(crate) fn lines_of(&self, cline: u32) -> impl Iterator<Item = u32> + '_ {
        let first = self.by_cline.get(&cline).copied();
        std::iter::successors(first, |&id| {
            Some(self.lines[id as usize].covered).filter(|&c| c != NONE)
        })
    }

    /// Whether any line of a clustered page holds a sector dirty.
    pub(crate) fn holds(&self, cline: u32, sector: u32) -> bool {
        self.lines_of(cline).any(|id| self.line_holds(id, sector))
    }

    /// Whether a line holds a sector dirty.
    pub(crate) fn line_holds(&self, id: u32, sector: u32) -> bool {
        self.masks[id as usize * self.words + (sector / 64) as usize] >> (sector % 64) & 1 == 1
    }

    /// Forgets sectors of a clustered page: they were trimmed. Gives the owners of the lines that had no others.
    pub(crate) fn discard(&mut self, cline: u32, first: u32, sectors: u32) -> Vec<u32> {
        let ids: Vec<u32> = self.lines_of(cline).collect();
        let mut owners = Vec::new();
        for id in ids {
            let gone = self.overlap(id, first, sectors);
            for w in 0..self.words {
                self.masks[id as usize * self.words + w] &= !span(w, first, sectors);
            }
            self.lines[id as usize].dirty -= gone;
            self.used -= u64::from(gone);
            if self.lines[id as usize].dirty == 0 {
                owners.push(self.lines[id as usize].owner);
                self.remove(id);
            }
        }
        owners
    }

    /// Every line in order of age, and an empty buffer: what a battery saves at a power cut.
    pub(crate) fn drain_all(&mut self) -> Vec<LineView> {
        let mut all = Vec::new();
        while let Some(id) = self.oldest() {
            let mut line = LineView::default();
            self.view(id, &mut line);
            self.remove(id);
            all.push(line);
        }
        (self.used, self.reserved) = (0, 0);
        all
    }
}

/// The bits of word `w` that lie in `first..first + sectors`.
#[inline]
fn span(w: usize, first: u32, sectors: u32) -> u64 {
    let base = w as u32 * 64;
    let (from, to) = (first.max(base), (first + sectors).min(base + 64));
    if from >= to {
        return 0;
    }
    let n = to - from;
    let ones = if n == 64 { u64::MAX } else { (1u64 << n) - 1 };
    ones << (from - base)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(cline: u32) -> Piece {
        Piece {
            cline,
            first: 0,
            sectors: 1,
            reserved: 0,
            owner: NONE,
        }
    }

    fn order(lines: &WriteLines) -> Vec<u32> {
        let ids = std::iter::successors(lines.oldest(), |&id| lines.newer(id));
        ids.map(|id| lines.lines[id as usize].cline).collect()
    }

    #[test]
    fn a_cache_moves_a_line_that_is_written_again_unless_it_is_due() {
        let mut lines = WriteLines::new(Some(WritePolicy::Lru), 100, 8);
        for cline in [1, 2, 3] {
            lines.insert(piece(cline), 0);
        }
        lines.insert(piece(1), 0);
        assert_eq!(order(&lines), [2, 3, 1]);
        // A flush: all three are due. What is written from now on stands behind them.
        let mark = lines.insertions();
        for cline in [4, 2, 3] {
            lines.insert(piece(cline), mark);
        }
        assert_eq!(order(&lines), [2, 3, 1, 4]);
        for _ in 0..3 {
            assert!(lines.oldest_is_due(mark));
            let oldest = lines.oldest().unwrap();
            lines.remove(oldest);
        }
        assert!(!lines.oldest_is_due(mark) && !lines.is_empty());
    }

    #[test]
    fn a_buffer_joins_the_newest_line_only() {
        let mut lines = WriteLines::new(Some(WritePolicy::Fifo), 100, 8);
        for cline in [1, 1, 2, 1] {
            lines.insert(piece(cline), 0);
        }
        assert_eq!(order(&lines), [1, 2, 1]);
        assert_eq!((lines.occupied(), lines.lines_of(1).count()), (3, 2));
    }
}
