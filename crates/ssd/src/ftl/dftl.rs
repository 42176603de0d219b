//! Page mapping with the map in flash and a cache of it in memory: DFTL (Gupta, Kim and Urgaonkar, ASPLOS 2009,
//! section 3).
//!
//! The map is divided into translation pages of one mapped unit each, 4 bytes per entry. The places of the
//! translation pages are kept in memory (the global translation directory: here the last `map_units` units of the
//! inner page mapping). A look-up that misses the cached mapping table reads the translation page. When a changed
//! entry leaves the cache, its translation page is read and written again, with all other changed entries of that
//! page (batch update). When collection moves a unit, its entry is changed in the cache if it is there (lazy
//! copying). Otherwise its translation page is written again, once for all of its units that moved together.
//!
//! The paper leaves open when this write happens. Here it comes with the next host read or write, before the request
//! itself, and not in the middle of a collection. While no erased block is available it waits, the entries stay in
//! memory beyond the cache ([`MapCounts::held_max`]), and the host goes first: making room never depends on room. An
//! entry of a translation page that was never written counts as a hit, because the directory alone answers it.
//!
//! With a host memory buffer, host memory holds the translation pages that were read or written last. A miss reads its
//! translation page from there, over the link, if it can.
//!
//! Differences from the paper: translation pages share blocks with data; the eviction policy is the one in `cache`;
//! TRIM changes entries too. After a power cut the entries come from a scan of the spare areas, as with page
//! mapping, and entries that differ from the translation pages in flash are written to them before the next host
//! read or write. The scan takes no time. Read-ahead reads the map, but does not wait for it.

mod cache;
mod config;
mod host_memory;
#[cfg(test)]
mod tests;

use super::contract::{FlashOp, Ftl, MapCounts, MergeCounts, Stall};
use super::page::{self, PageFtl};
use crate::bits::BitSet;
use crate::geometry::Geometry;
use crate::nand::store::Store;
use crate::spec::Spec;
use cache::Cache;
use config::Config;
use fathom_base::{About, Lpn, Ppn, Rng, SECTOR_BYTES};
use host_memory::HostMemory;
use std::collections::BTreeSet;

/// Bytes of a cached entry: a logical and a physical number.
const CACHED_BYTES: u64 = 8;

/// The state of a drive with the map in flash. Such a drive stores the cache and 4 bytes per translation page. The
/// model also stores the whole map and the owner of every place, as page mapping does, because it does not store
/// the contents of the translation pages.
#[derive(Clone, Debug)]
pub(crate) struct Dftl {
    inner: PageFtl,
    logical_units: u32,
    /// Number of entries of a translation page.
    entries: u32,
    cache: Cache,
    host_memory: HostMemory,
    /// Entries that differ from their translation page in flash.
    stale: BitSet,
    /// Number of stale entries that are not in the cache.
    held: u64,
    /// Numbers of the translation pages that must be written again because of an entry that is not cached.
    owed: BTreeSet<u32>,
    /// Set when a host write found no erased block: it goes before the writes that are owed.
    host_first: bool,
    counts: MapCounts,
}

impl Dftl {
    /// Returns the unit that holds translation page `page`.
    fn unit_of(&self, page: u32) -> Lpn {
        Lpn(self.logical_units + page)
    }

    /// Returns the entries of a translation page.
    fn entries_of(&self, page: u32) -> std::ops::Range<u32> {
        let first = page * self.entries;
        first..(first + self.entries).min(self.logical_units)
    }

    /// Marks an entry as different from flash.
    fn outdate(&mut self, lpn: u32) {
        let cached = self.cache.holds(lpn);
        if self.stale.insert(lpn) && !cached {
            self.hold();
        }
        if !cached {
            self.owed.insert(lpn / self.entries);
        }
    }

    fn hold(&mut self) {
        self.held += 1;
        self.counts.held_max = self.counts.held_max.max(self.held);
    }

    /// Makes room in the cache for those of `entries` that are not in it. The others are marked as used.
    fn make_room(&mut self, entries: impl Iterator<Item = u32>) {
        let absent = entries.filter(|&lpn| !self.cache.touch(lpn)).count();
        let kept = self.cache.room().saturating_sub(absent);
        while self.cache.len() > kept {
            self.evict();
        }
    }

    fn evict(&mut self) {
        if let Some(lpn) = self.cache.evict()
            && self.stale.contains(lpn)
        {
            self.hold();
            self.owed.insert(lpn / self.entries);
        }
    }

    /// Loads entries into the cache, and adds the reads of translation pages that this needs to `reads`.
    fn load(&mut self, entries: impl Iterator<Item = u32>, reads: &mut Vec<FlashOp>) {
        let mut last = None;
        for lpn in entries {
            let page = lpn / self.entries;
            let at = self.inner.lookup(self.unit_of(page));
            let stale = self.stale.contains(lpn);
            if self.cache.holds(lpn) {
                self.counts.hits += 1;
                continue;
            }
            if stale || !at.is_some() {
                self.counts.hits += 1;
            } else {
                self.counts.misses += 1;
                if last.replace(page) != Some(page) {
                    reads.push(self.read_page(page, at));
                }
            }
            if self.cache.len() == self.cache.room() {
                self.evict();
            }
            self.cache.insert(lpn);
            self.held -= u64::from(stale);
        }
    }

