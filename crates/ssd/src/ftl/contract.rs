//! The interface between a translation layer and the flash array.
//!
//! A translation layer is a state machine without a clock. It emits flash operations in the order in which they
//! depend on each other, and the engine keeps that order where it matters: an erase starts only after every program
//! emitted before it is done, and so does every program into a block behind a *barrier*. In the mappings with log
//! blocks or block mapping, units never leave their group, so that both the order and a [`Stall`] apply to each
//! group separately. A clustered block can be used again only after [`Ftl::erased`].

use crate::geometry::Geometry;
use crate::nand::store::Store;
use crate::spec::Spec;
use fathom_base::{About, Lpn, Ppn, Rng};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Stands for "no clustered block".
pub(crate) const NO_CBLOCK: u32 = u32::MAX;

/// A flash operation that a translation layer requests. Its units lie within one clustered page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlashOp {
    /// Write `units` host units, starting at `at`.
    Program { at: Ppn, units: u32 },
    /// Move `units` units. Adjacent copies with the same target page are gathered and programmed together.
    Copy { from: Ppn, to: Ppn, units: u32 },
    /// Erase a clustered block.
    Erase { cblock: u32 },
    /// Programs into this clustered block wait for every program emitted before.
    Barrier { cblock: u32 },
    /// From now on this erased clustered block is in SLC mode (`fast`) or in native mode, until another such operation.
    Mode { cblock: u32, fast: bool },
    /// Read a unit of the map itself. The program or copy emitted next waits for it; if it comes from
    /// [`Ftl::translate`], the host read waits for it.
    MapRead { at: Ppn },
    /// The same from host memory, over the link: it holds a copy of the unit at `at`.
    MapFetch { at: Ppn },
    /// Write a unit of the map itself. `owner` is its logical number; units of the map are numbered after those of
    /// the host.
    MapProgram { at: Ppn, owner: Lpn },
}

/// No erased block is available. Worth retrying after the next [`Ftl::erased`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stall;

/// Numbers of merges and garbage collections so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeCounts {
    /// Switch merges: a log block became the data block as it was.
    pub switch: u64,
    /// Partial merges: a log block was completed with units from the data block.
    pub partial: u64,
    /// Full merges: data and log blocks were merged into a new block.
    pub full: u64,
    /// Victims of garbage collection (page mapping), and log blocks collected within the log (`hybrid`).
    pub collected: u64,
    /// Units moved by any of these.
    pub moved_units: u64,
    /// Those of them that were moved out of the fast cache.
    pub folded_units: u64,
}

/// Statistics of the cache of a map that lies in flash. All zero for any other drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MapCounts {
    /// Entries that were requested and were in memory.
    pub hits: u64,
    /// Entries that were requested and had to be read from flash. Entries of the same translation page share one
    /// read.
    pub misses: u64,
    /// Changed entries written to flash with their translation pages.
    pub written_back: u64,
    /// Highest number of entries held in memory beyond the cache at one time.
    pub held_max: u64,
}

/// A flash translation layer.
pub(crate) trait Ftl: Sized {
    /// Its description, with its keys.
    const ABOUT: About;

    /// Its keys of `[mapping]`, declared with [`keys!`](fathom_base::keys).
    type Config: Default + Serialize + DeserializeOwned;

    /// Builds the translation layer of a drive that was never written. `rng` draws its
    /// victims, if the drive draws them.
    fn new(config: Self::Config, spec: &Spec, g: &Geometry, rng: Option<Rng>) -> Self;

    /// Returns the place of a unit, or [`Ppn::NONE`] if it was never written or was trimmed.
    fn lookup(&self, lpn: Lpn) -> Ppn;

    /// Places runs of units. The runs lie in one block without gaps between them, or make up at most one clustered page
    /// in all. On [`Stall`] none of them is placed, but `ops` may still hold operations that make room.
    fn write(&mut self, runs: &[(Lpn, u32)], ops: &mut Vec<FlashOp>) -> Result<(), Stall>;

    /// Places the first clustered pages of the host in order, without emitting operations. The result is the same
    /// as writing them one by one with [`Ftl::write`] on a drive that was never written. Returns how many were
    /// placed, at most `cpages`.
    fn fill(&mut self, _cpages: u32) -> u32 {
        0
    }

    /// Loads the map entries of `units` units from `lpn` on before they are read: entries that are in flash and not
    /// in memory have to be read. Never stalls.
    fn translate(&mut self, _lpn: Lpn, _units: u32, _ops: &mut Vec<FlashOp>) {}

    /// Does one step of background work while the host is idle: makes room or levels wear, with at most one erase
    /// at its end. Returns false if there is nothing to do.
    fn background(&mut self, _ops: &mut Vec<FlashOp>) -> bool {
        false
    }

    /// Does one short step of moving data out of the fast cache while the host is idle. Returns false if there is nothing
    /// to do.
    fn fold(&mut self, _ops: &mut Vec<FlashOp>) -> bool {
        false
    }

    /// Forgets `units` units from `lpn` on.
    fn trim(&mut self, lpn: Lpn, units: u32, ops: &mut Vec<FlashOp>);

    /// Reports that an erase is done.
    fn erased(&mut self, cblock: u32);

    /// Reports that an erase has failed: the block is never used again. Returns false if the drive cannot do
    /// without the block, which ends its life.
    fn retire(&mut self, cblock: u32) -> bool;

    /// Rebuilds the map from the contents of the flash after a power cut. `torn` are the places whose program was
    /// cut off.
    fn recover(&mut self, store: &Store, torn: &[Ppn], ops: &mut Vec<FlashOp>);

    /// Checks that the tables agree with each other; for tests. O(units).
    fn check(&self) -> Result<(), String>;

    /// Returns the numbers of merges so far.
    fn merges(&self) -> MergeCounts;

    /// Returns the statistics of the cache of a map that lies in flash.
    fn map_counts(&self) -> MapCounts {
        MapCounts::default()
    }

    /// Returns the size of the tables in bytes.
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

/// Emits the copy of one unit. It is joined to the copy before it if source and target both continue within their
/// pages.
#[inline]
pub(super) fn emit_copy(g: &Geometry, from: u32, to: u32, ops: &mut Vec<FlashOp>) {
    if g.units_per_cpage > 1
        && let Some(FlashOp::Copy {
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
