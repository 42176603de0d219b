//! Data blocks: each holds the units of one logical block, each unit at its own offset.

use super::{NOWHERE, Pool};
use crate::ftl::contract::{FlashOp, NO_CBLOCK, Stall};
use fathom_base::Lpn;
use std::collections::VecDeque;

/// The data block of every logical block, or [`NO_CBLOCK`].
#[derive(Clone, Debug)]
pub(in crate::ftl) struct Homes {
    data: Vec<u32>,
}

impl Homes {
    pub(in crate::ftl) fn new(pool: &Pool) -> Self {
        Self {
            data: vec![NO_CBLOCK; pool.g.logical_cblocks as usize],
        }
    }

    /// Full merge: copies the newest version of every unit of a logical block to a new block.
    pub(in crate::ftl) fn merge(
        &mut self,
        pool: &mut Pool,
        lbn: u32,
        ops: &mut Vec<FlashOp>,
    ) -> Result<(), Stall> {
        let target = pool.take_target(lbn % pool.g.groups, ops)?;
        self.gather(pool, lbn, target, 0, ops);
        pool.merges.full += 1;
        let old = std::mem::replace(&mut self.data[lbn as usize], target);
        if old != NO_CBLOCK {
            pool.erase(old, false, ops);
        }
        Ok(())
    }

    /// Turns a log into the data block. Its first `written` units must be those of the logical block, each at its
    /// own offset and none older than its copies. The remaining units are moved there (partial merge), if there are
    /// any (else switch merge).
    pub(in crate::ftl) fn complete(
        &mut self,
        pool: &mut Pool,
        lbn: u32,
        log: u32,
        written: u32,
        ops: &mut Vec<FlashOp>,
    ) {
        self.gather(pool, lbn, log, written, ops);
        if written == pool.g.units_per_cblock {
            pool.merges.switch += 1;
        } else {
            pool.merges.partial += 1;
        }
        let old = std::mem::replace(&mut self.data[lbn as usize], log);
        if old != NO_CBLOCK {
            pool.erase(old, true, ops);
        }
    }

    fn gather(&self, pool: &mut Pool, lbn: u32, to: u32, from: u32, ops: &mut Vec<FlashOp>) {
        let units = pool.g.units_per_cblock;
        for offset in from..units {
            let lpn = lbn * units + offset;
            if pool.lookup(Lpn(lpn)).0 != NOWHERE {
                pool.move_to(lpn, to * units + offset, ops);
            }
        }
    }

    /// Erases the data block of a logical block after all its units were forgotten.
    pub(in crate::ftl) fn trimmed(&mut self, pool: &mut Pool, lbn: u32, ops: &mut Vec<FlashOp>) {
        let data = std::mem::replace(&mut self.data[lbn as usize], NO_CBLOCK);
        if data != NO_CBLOCK {
            pool.erase(data, false, ops);
        }
    }

    /// Finds the data blocks after a power cut. Among the blocks that hold units of one logical block in place, the
    /// fullest becomes the data block. All others, in their order, are the logs of their group.
    pub(in crate::ftl) fn recover(pool: &Pool, held: &[u32]) -> (Self, Vec<VecDeque<u32>>) {
        let mut homes = Self::new(pool);
        for &cblock in held {
            if let Some(lbn) = home_of(pool, cblock) {
                let data = &mut homes.data[lbn as usize];
                if *data == NO_CBLOCK || pool.valid(*data) < pool.valid(cblock) {
                    *data = cblock;
                }
            }
        }
        let mut is_data = vec![false; pool.g.cblocks() as usize];
        homes.blocks().for_each(|b| is_data[b as usize] = true);
        let mut logs = vec![VecDeque::new(); pool.g.groups as usize];
        for &cblock in held.iter().filter(|&&b| !is_data[b as usize]) {
            logs[pool.g.group_of_cblock(cblock) as usize].push_back(cblock);
        }
        (homes, logs)
    }

    /// Returns all data blocks.
    pub(in crate::ftl) fn blocks(&self) -> impl Iterator<Item = u32> + '_ {
        self.data.iter().copied().filter(|&b| b != NO_CBLOCK)
    }

    /// Checks that every data block holds only units of its logical block, in place.
    pub(in crate::ftl) fn check(&self, pool: &Pool) -> Result<(), String> {
        for (lbn, &cblock) in self.data.iter().enumerate() {
            let home =
                (cblock != NO_CBLOCK && pool.valid(cblock) > 0).then(|| home_of(pool, cblock));
            if home.is_some_and(|home| home != Some(lbn as u32)) {
                return Err(format!("block {cblock} is no data block of {lbn}"));
            }
        }
        Ok(())
    }

    pub(in crate::ftl) fn state_bytes(&self) -> usize {
        self.data.capacity() * 4
    }
}

/// Returns the logical block of a block, if the block holds units of that one only, each at its own offset.
pub(in crate::ftl) fn home_of(pool: &Pool, cblock: u32) -> Option<u32> {
    let units = pool.g.units_per_cblock;
    let lbn = pool.units_of(cblock).next()? / units;
    let in_place = |lpn: u32| {
        let place = pool.lookup(Lpn(lpn)).0;
        lpn / units == lbn && place % units == lpn % units
    };
    pool.units_of(cblock).all(in_place).then_some(lbn)
}
