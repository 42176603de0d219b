//! Victim selection: counts the valid units of every clustered block and picks the block to collect.
//!
//! *Greedy* and *cost-benefit* are the cleaning policies of Rosenblum and Ousterhout, "The Design and
//! Implementation of a Log-Structured File System" (ACM TOCS 10(1), 1992, 3.4 to 3.6), the second with the cost of
//! flash as in Kawaguchi, Nishioka and Motoda, "A Flash-Memory Based File System" (USENIX 1995, 3.4): (1 - u) x age
//! / 2u, where u is the valid share and age the time since the block last lost a unit. *FIFO* takes the block that
//! was filled first (Menon 1995; LRU cleaning in Desnoyers, SYSTOR 2012). *d-choices* takes the one with the fewest
//! valid units among d drawn with replacement (Van Houdt, SIGMETRICS 2013).
//!
//! Time is counted in units placed in the group and wraps at 2^32 of them.
//!
//! The minimum of valid units is kept for every 64 neighbouring blocks. The greedy choice among n blocks therefore
//! reads at most n / 64 + 190 numbers, and losing a unit costs one more comparison.
//!
//! The counts of a large drive do not fit into any processor cache. When a block loses a unit, the loss is noted
//! and the count is prefetched; the count is changed after some more losses. Everything that reads counts takes the
//! noted losses into account.

use crate::geometry::Geometry;
use crate::spec::{Gc, Victim};
use fathom_base::Rng;
use prefetch_index::prefetch_index;
use std::ops::Range;

/// Added to the count of valid units of a block in the table once it is a candidate for collection. So the table of a new drive is
/// zero, which costs no memory until it is written.
const SEALED: u32 = 1 << 31;
/// The rank of a block that is no candidate is at least this; that of a candidate is its count.
const NOT_SEALED: u32 = SEALED;
/// Number of neighbouring blocks whose minimum is kept.
const CHUNK: usize = 64;
/// Number of losses that are noted and not yet counted.
const LATE: usize = 8;
/// Number of draws per choice of `d-choices`, unsealed blocks included, before drawing is given up.
const DRAWS: u32 = 16;

/// Valid units of all clustered blocks: 4 bytes per block, 8 where the age of blocks counts.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    policy: Victim,
    choices: u32,
    per_group: u32,
    units: u32,
    /// Valid units of each block, with [`SEALED`].
    valid: Vec<u32>,
    /// Least rank of each [`CHUNK`] of `valid`.
    fewest: Vec<u32>,
    /// Noted losses: the number, plus one, of a block that lost a unit. A ring.
    late: [u32; LATE],
    /// Index of the oldest noted loss.
    oldest: usize,
    /// For each block, when it was filled (FIFO) or last changed (cost-benefit). Empty with other policies.
    stamps: Vec<u32>,
    /// Number of units placed in each group so far.
    clocks: Vec<u32>,
    /// For each group, the block that was drawn last and is not collected yet, plus one. Drawing again until there
    /// is room for the drawn block would favour blocks with few valid units.
    drawn: Vec<u32>,
    /// Present for `d-choices`.
    rng: Option<Rng>,
}

impl Blocks {
    /// Counts for blocks that are all erased.
    pub(super) fn new(gc: &Gc, g: &Geometry, rng: Option<Rng>) -> Self {
        let blocks = g.cblocks() as usize;
        let aged = matches!(gc.victim, Victim::Fifo | Victim::CostBenefit);
        Self {
            policy: gc.victim,
            choices: gc.choices,
            per_group: g.cblocks_per_group,
            units: g.units_per_cblock,
            valid: vec![0; blocks],
            fewest: vec![NOT_SEALED; blocks.div_ceil(CHUNK)],
            late: [0; LATE],
            oldest: 0,
            stamps: vec![0; if aged { blocks } else { 0 }],
            clocks: vec![0; g.groups as usize],
            drawn: vec![0; g.groups as usize],
            rng,
        }
    }

    /// Clears all counts, as a power cut does.
    pub(super) fn reset(&mut self) {
        self.valid.fill(0);
        self.fewest.fill(NOT_SEALED);
        self.late.fill(0);
        self.drawn.fill(0);
    }

