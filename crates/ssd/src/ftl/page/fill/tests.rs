//! A drive that was filled at once is one that was written page by page.

use super::super::{Config, PageFtl};
use crate::ftl::config;
use crate::ftl::contract::{FlashOp, Ftl};
use crate::geometry::Geometry;
use crate::nand::store::Store;
use crate::spec::small::small;
use crate::spec::{MappingKind, Spec, Striping};
use fathom_base::{Bytes, Lpn, Ppn, Rng};

/// The two drives.
struct Pair {
    at_once: PageFtl,
    by_page: PageFtl,
    units: u32,
}

/// Six groups of 2 or 3 channels and 2 planes, with pages of `units` units. A third of the blocks is spare.
fn spec(channels: u32, units: u64, striping: Striping) -> Spec {
    let mut spec = small(MappingKind::Page);
    (spec.flash.channels, spec.flash.planes_per_die) = (channels, 2);
    spec.capacity = Bytes::kib(u64::from(channels) * 400);
    spec.mapping.unit = Some(Bytes(2048 / units));
    spec.mapping.striping = striping;
    spec.mapping.over_provisioning_percent = 40.0;
    spec.mapping.partial_program = units > 1;
    spec
}

fn ftl(spec: &Spec) -> PageFtl {
    spec.check().unwrap();
    let config: Config = config::read::<PageFtl>(&spec.mapping).unwrap();
    PageFtl::new(config, spec, &Geometry::new(spec), None)
}

impl Pair {
    /// Fills one drive at once and the other one by as many pages.
    fn filled(spec: &Spec, cpages: u32) -> Self {
        let (mut at_once, mut by_page) = (ftl(spec), ftl(spec));
        let filled = at_once.fill(cpages);
        let units = at_once.g.units_per_cpage;
        assert!(filled > 0 && filled.is_multiple_of(at_once.g.groups));
        let mut ops = Vec::new();
        for page in 0..filled {
            by_page
                .write(&[(Lpn(page * units), units)], &mut ops)
                .unwrap();
        }
        let (units, pages) = (at_once.g.logical_units, filled * units);
        assert!(pages <= units && by_page.lookup(Lpn(pages - 1)).is_some());
        Self {
            at_once,
            by_page,
            units,
        }
    }

    /// Compares every entry.
    fn compare(&self) {
        let places = 0..self.at_once.g.physical_units();
        for lpn in 0..self.units {
            let places = [&self.at_once, &self.by_page].map(|ftl| ftl.lookup(Lpn(lpn)));
            assert_eq!(places[0], places[1], "unit {lpn}");
        }
        for place in places {
            let owners = [&self.at_once, &self.by_page].map(|ftl| ftl.owner(Ppn(place)));
            assert_eq!(owners[0], owners[1], "place {place}");
        }
        let held = |ftl: &PageFtl| ftl.groups.iter().map(|at| at.valid).collect::<Vec<_>>();
        assert_eq!(held(&self.at_once), held(&self.by_page));
        self.at_once.check().unwrap();
        self.by_page.check().unwrap();
    }

    /// Does the same to both drives, and compares the operations that follow from it. Every erase is done at once. Returns the
    /// number of erases.
    fn step(&mut self, act: impl Fn(&mut PageFtl, &mut Vec<FlashOp>)) -> usize {
        let [one, other] = [&mut self.at_once, &mut self.by_page].map(|ftl| {
            let mut ops = Vec::new();
            act(ftl, &mut ops);
            for op in &ops {
                if let &FlashOp::Erase { cblock } = op {
                    ftl.erased(cblock);
                }
            }
            ops
        });
        assert_eq!(one, other);
        let erases = |op: &&FlashOp| matches!(op, FlashOp::Erase { .. });
        one.iter().filter(erases).count()
    }

    /// Writes and trims units at random, and collects in the background. Returns the number of erases.
    fn churn(&mut self, steps: u32, rng: &mut Rng, trims: bool) -> usize {
        let most = self.at_once.g.units_per_cpage;
        let mut erases = 0;
        for _ in 0..steps {
            let n = 1 + rng.below(u64::from(most)) as u32;
            let lpn = Lpn(rng.below(u64::from(self.units - n)) as u32);
            let what = rng.below(40);
            erases += self.step(|ftl, ops| match what {
                0 if trims => ftl.trim(lpn, n, ops),
                1 => drop(ftl.background(ops)),
                // It stalls where it has to wait for an erase; that makes room for the next write.
                _ => ftl.write(&[(lpn, n)], ops).unwrap_or_default(),
            });
            let [a, b] = [&self.at_once, &self.by_page].map(|ftl| ftl.lookup(lpn));
            assert_eq!(a, b);
        }
        erases
    }
}

