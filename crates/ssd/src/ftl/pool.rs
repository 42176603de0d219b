//! What the mappings have in common whose log blocks serve several data blocks: where every unit lies, which
//! blocks are erased, and what is found after a power cut.
//!
//! The place of every unit is kept one by one, whatever the policy; a policy decides what may lie where. A real
//! drive keeps less of it, and reads the rest from spare areas; what that costs is not modelled.
//!
//! **After a power cut** the newest version of a unit counts, and of equal ones the one that was moved least. It
//! is there, for a block is erased only when everything that was emitted before is programmed. A block that a
//! merge fills stands behind a barrier, and erases of a group are done in order of emission: so it holds nothing
//! of its own as long as one of the blocks is there that it was filled from. A cut therefore brings back blocks
//! whose erase was under way, and takes a merge's target for each; what it can bring back beyond that are logs.
//! They count as logs until they are erased ([`Pool::may_open`]), and an erased block is always left for the
//! next merge. TRIM is kept in memory only: what was trimmed may come back.

pub(super) mod homes;
pub(super) mod tail;

use super::contract::{FlashOp, MergeCounts, Stall, emit_copy, emit_programs};
use crate::geometry::Geometry;
use crate::nand::store::Store;
use fathom_base::{Lpn, Ppn};
use std::collections::VecDeque;
use tail::Tail;

pub(super) const NOWHERE: u32 = u32::MAX;
/// Logs that may be under way to be erased while all others are in use, if the drive has the blocks for it.
const LEAVING_MAX: u32 = 2;
/// Blocks of a group beyond data and logs that it cannot do without: one to merge into, one that is erased.
const EXCHANGE: u32 = 2;

/// What a clustered block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Erased,
    InUse,
    /// Its erase is under way.
    Leaving,
    /// Its erase is under way, and it counts as a log until then.
    LeavingLog,
    Bad,
}

/// Places of units, and blocks: 4 bytes a logical and 4 a physical unit, and 5 a clustered block.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    pub(super) g: Geometry,
    pub(super) merges: MergeCounts,
    pub(super) partial_program: bool,
    /// Log blocks of a group.
    pub(super) logs: u32,
    place_of: Vec<u32>,
    /// Who was written to a place last; still there if `place_of` says so too.
    owner_of: Vec<u32>,
    valid: Vec<u32>,
    state: Vec<State>,
    free: Vec<VecDeque<u32>>,
    retired: Vec<u32>,
    leaving_logs: Vec<u32>,
}

impl Pool {
    /// Everything erased; with `logs` log blocks in a group.
    pub(super) fn new(logs: u32, partial_program: bool, g: &Geometry) -> Self {
        let free = (0..g.groups)
            .map(|i| (i * g.cblocks_per_group..(i + 1) * g.cblocks_per_group).collect());
        Self {
            merges: MergeCounts::default(),
            partial_program,
            logs,
            place_of: vec![NOWHERE; g.logical_units as usize],
            owner_of: vec![NOWHERE; g.physical_units() as usize],
            valid: vec![0; g.cblocks() as usize],
            state: vec![State::Erased; g.cblocks() as usize],
            free: free.collect(),
            retired: vec![0; g.groups as usize],
            leaving_logs: vec![0; g.groups as usize],
            g: g.clone(),
        }
    }

    #[inline]
    pub(super) fn lookup(&self, lpn: Lpn) -> Ppn {
        Ppn(self.place_of[lpn.index()])
    }

    /// Valid units of a block.
    #[inline]
    pub(super) fn valid(&self, cblock: u32) -> u32 {
        self.valid[cblock as usize]
    }