    /// Counts new valid units in an open block.
    #[inline]
    pub(super) fn gain(&mut self, cblock: u32, group: u32, units: u32) {
        self.valid[cblock as usize] += units;
        let clock = &mut self.clocks[group as usize];
        *clock = clock.wrapping_add(units);
    }

    /// Notes that a block lost a valid unit.
    #[inline]
    pub(super) fn lose(&mut self, cblock: u32, group: u32) {
        if self.policy == Victim::CostBenefit {
            self.stamps[cblock as usize] = self.clocks[group as usize];
        }
        prefetch_index(&self.valid, cblock as usize);
        let oldest = std::mem::replace(&mut self.late[self.oldest], cblock + 1);
        self.oldest = (self.oldest + 1) % LATE;
        self.count(oldest);
    }

    /// Counts a noted loss.
    #[inline]
    fn count(&mut self, noted: u32) {
        let Some(cblock) = noted.checked_sub(1) else {
            return;
        };
        let valid = &mut self.valid[cblock as usize];
        *valid -= 1;
        let fewest = &mut self.fewest[cblock as usize / CHUNK];
        *fewest = (*fewest).min(rank(*valid));
    }

    /// Counts all noted losses.
    fn settle(&mut self) {
        for noted in std::mem::take(&mut self.late) {
            self.count(noted);
        }
    }

    /// Seals a full block: it may be collected from now on.
    pub(super) fn seal(&mut self, cblock: u32, group: u32) {
        let valid = &mut self.valid[cblock as usize];
        *valid |= SEALED;
        let fewest = &mut self.fewest[cblock as usize / CHUNK];
        *fewest = (*fewest).min(rank(*valid));
        if let Some(stamp) = self.stamps.get_mut(cblock as usize) {
            *stamp = self.clocks[group as usize];
        }
    }

    /// Marks a block that holds nothing as no candidate before it is erased.
    pub(super) fn empty(&mut self, cblock: u32) {
        self.settle();
        self.valid[cblock as usize] = 0;
        let drawn = &mut self.drawn[(cblock / self.per_group) as usize];
        if *drawn == cblock + 1 {
            *drawn = 0;
        }
        let chunk = cblock as usize / CHUNK;
        let end = self.valid.len().min((chunk + 1) * CHUNK);
        self.fewest[chunk] = least(&self.valid[chunk * CHUNK..end]);
    }

    /// Returns the number of valid units of a block.
    #[inline]
    pub(super) fn valid(&self, cblock: u32) -> u32 {
        let late = self.late.iter().filter(|&&noted| noted == cblock + 1);
        (self.valid[cblock as usize] & !SEALED) - late.count() as u32
    }

    /// Returns true if a block may be collected.
    #[inline]
    pub(super) fn is_sealed(&self, cblock: u32) -> bool {
        self.valid[cblock as usize] >= SEALED
    }

    /// Returns the block of a group to collect, if any is sealed. Only the greedy choice is certain to gain
    /// something if any block does. The other policies may pick a victim that is all valid: their models, and the
    /// cost that these predict, include such victims.
    pub(super) fn pick(&mut self, group: u32) -> Option<u32> {
        self.settle();
        match self.policy {
            Victim::Greedy => self.fewest(group),
            Victim::Fifo => self.best(group, |blocks, cblock| f64::from(blocks.age(cblock, group))),
            Victim::CostBenefit => self.best(group, |blocks, cblock| {
                let valid = f64::from(blocks.valid(cblock));
                let free = f64::from(blocks.units) - valid;
                free * (f64::from(blocks.age(cblock, group)) + 1.0) / (2.0 * valid)
            }),
            Victim::DChoices => self.drawn(group),
        }
    }

    /// Returns the sealed block of a group with the fewest valid units, the first one among equals.
    pub(super) fn fewest(&mut self, group: u32) -> Option<u32> {
        self.settle();
        let range = self.range(group);
        let whole = range.start.div_ceil(CHUNK)..range.end / CHUNK;
        if whole.is_empty() {
            return self.first_fewest(range);
        }
        let (head, tail) = (
            range.start..whole.start * CHUNK,
            whole.end * CHUNK..range.end,
        );
        let kept = self.fewest[whole.clone()].iter().copied();
        let in_whole = kept.min().unwrap_or(NOT_SEALED);
        let (in_head, in_tail) = (
            least(&self.valid[head.clone()]),
            least(&self.valid[tail.clone()]),
        );
        if in_head <= in_whole && in_head <= in_tail {
            return self.first_fewest(head);
        }
        if in_tail < in_whole {
            return self.first_fewest(tail);
        }
        let chunk = whole.start + self.fewest[whole].iter().position(|&v| v == in_whole)?;
        self.first_fewest(chunk * CHUNK..(chunk + 1) * CHUNK)
    }

