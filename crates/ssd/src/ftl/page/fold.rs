//! Writes into the fast cache, and folding: data in SLC mode is moved into blocks in native mode.
//!
//! A write goes into the cache as long as its group may have a block in SLC mode for it. Folding takes the block that was
//! filled first. It moves whole clustered pages, so that none is left partly filled. Data is folded
//! - in idle time, a page of every lane at a time;
//! - when erased blocks run short and more blocks are cached than the static part has ([`super::collect`]);
//! - where writes wait for it (`when_full = "fold"`), with every write as much as keeps the cache at its size.
//!
//! The block that is being filled is not folded.

use super::PageFtl;
use super::collect::EXCHANGE;
use super::group::FAST;
use crate::ftl::contract::{FlashOp, NO_CBLOCK, Stall};

/// Erased blocks that stay when a block is opened for the cache: one for the host and one for copies.
const KEPT: u32 = 2;

impl PageFtl {
    /// Decides whether `units` units of the host go into the cache of a group, and makes room for them there.
    pub(super) fn enter_cache(
        &mut self,
        group: u32,
        units: u32,
        ops: &mut Vec<FlashOp>,
    ) -> Result<bool, Stall> {
        let open = self.groups[group as usize].open[FAST];
        let left = open.end - open.next;
        let takes = units <= left || self.extend_cache(group, units - left, ops)?;
        let Some(cache) = &mut self.cache else {
            return Ok(false);
        };
        cache.groups[group as usize].takes = takes;
        if takes && cache.folds {
            let beyond = units.saturating_sub(left);
            let opened = beyond.next_multiple_of(cache.units);
            self.fold_ahead(group, left + opened - units, ops);
        }
        Ok(takes)
    }

    /// Returns true if the cache of a group may have as many more blocks as `units` units need.
    fn extend_cache(
        &mut self,
        group: u32,
        units: u32,
        ops: &mut Vec<FlashOp>,
    ) -> Result<bool, Stall> {
        self.close_fast(group);
        let Some(cache) = &self.cache else {
            return Ok(false);
        };
        if cache.groups[group as usize].closed {
            return Ok(false);
        }
        let (folds, of_static, more) = (cache.folds, cache.blocks, units.div_ceil(cache.units));
        self.drop_empty(group, ops);
        let mut limit = self.cache_limit(group);
        while folds && limit > 0 && self.cached(group) + more > limit + 1 {
            if !self.fold_block(group, ops) {
                break;
            }
            limit = self.cache_limit(group);
        }
        // Where writes fold, the block being filled is in exchange for the one being folded.
        let most = limit + u32::from(folds && limit > 0);
        let wanted = self.cached(group) + more;
        // A dynamic block is taken only if it is erased anyway, unless writes wait for folding.
        let waits = folds || wanted <= of_static;
        let takes = wanted <= most && self.has_erased(group, more, waits, ops)?;
        if let Some(cache) = &mut self.cache {
            let at = &mut cache.groups[group as usize];
            at.closed = !takes;
            at.excess = wanted.saturating_sub(limit);
        }
        Ok(takes)
    }

    /// Returns true if a group has `more` erased blocks for the cache. If the write `waits` for them, blocks are collected.
    fn has_erased(
        &mut self,
        group: u32,
        more: u32,
        waits: bool,
        ops: &mut Vec<FlashOp>,
    ) -> Result<bool, Stall> {
        if self.groups[group as usize].level_first {
            self.level(group, ops);
        }
        loop {
            let at = &self.groups[group as usize];
            let enough = at.free.len() as u32 + at.erasing >= EXCHANGE + more;
            if enough || !waits || !self.collect(group, false, ops) {
                break;
            }
        }
        self.level(group, ops);
        let at = &self.groups[group as usize];
        let kept = if waits { KEPT } else { EXCHANGE };
        let has = at.free.len() as u32 >= more + kept;
        match !has && waits && at.erasing > 0 {
            true => Err(Stall),
            false => Ok(has),
        }
    }

    /// Returns the number of blocks that a group has in the cache.
    fn cached(&self, group: u32) -> u32 {
        let open = self.groups[group as usize].open[FAST].cblock != NO_CBLOCK;
        let full = self.cache.as_ref();
        full.map_or(0, |c| c.groups[group as usize].full.len() as u32) + u32::from(open)
    }