    /// Reads a translation page from host memory or from its place in flash. It is in host memory afterwards.
    fn read_page(&mut self, page: u32, at: Ppn) -> FlashOp {
        match self.host_memory.keep(page) {
            true => FlashOp::MapFetch { at },
            false => FlashOp::MapRead { at },
        }
    }

    /// Writes the translation pages that are owed, as long as there are erased blocks for them. Each is written at
    /// most once, although writing one may move units of others.
    fn pay(&mut self, ops: &mut Vec<FlashOp>) {
        let mut from = 0;
        while let Some(&page) = self.owed.range(from..).next() {
            if self.write_back(page, ops).is_err() {
                return;
            }
            from = page + 1;
        }
    }

    /// Writes a translation page again, with all of its entries that differ.
    fn write_back(&mut self, page: u32, ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        let owner = self.unit_of(page);
        let before = self.inner.lookup(owner);
        let start = ops.len();
        let placed = self.inner.write(&[(owner, 1)], ops);
        self.follow(&ops[start..]);
        placed?;
        let is_program = |op: &FlashOp| matches!(op, FlashOp::Program { .. });
        if let Some(index) = ops[start..].iter().position(is_program) {
            let index = start + index;
            let from = moved(before, &ops[start..]);
            let read = before.is_some().then(|| self.read_page(page, from));
            self.host_memory.keep(page);
            let at = self.inner.lookup(owner);
            ops[index] = FlashOp::MapProgram { at, owner };
            ops.splice(index..index, read);
        }
        let written = self.stale.count(self.entries_of(page));
        self.counts.written_back += u64::from(written);
        self.forget_stale(page);
        Ok(())
    }

    /// Marks all entries of a translation page as equal to flash.
    fn forget_stale(&mut self, page: u32) {
        let entries = self.entries_of(page);
        let held = self.cache.count_absent(&self.stale, entries.clone());
        self.held -= u64::from(held);
        self.stale.remove_range(entries);
        self.owed.remove(&page);
    }

    /// Marks the entries of all units that `ops` copied as changed.
    fn follow(&mut self, ops: &[FlashOp]) {
        for op in ops {
            let FlashOp::Copy { to, units, .. } = *op else {
                continue;
            };
            for place in to.0..to.0 + units {
                if let Some(lpn) = self.inner.owner(Ppn(place))
                    && lpn.0 < self.logical_units
                    && self.inner.lookup(lpn) == Ppn(place)
                {
                    self.outdate(lpn.0);
                }
            }
        }
    }

    /// Returns the places of all units, those of the map included.
    fn places(&self) -> Vec<Ppn> {
        let units = self.logical_units + self.logical_units.div_ceil(self.entries);
        (0..units).map(|lpn| self.inner.lookup(Lpn(lpn))).collect()
    }
}

/// Returns the place of the unit that was at `at` before the copies in `ops`.
fn moved(at: Ppn, ops: &[FlashOp]) -> Ppn {
    ops.iter().fold(at, |at, op| match *op {
        FlashOp::Copy { from, to, units } if (from.0..from.0 + units).contains(&at.0) => {
            Ppn(to.0 + at.0 - from.0)
        }
        _ => at,
    })
}

fn units_of(runs: &[(Lpn, u32)]) -> impl Iterator<Item = u32> + '_ {
    runs.iter().flat_map(|&(lpn, n)| lpn.0..lpn.0 + n)
}

impl Ftl for Dftl {
    const ABOUT: About = About::new("page mapping with the map in flash and a cache of it in memory").text(
        "DFTL (Gupta, Kim and Urgaonkar, ASPLOS 2009): `mapping.map_cache` bytes of memory cache the map entries that were \
used last. A miss reads a translation page, from `mapping.host_memory_buffer` if it is there. Evicting a changed entry reads and writes its translation page.",
    ).keys(Config::KEYS);
    type Config = Config;

    fn new(config: Config, spec: &Spec, g: &Geometry, rng: Option<Rng>) -> Self {
        let room = config.map_cache.0 / CACHED_BYTES;
        let entries = (g.sectors_per_unit * SECTOR_BYTES as u32 / 4).max(1);
        let host_pages =
            config.host_memory_buffer.0 / (u64::from(g.sectors_per_unit) * SECTOR_BYTES);
        let page = page::Config {
            striping: config.striping,
            partial_program: config.partial_program,
            placement_handles: 0,
        };
        Self {
            inner: PageFtl::new(page, spec, g, rng),
            logical_units: g.logical_units,
            entries,
            cache: Cache::new(
                room.clamp(1, u64::from(g.logical_units)) as usize,
                g.logical_units,
            ),
            host_memory: HostMemory::new(host_pages, g.logical_units.div_ceil(entries)),
            stale: BitSet::new(g.logical_units),
            held: 0,
            owed: BTreeSet::new(),
            host_first: false,
            counts: MapCounts::default(),
        }
    }

