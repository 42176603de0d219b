//! Pools of blocks for small files, one or several for each processor.

use crate::block::Extent;

/// Number of pools of a processor above which old ones are given up.
const MOST_POOLS: usize = 8;

/// The pools.
#[derive(Clone, Debug)]
pub(super) struct Pools {
    pools: Vec<Vec<Extent>>,
}

impl Pools {
    pub(super) fn new(processors: usize) -> Self {
        let pools = vec![Vec::new(); processors];
        Self { pools }
    }

    /// Adds processors, up to a number of them.
    pub(super) fn grow(&mut self, processors: usize) {
        if processors > self.pools.len() {
            self.pools.resize(processors, Vec::new());
        }
    }

    fn of(&mut self, processor: u32) -> &mut Vec<Extent> {
        let index = processor as usize % self.pools.len();
        &mut self.pools[index]
    }

    /// Takes blocks from the pool that is nearest to the goal, of those that have enough.
    pub(super) fn take(&mut self, processor: u32, blocks: u64, goal: u64) -> Option<Extent> {
        let pools = self.of(processor);
        let enough = |pool: &&mut Extent| pool.blocks >= blocks;
        let pool = pools.iter_mut().filter(enough);
        let pool = pool.min_by_key(|pool| pool.start.abs_diff(goal))?;
        let taken = Extent::new(pool.start, blocks);
        *pool = Extent::new(pool.start + blocks, pool.blocks - blocks);
        pools.retain(|pool| pool.blocks > 0);
        Some(taken)
    }

    /// Adds a pool. Returns the pools that are given up for it.
    pub(super) fn add(&mut self, processor: u32, pool: Extent) -> Vec<Extent> {
        let pools = self.of(processor);
        let over = (pools.len() + 1).saturating_sub(MOST_POOLS);
        let dropped = pools.drain(..over).collect();
        pools.push(pool);
        dropped
    }

    /// Gives up all pools.
    pub(super) fn drain(&mut self) -> Vec<Extent> {
        self.pools.iter_mut().flat_map(std::mem::take).collect()
    }
}
