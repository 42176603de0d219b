//! State shared by the mappings whose log blocks serve several data blocks: the place of every unit, the erased
//! blocks, and recovery after a power cut.
//!
//! The place of every unit is stored individually, whatever the policy; the policy decides what may be placed
//! where. A real drive stores less and reads the rest from spare areas. The cost of that is not modelled.
//!
//! **After a power cut** the newest version of a unit counts, and among equal versions the one that was moved
//! least. That copy is still there, because a block is erased only after everything emitted before is programmed. A
//! block that a merge fills is behind a barrier, and the erases of a group are done in the order in which they were
//! emitted. So that block holds nothing valid as long as one of the blocks that it was filled from is there. A
//! power cut therefore brings back blocks whose erase was in progress, and takes away a merge target for each of
//! them. All other blocks that it can bring back are logs. Those count as logs until they are erased
//! ([`Pool::may_open`]), and one erased block is always left for the next merge. TRIM is kept in memory only:
//! trimmed data may come back.

pub(super) mod homes;
pub(super) mod tail;

use super::contract::{FlashOp, MergeCounts, Stall, emit_copy, emit_programs};
use crate::geometry::Geometry;
use crate::nand::store::Store;
use fathom_base::{Lpn, Ppn};
use std::collections::VecDeque;
use tail::Tail;

pub(super) const NOWHERE: u32 = u32::MAX;
/// Maximum number of logs whose erase may be in progress while all others are in use, if the drive has enough
/// blocks.
const LEAVING_MAX: u32 = 2;
/// Number of blocks that a group needs beyond data and logs: one to merge into, and one that is being erased.
const EXCHANGE: u32 = 2;

/// The state of a clustered block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Erased,
    InUse,
    /// Its erase is in progress.
    Leaving,
    /// Its erase is in progress, and it counts as a log until it is done.
    LeavingLog,
    Bad,
}

/// The methods of [`Ftl`](super::contract::Ftl) that the field `pool` of a mapping answers.
macro_rules! by_pool {
    () => {
        #[inline]
        fn lookup(&self, lpn: Lpn) -> Ppn {
            self.pool.lookup(lpn)
        }

        fn erased(&mut self, cblock: u32) {
            self.pool.erased(cblock);
        }

        fn retire(&mut self, cblock: u32) -> bool {
            self.pool.retire(cblock)
        }

        fn merges(&self) -> MergeCounts {
            self.pool.merges
        }
    };
}
pub(super) use by_pool;

/// The places of units, and the states of blocks: 4 bytes per logical and 4 per physical unit, and 5 per clustered
/// block.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    pub(super) g: Geometry,
    pub(super) merges: MergeCounts,
    pub(super) partial_program: bool,
    /// Number of log blocks in a group.
    pub(super) logs: u32,
    place_of: Vec<u32>,
    /// The unit last written to each place. It is still valid there if `place_of` agrees.
    owner_of: Vec<u32>,
    valid: Vec<u32>,
    state: Vec<State>,
    free: Vec<VecDeque<u32>>,
    retired: Vec<u32>,
    leaving_logs: Vec<u32>,
}

impl Pool {
    /// A pool in which everything is erased, with `logs` log blocks per group.
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

    /// Returns the number of valid units of a block.
    #[inline]
    pub(super) fn valid(&self, cblock: u32) -> u32 {
        self.valid[cblock as usize]
    }

    /// Returns the valid units of a block, in order of place.
    pub(super) fn units_of(&self, cblock: u32) -> impl Iterator<Item = u32> + '_ {
        let first = cblock * self.g.units_per_cblock;
        (first..first + self.g.units_per_cblock).filter_map(|place| {
            let lpn = self.owner_of[place as usize];
            (lpn != NOWHERE && self.place_of[lpn as usize] == place).then_some(lpn)
        })
    }

    /// Returns the first valid unit of a block.
    pub(super) fn first_unit(&self, cblock: u32) -> Option<u32> {
        self.units_of(cblock).next()
    }

    pub(super) fn forget(&mut self, lpn: u32) {
        let place = std::mem::replace(&mut self.place_of[lpn as usize], NOWHERE);
        if place != NOWHERE {
            self.valid[self.g.cblock_of_unit(place) as usize] -= 1;
        }
    }

    /// Sets the place of a unit.
    pub(super) fn put(&mut self, lpn: u32, place: u32) {
        self.forget(lpn);
        self.place_of[lpn as usize] = place;
        self.owner_of[place as usize] = lpn;
        self.valid[self.g.cblock_of_unit(place) as usize] += 1;
    }

    /// Appends host writes. There must be room.
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

    /// Makes the next program start a new clustered page, unless a partly filled page can be programmed later.
    pub(super) fn pad(&self, tail: &mut Tail) {
        if !self.partial_program {
            tail.pad(&self.g);
        }
    }

    /// Returns true if a log block may be opened beside `in_use` others. If not, there is an erase to wait for.
    pub(super) fn may_open(&self, group: u32, in_use: u32) -> bool {
        let all = in_use + self.leaving_logs[group as usize];
        all < self.logs + self.slack(group) && self.free[group as usize].len() >= 2
    }

    /// Returns the number of logs whose erase may be in progress while all others are in use.
    pub(super) fn slack(&self, group: u32) -> u32 {
        let needed = self.g.data_cblocks_per_group() + self.logs + EXCHANGE;
        let left = self.g.cblocks_per_group - self.retired[group as usize];
        left.saturating_sub(needed).min(LEAVING_MAX)
    }

    /// Takes an erased block.
    pub(super) fn take(&mut self, group: u32) -> Result<u32, Stall> {
        let cblock = self.free[group as usize].pop_front().ok_or(Stall)?;
        self.state[cblock as usize] = State::InUse;
        Ok(cblock)
    }

    /// Takes an erased block to merge into, and sets a barrier for it.
    pub(super) fn take_target(&mut self, group: u32, ops: &mut Vec<FlashOp>) -> Result<u32, Stall> {
        let cblock = self.take(group)?;
        ops.push(FlashOp::Barrier { cblock });
        Ok(cblock)
    }

    /// Has a block erased that holds nothing valid. `as_log` says that no merge target took its place, so that
    /// there is one block more if a power cut brings it back.
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

    /// Rebuilds the places from the contents of the flash, and has all blocks without valid units erased. Returns
    /// the blocks with valid units, ordered by the version of their oldest valid unit. None of them can be filled
    /// further.
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

    /// Checks that the tables agree. `in_use` are the blocks that the policy uses.
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