    #[inline]
    fn lookup(&self, lpn: Lpn) -> Ppn {
        self.inner.lookup(lpn)
    }

    fn write(&mut self, runs: &[(Lpn, u32)], ops: &mut Vec<FlashOp>) -> Result<(), Stall> {
        self.make_room(units_of(runs));
        if !self.host_first {
            self.pay(ops);
        }
        let start = ops.len();
        let placed = self.inner.write(runs, ops);
        self.follow(&ops[start..]);
        self.host_first = placed.is_err();
        placed?;
        let mut reads = Vec::new();
        self.load(units_of(runs), &mut reads);
        let is_program = |op: &FlashOp| matches!(op, FlashOp::Program { .. });
        let first = ops[start..].iter().position(is_program);
        let at = first.map_or(ops.len(), |index| start + index);
        ops.splice(at..at, reads);
        units_of(runs).for_each(|lpn| self.outdate(lpn));
        Ok(())
    }

    fn translate(&mut self, lpn: Lpn, units: u32, ops: &mut Vec<FlashOp>) {
        self.make_room(lpn.0..lpn.0 + units);
        if !self.host_first {
            self.pay(ops);
        }
        self.load(lpn.0..lpn.0 + units, ops);
    }

    fn background(&mut self, ops: &mut Vec<FlashOp>) -> bool {
        let start = ops.len();
        let worked = self.inner.background(ops);
        self.follow(&ops[start..]);
        worked
    }

    fn fold(&mut self, ops: &mut Vec<FlashOp>) -> bool {
        let start = ops.len();
        let worked = self.inner.fold(ops);
        self.follow(&ops[start..]);
        worked
    }

    fn trim(&mut self, lpn: Lpn, units: u32, ops: &mut Vec<FlashOp>) {
        let range = lpn.0..lpn.0 + units;
        let mapped = |lpn: &u32| self.inner.lookup(Lpn(*lpn)).is_some();
        let changed: Vec<u32> = range.clone().filter(mapped).collect();
        self.inner.trim(lpn, units, ops);
        changed.into_iter().for_each(|lpn| self.outdate(lpn));
        for page in range.start / self.entries..range.end.div_ceil(self.entries) {
            let all = self.entries_of(page);
            if range.start > all.start || range.end < all.end {
                continue;
            }
            // No entry of the page is left. It is read for the places to free, and then dropped.
            let at = self.inner.lookup(self.unit_of(page));
            if at.is_some() {
                ops.push(self.read_page(page, at));
                self.host_memory.forget(page);
            }
            self.inner.trim(self.unit_of(page), 1, ops);
            self.forget_stale(page);
        }
    }

    fn erased(&mut self, cblock: u32) {
        self.inner.erased(cblock);
    }

    fn retire(&mut self, cblock: u32) -> bool {
        self.inner.retire(cblock)
    }

    fn recover(&mut self, store: &Store, torn: &[Ppn], ops: &mut Vec<FlashOp>) {
        let before = self.places();
        self.inner.recover(store, torn, ops);
        let after = self.places();
        // Stale are: entries that were in memory only, entries that differ from their translation page, and all
        // entries of a translation page whose version in flash is not the one written last.
        let (host, map) = before.split_at(self.logical_units as usize);
        for (lpn, place) in (0..).zip(host) {
            let page = (lpn / self.entries) as usize;
            let (now, said_at) = (after[lpn as usize], after[host.len() + page]);
            let lost = said_at != map[page] && (now.is_some() || said_at.is_some());
            if now != *place || lost {
                self.stale.insert(lpn);
            }
        }
        self.cache = Cache::new(self.cache.room(), self.logical_units);
        self.host_memory.clear();
        self.host_first = false;
        self.held = u64::from(self.stale.count(0..self.logical_units));
        self.counts.held_max = self.counts.held_max.max(self.held);
        self.owed = self.stale.iter().map(|lpn| lpn / self.entries).collect();
    }

    fn check(&self) -> Result<(), String> {
        if self.cache.len() > self.cache.room() {
            return Err(format!("the map cache holds {} entries", self.cache.len()));
        }
        let mut outside = self.stale.iter().filter(|lpn| !self.cache.holds(*lpn));
        let absent = self.cache.count_absent(&self.stale, 0..self.logical_units);
        if u64::from(absent) != self.held {
            return Err(format!("{} changed entries are not cached", self.held));
        }
        match outside.find(|lpn| !self.owed.contains(&(lpn / self.entries))) {
            Some(lpn) => Err(format!("the change of entry {lpn} is nowhere kept")),
            None => self.inner.check(),
        }
    }

    fn merges(&self) -> MergeCounts {
        self.inner.merges()
    }

    fn map_counts(&self) -> MapCounts {
        self.counts
    }

    fn state_bytes(&self) -> usize {
        let sets = self.stale.state_bytes() + self.owed.len() * 4;
        self.inner.state_bytes() + self.cache.state_bytes() + self.host_memory.state_bytes() + sets
    }
}