    fn first_fewest(&self, range: Range<usize>) -> Option<u32> {
        let valid = &self.valid[range.clone()];
        let fewest = least(valid);
        let index = valid.iter().position(|&v| rank(v) == fewest)?;
        (fewest < NOT_SEALED).then_some((range.start + index) as u32)
    }

    fn range(&self, group: u32) -> Range<usize> {
        let first = (group * self.per_group) as usize;
        first..first + self.per_group as usize
    }

    /// Returns the number of units placed in the group since the stamp of the block.
    fn age(&self, cblock: u32, group: u32) -> u32 {
        self.clocks[group as usize].wrapping_sub(self.stamps[cblock as usize])
    }

    /// Returns the sealed block of a group with the highest score, the first one among equals.
    fn best(&self, group: u32, score: impl Fn(&Self, u32) -> f64) -> Option<u32> {
        let mut best: Option<(f64, u32)> = None;
        for cblock in self.range(group) {
            let cblock = cblock as u32;
            if !self.is_sealed(cblock) {
                continue;
            }
            let score = score(self, cblock);
            if best.is_none_or(|(highest, _)| score > highest) {
                best = Some((score, cblock));
            }
        }
        best.map(|(_, cblock)| cblock)
    }

    fn drawn(&mut self, group: u32) -> Option<u32> {
        let kept = self.drawn[group as usize].checked_sub(1);
        let cblock = kept
            .filter(|&cblock| self.is_sealed(cblock))
            .or_else(|| self.draw(group))?;
        self.drawn[group as usize] = cblock + 1;
        Some(cblock)
    }

    /// Draws blocks and returns the one with the fewest valid units, the first one among equals.
    fn draw(&mut self, group: u32) -> Option<u32> {
        let first = group * self.per_group;
        let (mut drawn, mut best): (u32, Option<u32>) = (0, None);
        for _ in 0..self.choices * DRAWS {
            let drawn_at = self.rng.as_mut()?.below(u64::from(self.per_group));
            let cblock = first + drawn_at as u32;
            if !self.is_sealed(cblock) {
                continue;
            }
            if best.is_none_or(|b| self.valid(cblock) < self.valid(b)) {
                best = Some(cblock);
            }
            drawn += 1;
            if drawn == self.choices {
                break;
            }
        }
        best
    }

    /// Checks that the counts equal `valid`, and that the kept minima are right.
    pub(super) fn check(&self, valid: &[u32]) -> Result<(), String> {
        let counted = (0..self.valid.len() as u32).map(|cblock| self.valid(cblock));
        if !counted.eq(valid.iter().copied()) {
            return Err("the counts of valid units differ from the map".into());
        }
        let sealed = |v: u32| if v < NOT_SEALED { v } else { NOT_SEALED };
        let mut minima = self.valid.chunks(CHUNK).zip(&self.fewest);
        if minima.any(|(chunk, &kept)| sealed(least(chunk)) != sealed(kept)) {
            return Err("a kept minimum of valid units is wrong".into());
        }
        Ok(())
    }

    pub(super) fn state_bytes(&self) -> usize {
        let blocks = self.valid.capacity() + self.fewest.capacity() + self.stamps.capacity();
        (blocks + self.clocks.capacity() + self.drawn.capacity()) * 4
    }
}

/// The rank of a block by its entry in the table: its count, above all candidates if it is none.
#[inline]
fn rank(entry: u32) -> u32 {
    entry ^ SEALED
}

/// The least rank of some blocks.
fn least(valid: &[u32]) -> u32 {
    let ranks = valid.iter().map(|&entry| rank(entry));
    ranks.min().unwrap_or(NOT_SEALED)
}
