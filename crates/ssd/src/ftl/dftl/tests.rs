//! Checks the contents of the translation pages in flash, derived from the emitted operations alone.

use super::*;
use crate::ftl::config;
use crate::spec::small::small;
use crate::spec::{MappingKind, Spec};
use fathom_base::Bytes;
use fathom_base::Rng;
use std::collections::BTreeMap;

/// Two dies with blocks of sixteen pages, two units each.
fn spec() -> Spec {
    let mut spec = small(MappingKind::Dftl);
    spec.capacity = Bytes::kib(512);
    (spec.flash.channels, spec.flash.pages_per_block) = (2, 16);
    (spec.flash.page, spec.flash.clustered_page) = (Bytes::kib(1), Bytes::kib(1));
    spec.flash.clustered_block = Bytes::kib(16);
    spec.mapping.over_provisioning_percent = 20.0;
    (spec.mapping.unit, spec.mapping.map_cache) = (Some(Bytes(512)), Some(Bytes(256)));
    spec
}

/// The number that all programs get: they are done in order of issue.
const PROGRAM: u64 = 0;

/// A drive of 1024 units with 8 translation pages of 128 entries, and the contents of its flash.
struct Replay {
    ftl: Dftl,
    /// The unit last written to each place.
    owner_at: Vec<Option<u32>>,
    /// The place of every unit, those of the map included.
    place_of: Vec<Ppn>,
    /// The entries of each translation page, if it was written.
    pages: Vec<Option<Vec<Ppn>>>,
    erasing: Vec<u32>,
    map_programs: u64,
    store: Store,
    /// Programs that may not be done yet.
    pending: Vec<(Ppn, u32)>,
    /// The entries of the translation page that was programmed at each place.
    said_at: BTreeMap<Ppn, Vec<Ppn>>,
}

impl Replay {
    fn new() -> Self {
        let spec = spec();
        let g = Geometry::new(&spec);
        assert_eq!((g.logical_units, g.map_units), (1024, 8));
        Self {
            ftl: Dftl::new(
                config::read::<Dftl>(&spec.mapping).unwrap(),
                &spec,
                &g,
                None,
            ),
            owner_at: vec![None; g.physical_units() as usize],
            place_of: vec![Ppn::NONE; 1032],
            pages: vec![None; 8],
            erasing: Vec::new(),
            map_programs: 0,
            store: Store::new(&g, true),
            pending: Vec::new(),
            said_at: BTreeMap::new(),
        }
    }

    /// Applies the operations that one call emitted. `written` are the units that its host programs write, in
    /// order.
    fn take(&mut self, ops: &[FlashOp], written: &[u32]) {
        let mut written = written.iter();
        let mut rewritten = Vec::new();
        for op in ops {
            match *op {
                FlashOp::Program { at, units } => {
                    for place in at.0..at.0 + units {
                        let lpn = *written.next().unwrap();
                        self.put(lpn, place);
                        self.store.program(Ppn(place), Lpn(lpn), &[]);
                    }
                    self.store.issue(at, units, PROGRAM);
                    self.pending.push((at, units));
                }
                FlashOp::Copy { from, to, units } => {
                    for i in 0..units {
                        let owner = self.owner_at[(from.0 + i) as usize].unwrap();
                        assert_eq!(self.place_of[owner as usize], Ppn(from.0 + i));
                        self.put(owner, to.0 + i);
                        if let Some(said) = self.said_at.get(&Ppn(from.0 + i)).cloned() {
                            self.said_at.insert(Ppn(to.0 + i), said);
                        }
                    }
                    self.store.copy(from, to, units, PROGRAM);
                    self.pending.push((to, units));
                }
                FlashOp::Mode { .. } => {}
                FlashOp::MapRead { at } | FlashOp::MapFetch { at } => {
                    let owner = self.owner_at[at.index()].unwrap();
                    assert!(owner >= 1024 && self.place_of[owner as usize] == at);
                }
                FlashOp::MapProgram { at, owner } => {
                    self.put(owner.0, at.0);
                    let page = owner.index() - 1024;
                    let entries = &self.place_of[page * 128..][..128];
                    self.pages[page] = Some(entries.to_vec());
                    self.said_at.insert(at, entries.to_vec());
                    self.store.program(at, owner, &[]);
                    self.store.issue(at, 1, PROGRAM);
                    self.pending.push((at, 1));
                    assert!(!rewritten.contains(&page), "written twice in one call");
                    rewritten.push(page);
                    self.map_programs += 1;
                }
                FlashOp::Erase { cblock } => self.erasing.push(cblock),
                FlashOp::Barrier { .. } => panic!("page mapping needs no barrier"),
            }
        }
        assert!(written.next().is_none());
    }

    fn put(&mut self, owner: u32, place: u32) {
        self.owner_at[place as usize] = Some(owner);
        self.place_of[owner as usize] = Ppn(place);
    }

    /// Completes all but the last `but` programs.
    fn settle(&mut self, but: usize) {
        let done = self.pending.len().saturating_sub(but);
        for (at, units) in self.pending.drain(..done) {
            self.store.settle(at, units, PROGRAM);
        }
    }

    fn erase_one(&mut self) {
        if let Some(cblock) = self.erasing.pop() {
            self.settle(0);
            self.store.erase(cblock);
            (cblock * 32..cblock * 32 + 32).for_each(|at| drop(self.said_at.remove(&Ppn(at))));
            self.ftl.erased(cblock);
        }
    }

