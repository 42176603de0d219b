//! Replacement-block mapping: NFTL (Ban, US patent 5,937,425, 1999; as in the Linux driver `nftlcore.c`).
//!
//! A data block holds its units in order, and so does every replacement block in the chain behind it: a unit keeps
//! its offset. A write goes into the first block of the chain where the offset of the unit was not written yet. The
//! newest version of a unit is the one in the last block of the chain that has it. If no block has room, the chain
//! gets one more. The data blocks of a group share a limited number of replacement blocks (`log_blocks`). When they
//! are used up, the longest chain of the group is folded, among equals the least recently written one.
//!
//! A clustered page that cannot be programmed again counts as written at all its offsets, so that its other units
//! go into the next block. One program then also covers the units between those that are written, and counts their
//! sectors. The pages of a block are programmed in any order, which flash of the time of this mapping allowed. A
//! real drive finds the newest version by reading spare areas along the chain; the model knows it, and this reading
//! takes no time. Folding is in `fold`, recovery after a power cut in `recovery`.

mod fold;
mod recovery;
#[cfg(test)]
mod tests;

use super::config::LOG_BLOCKS;
use super::contract::{FlashOp, Ftl, MergeCounts, NO_CBLOCK, Stall};
use crate::geometry::Geometry;
use crate::nand::store::Store;
use crate::spec::Spec;
use fathom_base::{About, Lpn, Ppn, Rng, keys};
use std::collections::VecDeque;

/// Maximum number of replacement blocks of one data block. The patent gives no number. Each further block makes
/// reading longer, in exchange for a later fold.
const REPLACEMENTS_MAX: usize = 4;
/// Maximum number of blocks of a chain, the data block included.
const CHAIN_MAX: usize = REPLACEMENTS_MAX + 1;
/// In `newest`: the unit has no data.
const NOWHERE: u8 = u8::MAX;

/// A data block that has replacement blocks.
#[derive(Clone, Copy, Debug)]
struct Chained {
    lbn: u32,
    last_write: u64,
    /// Number of units written to the last block of the chain.
    in_last: u32,
}

/// The contents of the spare area of a clustered block. Birth numbers are unique and never 0.
#[derive(Clone, Copy, Debug, Default)]
struct Origin {
    birth: u64,
    /// Birth of the block before it in its chain. For a block that a full merge fills: birth of the last block of
    /// the chain that it replaces. 0 if there is none.
    before: u64,
    /// Birth of the first block of that chain.
    head: u64,
    /// True if a full merge fills the block.
    merged: bool,
}

/// The state of a drive with replacement blocks: two bytes per unit, and five block numbers per data block.
#[derive(Clone, Debug)]
pub(crate) struct ReplacementFtl {
    g: Geometry,
    partial_program: bool,
    per_group: u32,
    /// The blocks of the chain of every data block, in order.
    chains: Vec<[u32; CHAIN_MAX]>,
    /// For every unit, the number of blocks of its chain, counted from the first, in which its offset is written.
    written: Vec<u8>,
    /// For every unit, the index in its chain of the block with its newest version, or [`NOWHERE`].
    newest: Vec<u8>,
    /// The data blocks with replacement blocks, by group.
    chained: Vec<Vec<Chained>>,
    free: Vec<VecDeque<u32>>,
    /// Number of retired blocks in each group.
    retired: Vec<u32>,
    origins: Vec<Origin>,
    clock: u64,
    merges: MergeCounts,
}

impl ReplacementFtl {
    fn empty(g: &Geometry, partial_program: bool, per_group: u32) -> Self {
        let free = (0..g.groups)
            .map(|i| (i * g.cblocks_per_group..(i + 1) * g.cblocks_per_group).collect());
        Self {
            partial_program,
            per_group,
            chains: vec![[NO_CBLOCK; CHAIN_MAX]; g.logical_cblocks as usize],
            written: vec![0; g.logical_units as usize],
            newest: vec![NOWHERE; g.logical_units as usize],
            chained: vec![Vec::new(); g.groups as usize],
            free: free.collect(),
            retired: vec![0; g.groups as usize],
            origins: vec![Origin::default(); g.cblocks() as usize],
            clock: 0,
            merges: MergeCounts::default(),
            g: g.clone(),
        }
    }

    #[inline]
    fn group_of(&self, lbn: u32) -> usize {
        (lbn % self.g.groups) as usize
    }

    /// Returns the units of a data block.
    fn units_of(&self, lbn: u32) -> std::ops::Range<usize> {
        let first = (lbn * self.g.units_per_cblock) as usize;
        first..first + self.g.units_per_cblock as usize
    }

    /// Returns the number of blocks in the chain of a data block, itself included.
    #[inline]
    fn length(&self, lbn: u32) -> usize {
        let chain = &self.chains[lbn as usize];
        chain.iter().take_while(|&&b| b != NO_CBLOCK).count()
    }

    fn birth(&self, cblock: u32) -> u64 {
        self.origins
            .get(cblock as usize)
            .map_or(0, |origin| origin.birth)
    }

    fn chained(&mut self, lbn: u32) -> Option<&mut Chained> {
        let group = self.group_of(lbn);
        self.chained[group].iter_mut().find(|at| at.lbn == lbn)
    }

