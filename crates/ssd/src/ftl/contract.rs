//! What a translation layer is, and what it asks of the flash array.
//!
//! A translation layer is a state machine that knows no time: it emits flash operations in the order in which
//! their effects build on each other. The engine keeps that order where it matters: an erase starts only after
//! every program that was emitted before it is done, and so does every program into a block behind a *barrier*. With
//! logs and block mapping no unit leaves its group, and the order is kept in each group by itself; so is [`Stall`].
//! A clustered block can be used again only after [`Ftl::erased`].

use crate::geometry::Geometry;
use crate::nand::store::Store;
use crate::spec::Spec;
use fathom_base::{About, Lpn, Ppn};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// No clustered block.
pub(crate) const NO_CBLOCK: u32 = u32::MAX;

/// What a translation layer asks of the flash array. Units lie within one clustered page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlashOp {
    /// Write `units` host units from `at` on.
    Program { at: Ppn, units: u32 },
    /// Move `units` units. Neighbours with one target page are gathered and programmed at once.
    Copy { from: Ppn, to: Ppn, units: u32 },
    /// Erase a clustered block.
    Erase { cblock: u32 },
    /// Programs into this clustered block wait for every program that was emitted before.
    Barrier { cblock: u32 },
    /// Read a unit of the map itself; the program or the copy that is emitted next waits for it, or, from
    /// [`Ftl::translate`], the host read that asked.
    MapRead { at: Ppn },
    /// Write a unit of the map itself. `owner` is its number among units, beyond those of the host.
    MapProgram { at: Ppn, owner: Lpn },
}

/// No erased block is at hand; worth another try after the next [`Ftl::erased`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stall;

/// Merges and garbage collections so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeCounts {
    /// Log blocks that became data blocks as they were.
    pub switch: u64,
    /// Log blocks that were completed from the data block.
    pub partial: u64,
    /// Data and log blocks merged into a new block.
    pub full: u64,
    /// Victims of garbage collection (page mapping).
    pub collected: u64,
    /// Units moved by any of these.
    pub moved_units: u64,
}

/// The cache of a map that lies in flash, so far. All zero for any other drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MapCounts {
    /// Entries that were asked for and in memory.
    pub hits: u64,
    /// Entries that were asked for and had to be read from flash. Neighbours share one read.
    pub misses: u64,
    /// Entries that translation pages took along when they were written.
    pub written_back: u64,
    /// The most entries that were held in memory beyond the cache at one time.
    pub held_max: u64,
}

/// A mapping policy.
pub(crate) trait Ftl: Sized {
    /// What is said of it, with its keys.
    const ABOUT: About;

    /// Its keys of `[mapping]`, made by [`keys!`](fathom_base::keys).
    type Config: Default + Serialize + DeserializeOwned;

    /// The translation layer of a drive that was never written. `seed` is for what it draws.
    fn new(config: Self::Config, spec: &Spec, g: &Geometry, seed: u64) -> Self;

    /// Where a unit is; [`Ppn::NONE`] where it was never written or trimmed.
    fn lookup(&self, lpn: Lpn) -> Ppn;

    /// Places runs of units: of one block and without gaps between them, or at most a clustered page in all. On [`Stall`] no unit of them is placed, but `ops`
    /// may still hold work that makes room.
    fn write(&mut self, runs: &[(Lpn, u32)], ops: &mut Vec<FlashOp>) -> Result<(), Stall>;

    /// Places the host's clustered pages from the first on in order, as [`Ftl::write`] places them one by one on a drive
    /// that was never written, without operations; how many, up to `cpages`.
    fn fill(&mut self, _cpages: u32) -> u32 {
        0
    }

    /// Makes the places of `units` units from `lpn` on known before they are read: what lies in flash of the map
    /// and not in memory. Never stalls.
    fn translate(&mut self, _lpn: Lpn, _units: u32, _ops: &mut Vec<FlashOp>) {}

    /// The host is idle: a step of work that makes room or evens out wear, ending in at most one erase; false
    /// where there is nothing to do.
    fn background(&mut self, _ops: &mut Vec<FlashOp>) -> bool {
        false
    }

    /// Forgets units.
    fn trim(&mut self, lpn: Lpn, units: u32, ops: &mut Vec<FlashOp>);

    /// An erase is done.
    fn erased(&mut self, cblock: u32);

    /// An erase has failed: the block is never used again. False where the drive cannot do without it, which
    /// ends its life.
    fn retire(&mut self, cblock: u32) -> bool;

    /// After a power cut: builds the map again from what the flash holds; `torn` are places whose program was
    /// cut off.
    fn recover(&mut self, store: &Store, torn: &[Ppn], ops: &mut Vec<FlashOp>);

    /// Whether the tables agree with each other; for tests. O(units).
    fn check(&self) -> Result<(), String>;

    /// Merges so far.
    fn merges(&self) -> MergeCounts;

    /// The cache of a map that lies in flash, so far.
    fn map_counts(&self) -> MapCounts {
        MapCounts::default()
    }

    /// Bytes of the tables.
    fn state_bytes(&self) -> usize;
}

/// Emits programs for `units` units from `at` on, split at clustered pages.
pub(super) fn emit_programs(g: &Geometry, at: u32, units: u32, ops: &mut Vec<FlashOp>) {
    let (mut at, end) = (at, at + units);
    while at < end {
        let upto = ((at / g.units_per_cpage + 1) * g.units_per_cpage).min(end);
        ops.push(FlashOp::Program {
            at: Ppn(at),
            units: upto - at,
        });
        at = upto;
    }
}

/// Emits the copy of one unit, joined to the copy before it where both ends continue within their pages.
pub(super) fn emit_copy(g: &Geometry, from: u32, to: u32, ops: &mut Vec<FlashOp>) {
    if let Some(FlashOp::Copy {
        from: f,
        to: t,
        units,
    }) = ops.last_mut()
    {
        let page = |at: u32| g.cpage_of_unit(at).0;
        if f.0 + *units == from
            && t.0 + *units == to
            && page(f.0) == page(from)
            && page(t.0) == page(to)
        {
            *units += 1;
            return;
        }
    }
    ops.push(FlashOp::Copy {
        from: Ppn(from),
        to: Ppn(to),
        units: 1,
    });
}