    /// Cuts the power. The drive recovers from the contents of the flash.
    fn cut(&mut self, but: usize) {
        self.settle(but);
        self.pending.clear();
        self.erasing.clear();
        let torn = self.store.power_cut();
        let mut ops = Vec::new();
        self.ftl.recover(&self.store, &torn, &mut ops);
        self.take(&ops, &[]);
        self.place_of = (0..1032).map(|lpn| self.ftl.lookup(Lpn(lpn))).collect();
        self.owner_at.fill(None);
        for (owner, place) in (0..).zip(&self.place_of) {
            if place.is_some() {
                self.owner_at[place.index()] = Some(owner);
            }
        }
        let pages = self.place_of[1024..].iter();
        self.pages = pages.map(|at| self.said_at.get(at).cloned()).collect();
    }

    fn write(&mut self, lpn: u32, units: u32) {
        loop {
            let mut ops = Vec::new();
            let placed = self.ftl.write(&[(Lpn(lpn), units)], &mut ops);
            let written: Vec<u32> = (lpn..lpn + units).collect();
            self.take(&ops, if placed.is_ok() { &written } else { &[] });
            if placed.is_ok() {
                return;
            }
            assert!(!self.erasing.is_empty(), "waits for nothing");
            self.erase_one();
        }
    }

    fn trim(&mut self, lpn: u32, units: u32) {
        let mut ops = Vec::new();
        self.ftl.trim(Lpn(lpn), units, &mut ops);
        self.take(&ops, &[]);
        self.place_of[lpn as usize..(lpn + units) as usize].fill(Ppn::NONE);
        for page in (0..8usize).filter(|p| {
            let (first, end) = (*p as u32 * 128, *p as u32 * 128 + 128);
            lpn <= first && end <= lpn + units
        }) {
            (self.pages[page], self.place_of[1024 + page]) = (None, Ppn::NONE);
        }
    }

    /// Checks that every entry that is not stale is the same in its translation page.
    fn check(&self) {
        for lpn in 0..1024u32 {
            let place = self.place_of[lpn as usize];
            assert_eq!(self.ftl.lookup(Lpn(lpn)), place);
            if self.ftl.stale.contains(lpn) {
                continue;
            }
            let page = self.pages[(lpn / 128) as usize].as_ref();
            let said = page.map_or(Ppn::NONE, |page| page[(lpn % 128) as usize]);
            assert_eq!(said, place, "entry {lpn}");
        }
        self.ftl.check().unwrap();
    }
}

#[test]
fn translation_pages_say_what_is_not_in_memory() {
    let mut replay = Replay::new();
    let mut rng = Rng::new(1, 0);
    for step in 0..20_000 {
        let lpn = rng.below(1024) as u32;
        if rng.chance(0.005) {
            replay.cut(rng.below(30) as usize);
            replay.check();
        }
        match rng.below(20) {
            0 => {
                let units = 1 + rng.below(300) as u32;
                replay.trim(lpn, units.min(1024 - lpn));
            }
            1..4 => {
                let mut ops = Vec::new();
                let units = 1 + rng.below(2) as u32;
                replay
                    .ftl
                    .translate(Lpn(lpn), units.min(1024 - lpn), &mut ops);
                replay.take(&ops, &[]);
            }
            4..7 => replay.erase_one(),
            _ => replay.write(lpn & !1, 1 + rng.below(2) as u32),
        }
        if step % 16 == 0 {
            replay.check();
        }
    }
    // The run covered all of these cases.
    let counts = replay.ftl.map_counts();
    assert!(counts.misses > 1000 && counts.hits > 1000, "{counts:?}");
    assert!(replay.ftl.merges().collected > 1000 && replay.map_programs > 1000);
}

#[test]
fn what_collection_moves_costs_one_program_for_each_translation_page() {
    let mut replay = Replay::new();
    (0..1024).step_by(2).for_each(|lpn| replay.write(lpn, 2));
    let mut rng = Rng::new(2, 0);
    let mut seen = 0;
    while seen < 100 {
        let mut ops = Vec::new();
        let lpn = rng.below(512) as u32 * 2;
        let cached: Vec<bool> = (0..1024).map(|lpn| replay.ftl.cache.holds(lpn)).collect();
        let before = replay.place_of.clone();
        if replay.ftl.write(&[(Lpn(lpn), 2)], &mut ops).is_err() {
            replay.take(&ops, &[]);
            replay.erase_one();
            continue;
        }
        replay.take(&ops, &[lpn, lpn + 1]);
        let moved = (0..1024u32).filter(|&l| before[l as usize] != replay.place_of[l as usize]);
        let uncached = moved.filter(|&l| l / 2 != lpn / 2 && !cached[l as usize]);
        let mut pages: Vec<u32> = uncached.map(|l| l / 128).collect();
        pages.dedup();
        // Writing one page may make room, which may move units of a page that was written after it.
        let written_now = |page: &u32| {
            let owner = Lpn(1024 + page);
            let mut programs = ops.iter();
            programs.any(|op| matches!(op, FlashOp::MapProgram { owner: o, .. } if *o == owner))
        };
        pages.retain(|page| !written_now(page));
        seen += usize::from(pages.len() > 1);
        // The next call writes each page once, however many of its units moved, unless there is no room.
        let mut ops = Vec::new();
        replay.ftl.translate(Lpn(lpn), 1, &mut ops);
        replay.take(&ops, &[]);
        let written = |page: &u32| {
            let owner = Lpn(1024 + page);
            let programs = ops.iter();
            programs
                .filter(|op| matches!(op, FlashOp::MapProgram { owner: o, .. } if *o == owner))
                .count()
        };
        for page in &pages {
            let waits = replay.ftl.owed.contains(page);
            assert!(written(page) == 1 || waits, "page {page} of {pages:?}");
        }
        replay.check();
    }
}