    /// Returns the number of blocks that a group may have in the cache. O(cached blocks).
    fn cache_limit(&self, group: u32) -> u32 {
        let Some(cache) = &self.cache else {
            return 0;
        };
        let at = &self.groups[group as usize];
        let open = Some(at.open[FAST].cblock).filter(|&cblock| cblock != NO_CBLOCK);
        let full = cache.groups[group as usize].full.iter().copied();
        let cached: u32 = full.chain(open).map(|b| self.blocks.valid(b)).sum();
        let all = self.g.data_cblocks_per_group() * self.g.units_per_cblock;
        cache.limit(
            all.saturating_sub(at.valid - cached),
            self.g.units_per_cblock,
        )
    }

    /// Closes the open block of the cache if it is full.
    fn close_fast(&mut self, group: u32) {
        let open = &mut self.groups[group as usize].open[FAST];
        if open.cblock == NO_CBLOCK || open.next < open.end {
            return;
        }
        let full = std::mem::replace(&mut open.cblock, NO_CBLOCK);
        if let Some(cache) = &mut self.cache {
            cache.close(full, group);
        }
    }

    /// Has the cached blocks erased that hold nothing valid any more. Returns true if there were any.
    fn drop_empty(&mut self, group: u32, ops: &mut Vec<FlashOp>) -> bool {
        let Some(cache) = &self.cache else {
            return false;
        };
        let full = cache.groups[group as usize].full.iter().copied();
        let empty: Vec<u32> = full.filter(|&b| self.blocks.valid(b) == 0).collect();
        for &cblock in &empty {
            self.give_up(group, cblock, ops);
        }
        !empty.is_empty()
    }

    /// Has the blocks in native mode erased that hold nothing valid any more: a dynamic cache takes erased blocks only, so a
    /// drive that was trimmed has all of its cache again.
    pub(super) fn drop_trimmed(&mut self, ops: &mut Vec<FlashOp>) {
        for group in 0..self.groups.len() as u32 {
            while let Some(dead) = self.blocks.fewest(group) {
                if self.blocks.valid(dead) > 0 {
                    break;
                }
                self.give_up(group, dead, ops);
            }
        }
    }

    /// Returns the cached block of a group that was filled first.
    fn oldest(&self, group: u32) -> Option<u32> {
        let cache = self.cache.as_ref()?;
        cache.groups[group as usize].full.front().copied()
    }

    /// Returns true if folding is the better way to free a block than collecting `native`: more blocks are cached than the
    /// static part has, and less is moved.
    pub(super) fn should_fold(&self, group: u32, native: Option<u32>) -> bool {
        let Some((cache, oldest)) = self.cache.as_ref().zip(self.oldest(group)) else {
            return false;
        };
        let many = cache.groups[group as usize].full.len() as u32 > cache.blocks;
        let valid = |cblock| self.blocks.valid(cblock);
        many && native.is_none_or(|native| valid(oldest) <= valid(native))
    }

    /// Returns true if the oldest cached block of a group can be moved into `room` units.
    pub(super) fn can_fold(&self, group: u32, room: u32) -> bool {
        self.oldest(group)
            .is_some_and(|cblock| self.blocks.valid(cblock) <= room)
    }

    /// Folds a cached block where no native block can be collected. The static part is folded only if no erase is in progress
    /// that may make room for that. Returns false, without doing anything, if there is no such block or no room.
    pub(super) fn fold_for_room(&mut self, group: u32, ops: &mut Vec<FlashOp>) -> bool {
        let last = self.groups[group as usize].erasing == 0;
        (last || self.should_fold(group, None)) && self.fold_block(group, ops)
    }

    /// Folds the oldest cached block of a group. Returns false, without doing anything, if there is none or no room.
    fn fold_block(&mut self, group: u32, ops: &mut Vec<FlashOp>) -> bool {
        match self.oldest(group) {
            Some(cblock) => self.empty(group, cblock, ops),
            None => false,
        }
    }

    /// Folds as much that the blocks in excess are empty when the open block, which has `left` places left, is full.
    fn fold_ahead(&mut self, group: u32, left: u32, ops: &mut Vec<FlashOp>) {
        let Some(cache) = &self.cache else {
            return;
        };
        let at = &cache.groups[group as usize];
        let excess = at.full.iter().take(at.excess as usize);
        let waiting: u32 = excess.map(|&cblock| self.blocks.valid(cblock)).sum();
        if waiting > left {
            let units = (waiting - left).next_multiple_of(self.g.units_per_cpage);
            self.fold_units(group, units, ops);
        }
    }