fn striped() -> [Striping; 3] {
    [Striping::Dynamic, Striping::Cwdp, Striping::Pdwc]
}

#[test]
fn every_entry_is_what_writing_page_by_page_enters() {
    for (channels, units) in [(1, 1), (2, 1), (3, 1), (2, 2), (3, 4)] {
        for striping in striped() {
            let spec = spec(channels, units, striping);
            let g = Geometry::new(&spec);
            assert_eq!(g.groups, 2 * channels);
            for cpages in [g.groups * 4, g.groups * 30 + 1, u32::MAX] {
                let cpages = cpages.min(g.logical_units / g.units_per_cpage);
                Pair::filled(&spec, cpages).compare();
            }
        }
    }
}

/// The copy of a drive has the entries that were made, and goes on in its place.
#[test]
fn what_is_written_trimmed_and_collected_later_is_the_same() {
    for (channels, units) in [(1, 1), (3, 1), (2, 2), (3, 4)] {
        for striping in striped() {
            let spec = spec(channels, units, striping);
            let mut pair = Pair::filled(&spec, pages(&spec));
            let mut rng = Rng::new(u64::from(channels), units);
            let mut erases = 0;
            for _ in 0..12 {
                erases += pair.churn(250, &mut rng, true);
                pair.compare();
                pair.at_once = pair.at_once.clone();
                pair.compare();
            }
            let blocks = pair.at_once.g.cblocks() as usize;
            assert!(erases > blocks, "{erases} of {blocks} blocks erased");
        }
    }
}

/// A map of as many units keeps what differs from the rule in a hash table until that is much.
#[test]
fn a_large_drive_is_the_same_before_and_after_its_table_is_written() {
    for striping in [Striping::Dynamic, Striping::Cwdp] {
        let mut spec = spec(2, 4, striping);
        spec.capacity = Bytes::mib(2 << 10);
        (spec.flash.pages_per_block, spec.flash.clustered_block) = (256, Bytes::kib(512));
        spec.mapping.over_provisioning_percent = 1.0;
        let mut pair = Pair::filled(&spec, pages(&spec) - 5_000);
        let mut rng = Rng::new(5, 0);
        pair.churn(15_000, &mut rng, false);
        assert!(!pair.at_once.map.is_written());
        pair.at_once = pair.at_once.clone();
        pair.compare();
        pair.churn(20_000, &mut rng, false);
        assert!(pair.at_once.map.is_written());
        pair.churn(1_000, &mut rng, true);
        pair.compare();
    }
}

#[test]
fn a_trim_of_a_large_drive_is_the_same() {
    let mut spec = spec(2, 4, Striping::Cwdp);
    spec.capacity = Bytes::mib(2 << 10);
    (spec.flash.pages_per_block, spec.flash.clustered_block) = (256, Bytes::kib(512));
    let mut pair = Pair::filled(&spec, pages(&spec));
    pair.churn(2_000, &mut Rng::new(6, 0), true);
    pair.compare();
}

#[test]
fn a_power_cut_leaves_nothing_of_the_rule() {
    let spec = spec(3, 2, Striping::Cwdp);
    let mut pair = Pair::filled(&spec, pages(&spec));
    let store = Store::new(&pair.at_once.g, false);
    for cut in 0..2 {
        pair.churn(500 * cut, &mut Rng::new(8, 0), true);
        pair.step(|ftl, ops| ftl.recover(&store, &[], ops));
        assert!((0..pair.units).all(|lpn| !pair.at_once.lookup(Lpn(lpn)).is_some()));
        pair.compare();
    }
    pair.churn(3_000, &mut Rng::new(9, 0), true);
    pair.compare();
}

/// Number of clustered pages that the host can write.
fn pages(spec: &Spec) -> u32 {
    let g = Geometry::new(spec);
    g.logical_units / g.units_per_cpage
}

#[test]
fn only_a_new_drive_is_filled_at_once() {
    let spec = spec(2, 1, Striping::Cwdp);
    let mut drive = ftl(&spec);
    assert!(drive.clone().fill(400) > 0);
    drive.write(&[(Lpn(0), 1)], &mut Vec::new()).unwrap();
    assert_eq!(drive.fill(400), 0);
    let mut drive = ftl(&spec);
    assert_eq!(
        drive.fill(drive.g.groups * drive.g.cpages_per_cblock - 1),
        0
    );
    assert!(drive.retire(0) || drive.fill(400) == 0);
    assert_eq!(drive.fill(400), 0, "a block is gone");
}