    /// The valid units of a block, in order of place.
    pub(super) fn units_of(&self, cblock: u32) -> impl Iterator<Item = u32> + '_ {
        let first = cblock * self.g.units_per_cblock;
        (first..first + self.g.units_per_cblock).filter_map(|place| {
            let lpn = self.owner_of[place as usize];
            (lpn != NOWHERE && self.place_of[lpn as usize] == place).then_some(lpn)
        })
    }

    /// The first valid unit of a block.
    pub(super) fn first_unit(&self, cblock: u32) -> Option<u32> {
        self.units_of(cblock).next()
    }

    pub(super) fn forget(&mut self, lpn: u32) {
        let place = std::mem::replace(&mut self.place_of[lpn as usize], NOWHERE);
        if place != NOWHERE {
            self.valid[self.g.cblock_of_unit(place) as usize] -= 1;
        }
    }

    /// A unit is at a new place.
    pub(super) fn put(&mut self, lpn: u32, place: u32) {
        self.forget(lpn);
        self.place_of[lpn as usize] = place;
        self.owner_of[place as usize] = lpn;
        self.valid[self.g.cblock_of_unit(place) as usize] += 1;
    }

    /// Appends what the host writes; there is room.
    pub(super) fn append(&mut self, tail: &mut Tail, runs: &[(Lpn, u32)], ops: &mut Vec<FlashOp>) {
        let (mut start, mut count) = (0, 0);
        for lpn in runs.iter().flat_map(|&(lpn, n)| lpn.0..lpn.0 + n) {
            let Some(place) = tail.advance(&self.g) else {
                break;
            };
            if place != start + count {
                emit_programs(&self.g, start, count, ops);
                (start, count) = (place, 0);
            }
            count += 1;
            self.put(lpn, place);
        }
        emit_programs(&self.g, start, count, ops);
        self.pad(tail);
    }

    /// Moves a unit to a place.
    pub(super) fn move_to(&mut self, lpn: u32, to: u32, ops: &mut Vec<FlashOp>) {
        emit_copy(&self.g, self.place_of[lpn as usize], to, ops);
        self.put(lpn, to);
        self.merges.moved_units += 1;
    }

    /// Appends a copy of a unit, if there is room.
    pub(super) fn append_copy(&mut self, tail: &mut Tail, lpn: u32, ops: &mut Vec<FlashOp>) {
        if let Some(to) = tail.advance(&self.g) {
            self.move_to(lpn, to, ops);
        }
    }

    /// What is programmed next begins a clustered page, unless a partly filled one can be programmed further.
    pub(super) fn pad(&self, tail: &mut Tail) {
        if !self.partial_program {
            tail.pad(&self.g);
        }
    }

    /// Whether a log block may be opened beside `in_use` others; else there is an erase to wait for.
    pub(super) fn may_open(&self, group: u32, in_use: u32) -> bool {
        let all = in_use + self.leaving_logs[group as usize];
        all < self.logs + self.slack(group) && self.free[group as usize].len() >= 2
    }

    /// Logs that may be under way to be erased while all others are in use.
    pub(super) fn slack(&self, group: u32) -> u32 {
        let needed = self.g.data_cblocks_per_group() + self.logs + EXCHANGE;
        let left = self.g.cblocks_per_group - self.retired[group as usize];
        left.saturating_sub(needed).min(LEAVING_MAX)
    }

    /// An erased block.
    pub(super) fn take(&mut self, group: u32) -> Result<u32, Stall> {
        let cblock = self.free[group as usize].pop_front().ok_or(Stall)?;
        self.state[cblock as usize] = State::InUse;
        Ok(cblock)
    }

    /// An erased block to merge into.
    pub(super) fn take_target(&mut self, group: u32, ops: &mut Vec<FlashOp>) -> Result<u32, Stall> {
        let cblock = self.take(group)?;
        ops.push(FlashOp::Barrier { cblock });
        Ok(cblock)
    }

    /// Has a block erased that holds nothing valid. `as_log`: no merge's target took its place, so that there is
    /// a block more if a power cut brings it back.
    pub(super) fn erase(&mut self, cblock: u32, as_log: bool, ops: &mut Vec<FlashOp>) {
        debug_assert_eq!(self.valid(cblock), 0, "block {cblock} holds valid units");
        self.state[cblock as usize] = State::Leaving;
        if as_log {
            self.state[cblock as usize] = State::LeavingLog;
            self.leaving_logs[self.g.group_of_cblock(cblock) as usize] += 1;
        }
        ops.push(FlashOp::Erase { cblock });
    }

    fn has_left(&mut self, cblock: u32, state: State) {
        let group = self.g.group_of_cblock(cblock) as usize;
        let before = std::mem::replace(&mut self.state[cblock as usize], state);
        self.leaving_logs[group] -= u32::from(before == State::LeavingLog);
    }

    pub(super) fn erased(&mut self, cblock: u32) {
        self.has_left(cblock, State::Erased);
        self.free[self.g.group_of_cblock(cblock) as usize].push_back(cblock);
    }

    pub(super) fn retire(&mut self, cblock: u32) -> bool {
        let group = self.g.group_of_cblock(cblock) as usize;
        self.has_left(cblock, State::Bad);
        self.free[group].retain(|&free| free != cblock);
        self.retired[group] += 1;
        let left = self.g.cblocks_per_group - self.retired[group];
        left >= self.g.data_cblocks_per_group() + self.logs + EXCHANGE
    }

    /// Builds places again from what the flash holds and has erased what nobody needs. Gives the blocks with
    /// valid units, by the age of the oldest of these; none of them can be filled further.
    pub(super) fn recover(
        &mut self,
        store: &Store,
        torn: &[Ppn],
        ops: &mut Vec<FlashOp>,
    ) -> Vec<u32> {
        *self = Self {
            merges: self.merges,
            ..Self::new(self.logs, self.partial_program, &self.g)
        };
        let mut newest = vec![(0u64, 0u32); self.place_of.len()];
        let mut used = vec![false; self.valid.len()];
        torn.iter()
            .for_each(|at| used[self.g.cblock_of_unit(at.0) as usize] = true);
        for (at, cell) in store.scan() {
            used[self.g.cblock_of_unit(at.0) as usize] = true;
            let (version, copies) = newest[cell.lpn.index()];
            if (cell.version, copies) > (version, cell.copies) {
                newest[cell.lpn.index()] = (cell.version, cell.copies);
                self.put(cell.lpn.0, at.0);
            }
        }
        for group in &mut self.free {
            group.retain(|&cblock| !used[cblock as usize]);
        }
        for cblock in (0..self.g.cblocks()).filter(|&b| used[b as usize]) {
            self.state[cblock as usize] = State::InUse;
            if self.valid(cblock) == 0 {
                self.erase(cblock, false, ops);
            }
        }
        let held = (0..self.g.cblocks()).filter(|&b| self.valid(b) > 0);
        let mut held: Vec<u32> = held.collect();
        let version = |lpn: u32| newest[lpn as usize].0;
        held.sort_by_key(|&b| self.units_of(b).map(version).min());
        held
    }

    /// Whether the tables agree, where the policy says that these are its blocks.
    pub(super) fn check(&self, in_use: impl Iterator<Item = u32>) -> Result<(), String> {
        let mut valid = vec![0u32; self.valid.len()];
        for (lpn, &place) in self.place_of.iter().enumerate() {
            if place == NOWHERE {
                continue;
            }
            valid[self.g.cblock_of_unit(place) as usize] += 1;
            let owner = self.owner_of[place as usize];
            if owner as usize != lpn {
                return Err(format!("unit {lpn} is at {place}, which is {owner}'s"));
            }
        }
        if valid != self.valid {
            return Err("the counts of valid units differ from the map".into());
        }
        self.check_states(in_use, &valid)
    }

    fn check_states(&self, in_use: impl Iterator<Item = u32>, valid: &[u32]) -> Result<(), String> {
        let mut expected = vec![false; self.state.len()];
        for cblock in in_use {
            if std::mem::replace(&mut expected[cblock as usize], true) {
                return Err(format!("clustered block {cblock} serves two purposes"));
            }
        }
        for (cblock, (&state, &expected)) in self.state.iter().zip(&expected).enumerate() {
            if (state == State::InUse) != expected || (!expected && valid[cblock] > 0) {
                let valid = valid[cblock];
                return Err(format!(
                    "block {cblock} is {state:?}, with {valid} valid units; in use: {expected}"
                ));
            }
        }
        let free = self.free.iter().flatten();
        let odd = free
            .copied()
            .find(|&b| self.state[b as usize] != State::Erased);
        odd.map_or(Ok(()), |cblock| Err(format!("block {cblock} is not free")))
    }

    pub(super) fn state_bytes(&self) -> usize {
        let words = self.place_of.capacity() + self.owner_of.capacity() + self.valid.capacity();
        let free: usize = self.free.iter().map(VecDeque::capacity).sum();
        let groups = self.retired.capacity() + self.leaving_logs.capacity();
        (words + free + groups) * 4 + self.state.capacity() * size_of::<State>()
    }
}
