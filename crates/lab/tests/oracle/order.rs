//! Measures random writes against sequential ones, and writes across block boundaries against writes within a block, to see
//! which block size makes a difference.

use super::rig::{Rig, apart, scattered, steady, writes};
use fathom_base::Rng;
use fathom_block::Op;
use fathom_ssd::Spec;

const MIB: u64 = 1 << 20;

/// Maximum number of clustered pages of the drive, and of those that one measurement may move.
const PAGES_MAX: u64 = 100_000;

/// Effect of the order of writes for one block size: the time of random writes over that of sequential ones.
pub(crate) struct Order {
    /// For half blocks.
    pub(crate) half: f64,
    /// For whole blocks.
    pub(crate) one: f64,
    /// For whole blocks, shifted by half a block.
    pub(crate) shifted: f64,
    /// [`Worn::across`] or [`Worn::parted`], whichever is larger.
    pub(crate) boundary: f64,
}

impl Order {
    /// Returns by how much the ratio for whole blocks is better than for half or shifted blocks.
    pub(crate) fn stands_out(&self) -> f64 {
        self.half.max(self.shifted) / self.one - 1.0
    }
}

/// Takes the measurements, if the drive is small enough.
pub(crate) fn order(spec: &Spec) -> Option<Order> {
    let (page, block) = (spec.flash.clustered_page.0, spec.flash.clustered_block.0);
    let worn = Worn::new(spec)?;
    let half = block / 2 / page * page;
    Some(Order {
        half: worn.order(half, 0),
        one: worn.order(block, 0),
        shifted: worn.order(block, half),
        boundary: worn.across().max(worn.parted()),
    })
}

/// A filled drive with its log blocks in use.
struct Worn<'a> {
    spec: &'a Spec,
    rig: Rig,
    bytes: u64,
}

impl<'a> Worn<'a> {
    fn new(spec: &'a Spec) -> Option<Self> {
        let page = spec.flash.clustered_page.0;
        let logs = u64::from(spec.mapping.log_blocks);
        let memory = spec.write_buffer.as_ref().map_or(0, |b| b.capacity.0);
        // Enough writes to use every log several times.
        let turns = (4 * logs + 16) * spec.flash.clustered_block.0;
        let bytes = turns.max(6 * memory).max(64 * MIB);
        if bytes.max(spec.capacity.0) / page > PAGES_MAX {
            return None;
        }
        let mut rig = Rig::quiet(spec);
        rig.fill(spec.capacity.0);
        let places = scattered(spec.capacity.0, page, 0, (2 * logs + 64).min(1024));
        rig.play(writes(&places, page, false), 32);
        Some(Worn { spec, rig, bytes })
    }

    /// Returns the time of random writes of a size over that of sequential ones: the larger of the ratios without a flush
    /// and with one after each write.
    fn order(&self, size: u64, shift: u64) -> f64 {
        let of = |flush| {
            let random = self.time(&self.permuted(size, shift), size, flush);
            let sequential = self.time(&self.in_order(size), size, flush);
            random / sequential
        };
        let unflushed: f64 = of(false);
        unflushed.max(of(true))
    }

    fn time(&self, places: &[u64], size: u64, flush: bool) -> f64 {
        let depth = if flush { 1 } else { 32 };
        steady(&self.rig, &writes(places, size, flush), depth)
    }

    fn count(&self, size: u64) -> usize {
        (self.bytes / size).clamp(8, 200_000) as usize
    }

    fn slots(&self, size: u64, shift: u64) -> u64 {
        (self.spec.capacity.0 - shift) / size
    }

    fn in_order(&self, size: u64) -> Vec<u64> {
        let slots = self.slots(size, 0);
        (0..self.count(size) as u64)
            .map(|i| i % slots * size)
            .collect()
    }

    /// Returns every place once in random order, repeatedly.
    fn permuted(&self, size: u64, shift: u64) -> Vec<u64> {
        let mut rng = Rng::new(9, size);
        let mut all = Vec::new();
        while all.len() < self.count(size) {
            let mut pass: Vec<u64> = (0..self.slots(size, shift))
                .map(|i| i * size + shift)
                .collect();
            rng.shuffle(&mut pass);
            all.extend(pass);
        }
        all.truncate(self.count(size));
        all
    }

    /// Returns the relative difference between reads of the two pages on either side of a block's end and reads of two
    /// pages within a block.
    fn parted(&self) -> f64 {
        let (page, block) = (
            self.spec.flash.clustered_page.0,
            self.spec.flash.clustered_block.0,
        );
        let blocks = self.spec.capacity.0 / block;
        let time = |offset: u64| {
            let mut rng = Rng::new(2, 3);
            let reads =
                (0..500).map(|_| (Op::Read, rng.below(blocks - 1) * block + offset, 2 * page));
            self.rig.clone().play(reads, 1)
        };
        apart(time(block - page), time(block / 2 / page * page))
    }

    /// Returns the relative excess in time of small flushed writes across a block boundary over those within a block, over
    /// more blocks than there are logs for.
    fn across(&self) -> f64 {
        let (page, block) = (
            self.spec.flash.clustered_page.0,
            self.spec.flash.clustered_block.0,
        );
        let blocks = self.spec.capacity.0 / block;
        let time = |offset: u64| {
            let mut rng = Rng::new(2, 2);
            // Every other block, so that a write across a boundary uses a block that no other write touches.
            let places: Vec<u64> = (0..2_000)
                .map(|_| rng.below(blocks / 2) * 2 * block + offset)
                .collect();
            let accesses = writes(&places, 2 * page, true);
            steady(&self.rig, &accesses, 1)
        };
        time(block - page) / time(block / 2 / page * page) - 1.0
    }
}