    /// Returns the number of replacement blocks in use in a group.
    fn replacements(&self, group: usize) -> u32 {
        let chains = self.chained[group].iter();
        chains.map(|at| self.length(at.lbn) as u32 - 1).sum()
    }

    /// Takes an erased block for the chain of a data block, or to merge that chain into.
    fn take_free(&mut self, lbn: u32, merged: bool, ops: &mut Vec<FlashOp>) -> Result<u32, Stall> {
        let group = self.group_of(lbn);
        let cblock = self.free[group].pop_front().ok_or(Stall)?;
        let chain = self.chains[lbn as usize];
        let last = self.length(lbn).checked_sub(1);
        self.clock += 1;
        self.origins[cblock as usize] = Origin {
            birth: self.clock,
            before: last.map_or(0, |last| self.birth(chain[last])),
            head: last.map_or(0, |_| self.birth(chain[0])),
            merged,
        };
        ops.push(FlashOp::Barrier { cblock });
        Ok(cblock)
    }

    /// Makes sure that each of these units of a data block has a place.
    fn make_room(
        &mut self,
        lbn: u32,
        runs: &[(Lpn, u32)],
        ops: &mut Vec<FlashOp>,
    ) -> Result<(), Stall> {
        loop {
            let length = self.length(lbn);
            let units = runs.iter().flat_map(|&(lpn, n)| lpn.0..lpn.0 + n);
            let deepest = units.map(|lpn| self.written[lpn as usize]).max();
            if deepest.is_none_or(|deepest| usize::from(deepest) < length) {
                return Ok(());
            }
            let group = self.group_of(lbn);
            if length == CHAIN_MAX {
                self.fold(lbn, ops)?;
            } else if length > 0 && self.replacements(group) >= self.per_group {
                let longest = self.longest(group).ok_or(Stall)?;
                self.fold(longest, ops)?;
            } else {
                let cblock = self.take_free(lbn, false, ops)?;
                self.extend(lbn, cblock);
            }
        }
    }

    /// Returns the longest chain of a group, the least recently written one among equals.
    fn longest(&self, group: usize) -> Option<u32> {
        let chains = self.chained[group].iter();
        let longest = chains.max_by_key(|at| (self.length(at.lbn), u64::MAX - at.last_write));
        longest.map(|at| at.lbn)
    }

    /// Appends a block to a chain.
    fn extend(&mut self, lbn: u32, cblock: u32) {
        let length = self.length(lbn);
        self.chains[lbn as usize][length] = cblock;
        let last_write = self.clock;
        match self.chained(lbn) {
            Some(at) => at.in_last = 0,
            None if length > 0 => {
                let group = self.group_of(lbn);
                self.chained[group].push(Chained {
                    lbn,
                    last_write,
                    in_last: 0,
                });
            }
            None => {}
        }
    }

    /// Places a unit for which there is room. Returns its place, and whether it is in the last block of a chain
    /// with replacement blocks.
    fn place(&mut self, lpn: u32, length: usize) -> (u32, bool) {
        let per_block = self.g.units_per_cblock;
        let index = usize::from(self.written[lpn as usize]);
        self.newest[lpn as usize] = index as u8;
        let cblock = self.chains[(lpn / per_block) as usize][index];
        let place = cblock * per_block + lpn % per_block;
        (place, length > 1 && index == length - 1)
    }

    /// Marks the offsets of these units as written, and also the other offsets of their pages where pages cannot be
    /// programmed again.
    fn use_up(&mut self, runs: &[(Lpn, u32)]) {
        let page = self.g.units_per_cpage;
        for &(lpn, n) in runs {
            for lpn in lpn.0..lpn.0 + n {
                let depth = self.newest[lpn as usize] + 1;
                if self.partial_program {
                    self.written[lpn as usize] = depth;
                } else {
                    let first = (lpn / page * page) as usize;
                    self.written[first..first + page as usize].fill(depth);
                }
            }
        }
    }

    /// Places units for which there is room.
    fn put(&mut self, lbn: u32, runs: &[(Lpn, u32)], ops: &mut Vec<FlashOp>) {
        let length = self.length(lbn);
        let mut in_last = 0;
        let mut span: Option<(u32, u32)> = None;
        for lpn in runs.iter().flat_map(|&(lpn, n)| lpn.0..lpn.0 + n) {
            let (place, is_last) = self.place(lpn, length);
            in_last += u32::from(is_last);
            let page = |place: u32| self.g.cpage_of_unit(place).0;
            match &mut span {
                Some((first, end))
                    if page(*first) == page(place)
                        && (*end == place || (!self.partial_program && *end < place)) =>
                {
                    *end = place + 1;
                }
                _ => emit_span(span.replace((place, place + 1)), ops),
            }
        }
        emit_span(span, ops);
        self.use_up(runs);
        self.clock += 1;
        let (clock, all) = (self.clock, self.g.units_per_cblock);
        let complete = self.chained(lbn).is_some_and(|at| {
            at.last_write = clock;
            at.in_last += in_last;
            at.in_last == all
        });
        if complete {
            // Needs no free block, so it cannot stall.
            let _ = self.fold(lbn, ops);
        }
    }
}