    /// Moves up to `units` units out of the cache of a group, the oldest first, and has emptied blocks erased. Returns false
    /// if there is nothing to move, or no room.
    fn fold_units(&mut self, group: u32, units: u32, ops: &mut Vec<FlashOp>) -> bool {
        if units > self.copy_room(group) {
            return false;
        }
        let Some(cache) = &self.cache else {
            return false;
        };
        let at = &cache.groups[group as usize];
        let (full, mut folded): (Vec<u32>, u32) = (at.full.iter().copied().collect(), at.folded);
        let (mut moving, mut emptied) = (Vec::new(), 0);
        let mut live = std::mem::take(&mut self.live);
        for &cblock in &full {
            let left = units as usize - moving.len();
            let found = self.find_live_behind(cblock, folded, left, &mut live);
            moving.extend_from_slice(&live[..found.min(left)]);
            if found > left {
                // The next one stays.
                folded = live[left].0 % self.g.units_per_cblock;
                break;
            }
            (emptied, folded) = (emptied + 1, 0);
        }
        self.live = live;
        for &(place, _) in &moving {
            self.blocks.lose(self.g.cblock_of_unit(place), group);
        }
        self.relocate(group, &mut moving, ops);
        self.merges.folded_units += moving.len() as u64;
        for &cblock in full.iter().take(emptied) {
            self.give_up(group, cblock, ops);
        }
        if let Some(cache) = &mut self.cache {
            cache.groups[group as usize].folded = folded;
        }
        !full.is_empty()
    }

    /// Does one step of folding in idle time: a page of every lane. Returns false if nothing is left to fold, or not yet.
    pub(super) fn fold_step(&mut self, ops: &mut Vec<FlashOp>) -> bool {
        let units = self.g.lanes_per_group * self.g.units_per_cpage;
        let mut any = false;
        for group in 0..self.g.groups {
            self.close_fast(group);
            any |= self.drop_empty(group, ops);
            any |= self.fold_units(group, units, ops);
        }
        any
    }

    /// Returns the open block that the host's next units for `front` go to in a group, by the last decision.
    #[inline]
    pub(super) fn front_in(&self, group: u32, front: usize) -> usize {
        match &self.cache {
            Some(cache) if cache.groups[group as usize].takes => FAST,
            _ => front,
        }
    }

    /// Checks the lists of cached blocks.
    pub(super) fn check_cache(&self) -> Result<(), String> {
        let Some(cache) = &self.cache else {
            return Ok(());
        };
        let full = cache.groups.iter().flat_map(|group| &group.full).copied();
        let mut odd = full.filter(|&b| !cache.holds(b) || self.blocks.is_sealed(b));
        if let Some(cblock) = odd.next() {
            return Err(format!(
                "cached block {cblock} is in no cache, or can be collected"
            ));
        }
        let count = (0..self.g.cblocks()).filter(|&b| cache.holds(b)).count();
        let listed: usize = cache.groups.iter().map(|group| group.full.len()).sum();
        if count != listed {
            return Err(format!(
                "{count} blocks are cached, and {listed} are listed"
            ));
        }
        let folded = |place: u32| {
            let cblock = self.g.cblock_of_unit(place);
            let groups = cache.groups.iter();
            let mut first = groups.filter(|group| group.full.front() == Some(&cblock));
            first.any(|group| place % self.g.units_per_cblock < group.folded)
        };
        let mut held =
            (0..self.map.len() as u32).filter_map(|lpn| self.map.get(lpn).checked_sub(1));
        if let Some(place) = held.find(|&place| folded(place)) {
            return Err(format!("place {place} was folded, and is in use"));
        }
        let beyond = |place: u32| place % self.g.units_per_cblock >= cache.units;
        let lost = (0..self.map.len() as u32)
            .filter_map(|lpn| self.map.get(lpn).checked_sub(1))
            .find(|&place| beyond(place) && cache.is_fast(self.g.cblock_of_unit(place)));
        match lost {
            Some(place) => Err(format!(
                "place {place} is beyond the end of its block in SLC mode"
            )),
            None => Ok(()),
        }
    }
}
