//! Rebuilds the map of a page-mapped drive after a power cut, from the spare areas in flash; and checks the tables.

use super::PageFtl;
use super::filled::NOTHING;
use crate::nand::store::Store;
use fathom_base::Ppn;

impl PageFtl {
    /// Rebuilds the map. Blocks that were open are sealed as they are, in the order in which they were last
    /// written.
    pub(super) fn rebuild(&mut self, store: &Store, torn: &[Ppn]) {
        self.map.clear();
        self.owners.clear();
        self.blocks.reset();
        self.heat.clear();
        self.handles.fill(0);
        self.groups = self.erased_groups();
        if let Some(cache) = &mut self.cache {
            cache.clear();
        }
        // The newest version of every unit counts. Among equal versions it is the one that was copied less, whose
        // block was not erased yet. The block that the copies went to then holds nothing valid and can be erased.
        let mut newest = vec![(0u64, 0u32); self.map.len()];
        let mut used: Vec<Option<u64>> = vec![None; self.g.cblocks() as usize];
        for at in torn {
            used[self.g.cblock_of_unit(at.0) as usize] = Some(0);
        }
        for (at, cell) in store.scan() {
            let cblock = self.g.cblock_of_unit(at.0);
            let last = &mut used[cblock as usize];
            *last = (*last).max(Some(cell.version));
            let (version, copies) = newest[cell.lpn.index()];
            if (cell.version, copies) > (version, cell.copies) {
                newest[cell.lpn.index()] = (cell.version, cell.copies);
                self.owners.open(cblock);
                self.settle(cell.lpn.0, at.0, self.g.group_of_cblock(cblock));
            }
        }
        for group in &mut self.groups {
            group.free.retain(|cblock| used[cblock as usize].is_none());
        }
        let written = (0..).zip(used);
        let mut written: Vec<(u64, u32)> = written
            .filter_map(|(cblock, last)| Some((last?, cblock)))
            .collect();
        written.sort_unstable();
        for (_, cblock) in written {
            let group = self.g.group_of_cblock(cblock);
            match &mut self.cache {
                Some(cache) if cache.is_fast(cblock) => cache.close(cblock, group),
                _ => self.blocks.seal(cblock, group),
            }
        }
    }

    pub(super) fn check_tables(&self) -> Result<(), String> {
        let mut valid = vec![0u32; self.g.cblocks() as usize];
        let mut in_group = vec![0u32; self.groups.len()];
        for lpn in 1..=self.map.len() as u32 {
            let place = self.map.get(lpn - 1);
            let noted = self.map.holds(lpn as usize - 1);
            if noted.is_some_and(|noted| noted != (place != NOTHING)) {
                return Err(format!("unit {lpn} is at {place} and noted otherwise"));
            }
            if place == NOTHING {
                continue;
            }
            let cblock = self.g.cblock_of_unit(place - 1);
            let group = self.g.group_of_cblock(cblock);
            valid[cblock as usize] += 1;
            in_group[group as usize] += 1;
            let owner = self.owners.get(place - 1);
            if owner != lpn {
                return Err(format!("unit {lpn} is at {place}, which is {owner}'s"));
            }
            if self.stripes.is_some() && self.home_of(lpn - 1) != group {
                return Err(format!("unit {lpn} is not in the group of its address"));
            }
        }
        self.blocks.check(&valid)?;
        self.check_cache()?;
        if !self.groups.iter().map(|g| g.valid).eq(in_group) {
            return Err("a group's count of valid units differs from the map".into());
        }
        let is_valid = |&place: &u32| self.owner(Ppn(place)).is_some();
        let places = 0..self.g.physical_units();
        let owned = places.filter(is_valid).count();
        let mapped = valid.iter().map(|&v| v as usize).sum::<usize>();
        if owned != mapped {
            return Err(format!("{owned} owned places for {mapped} mapped units"));
        }
        let mut free = self.groups.iter().flat_map(|g| g.free.iter());
        match free.find(|&b| self.blocks.valid(b) > 0 || self.blocks.is_sealed(b)) {
            Some(cblock) => Err(format!(
                "free block {cblock} holds data or can be collected"
            )),
            None => Ok(()),
        }
    }
}