/// Emits the program of a span of places within one clustered page.
fn emit_span(span: Option<(u32, u32)>, ops: &mut Vec<FlashOp>) {
    if let Some((first, end)) = span {
        ops.push(FlashOp::Program {
            at: Ppn(first),
            units: end - first,
        });
    }
}

keys! {
    /// `[mapping]` of `replacement`.
    pub struct Config {
        /// Log blocks of the drive, 1 to 65536: each is in the chain of one data block.
        pub(super) log_blocks: u32 = LOG_BLOCKS,
        /// Whether the rest of a partly filled clustered page can be programmed later; otherwise it is lost.
        pub(super) partial_program: bool = false,
    }
}

impl Ftl for ReplacementFtl {
    const ABOUT: About = About::new("block mapping with chains of replacement blocks in unit order (NFTL)").text(
        "A write to a unit goes to the same offset in the first block of its chain where that offset is free. A chain that \
is too long is folded into one block (Ban, US patent 5,937,425).",
    ).keys(Config::KEYS);
    type Config = Config;

    fn new(config: Config, spec: &Spec, g: &Geometry, _rng: Option<Rng>) -> Self {
        let per_group = spec.logs_per_group(config.log_blocks, g.groups);
        Self::empty(g, config.partial_program, per_group)
    }

    #[inline]
    fn lookup(&self, lpn: Lpn) -> Ppn {
        let newest = self.newest[lpn.index()];
        if newest == NOWHERE {
            return Ppn::NONE;
        }
        let per_block = self.g.units_per_cblock;
        let cblock = self.chains[(lpn.0 / per_block) as usize][usize::from(newest)];
        Ppn(cblock * per_block + lpn.0 % per_block)
    }

    fn write(&mut self, runs: &[(Lpn, u32)], ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        // A batch lies within one data block.
        let Some(&(first, _)) = runs.first() else {
            return Ok(());
        };
        let lbn = first.0 / self.g.units_per_cblock;
        self.make_room(lbn, runs, ops)?;
        self.put(lbn, runs, ops);
        Ok(())
    }

    fn trim(&mut self, lpn: Lpn, units: u32, ops: &mut Vec<FlashOp>) {
        let per_block = self.g.units_per_cblock;
        self.newest[lpn.index()..(lpn.0 + units) as usize].fill(NOWHERE);
        for lbn in lpn.0.div_ceil(per_block)..(lpn.0 + units) / per_block {
            self.shorten(lbn, NO_CBLOCK, ops);
            let units = self.units_of(lbn);
            self.written[units].fill(0);
        }
    }

    fn erased(&mut self, cblock: u32) {
        self.free[self.g.group_of_cblock(cblock) as usize].push_back(cblock);
    }

    fn retire(&mut self, cblock: u32) -> bool {
        let group = self.g.group_of_cblock(cblock) as usize;
        self.free[group].retain(|&free| free != cblock);
        self.retired[group] += 1;
        // The remaining blocks must hold the group's data, its replacement blocks and the blocks of a merge.
        let left = self.g.cblocks_per_group - self.retired[group];
        left >= self.g.data_cblocks_per_group() + self.per_group + 2
    }

    fn recover(&mut self, store: &Store, torn: &[Ppn], ops: &mut Vec<FlashOp>) {
        self.rebuild_all(store, torn, ops);
    }

    fn check(&self) -> Result<(), String> {
        let mut purposes = vec![0u32; self.g.cblocks() as usize];
        let chains = self.chains.iter().flatten().filter(|&&b| b != NO_CBLOCK);
        for cblock in chains.chain(self.free.iter().flatten()) {
            purposes[*cblock as usize] += 1;
        }
        if let Some(cblock) = purposes.iter().position(|&n| n > 1) {
            return Err(format!("clustered block {cblock} serves several purposes"));
        }
        for lbn in 0..self.g.logical_cblocks {
            let length = self.length(lbn);
            let chained = self.chained[self.group_of(lbn)].iter();
            if chained.filter(|at| at.lbn == lbn).count() != usize::from(length > 1) {
                return Err(format!("the chain of data block {lbn} is not known as one"));
            }
            for lpn in self.units_of(lbn) {
                let (written, newest) = (self.written[lpn], self.newest[lpn]);
                let lies = newest == NOWHERE || newest < written;
                if usize::from(written) > length || !lies {
                    return Err(format!("unit {lpn} is in block {newest} of {length}"));
                }
            }
        }
        Ok(())
    }

    fn merges(&self) -> MergeCounts {
        self.merges
    }

    fn state_bytes(&self) -> usize {
        let free = self.free.iter().map(VecDeque::capacity);
        let chained = self.chained.iter().map(Vec::capacity);
        self.chains.capacity() * size_of::<[u32; CHAIN_MAX]>()
            + self.written.capacity()
            + self.newest.capacity()
            + free.sum::<usize>() * 4
            + chained.sum::<usize>() * size_of::<Chained>()
            + self.origins.capacity() * size_of::<Origin>()
    }
}
