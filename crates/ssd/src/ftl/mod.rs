//! The flash translation layers. Each one maps logical to physical units, chooses where a write goes, and moves
//! data to free blocks.
//!
//! All of them implement [`Ftl`]; each has a file of its own.

mod block;
mod config;
mod contract;
mod dftl;
mod fast;
mod hybrid;
pub(crate) mod page;
mod pool;
mod replacement;
mod striping;
mod superblock;
mod victim;

pub(crate) use contract::{FlashOp, Stall};
pub use contract::{MapCounts, MergeCounts};

use crate::geometry::Geometry;
use crate::nand::store::Store;
use crate::spec::{FTL, MappingKind, Spec};
use contract::Ftl;
use fathom_base::registry::table_of;
use fathom_base::{BadValue, Lpn, Named, Ppn};

/// One line per mapping. It expands to the list entry, the enum variant, the constructor and the calls without
/// dynamic dispatch. The names come from [`MappingKind`]. The types cannot be part of that list: it belongs to the
/// drive file, which the mappings depend on.
macro_rules! mappings {
    ($($kind:ident => $ftl:ty;)+) => {
        /// Translation layers: values of `mapping.kind`.
        pub const FTLS: &[Named] = &[$(Named::new(
            &FTL,
            MappingKind::$kind.name(),
            <$ftl as Ftl>::ABOUT.settings(|| table_of(&<$ftl as Ftl>::Config::default())),
        )),+];

        /// The mapping of a drive. It is an enum to keep dynamic dispatch off the path of a flash operation.
        #[allow(clippy::large_enum_variant, reason = "a drive has one of it")]
        #[derive(Clone, Debug)]
        pub(crate) enum AnyFtl {
            $($kind($ftl)),+
        }

        impl AnyFtl {
            /// Builds the mapping that the spec names. `seed` starts its random numbers.
            pub(crate) fn new(spec: &Spec, geometry: &Geometry, seed: u64) -> Result<Self, BadValue> {
                Ok(match spec.mapping.kind {
                    $(MappingKind::$kind => {
                        let config = config::read::<$ftl>(&spec.mapping)?;
                        AnyFtl::$kind(<$ftl>::new(config, spec, geometry, seed))
                    }),+
                })
            }

            /// Checks the keys of the mapping that the spec names.
            ///
            /// # Errors
            /// [`BadValue`] for the first key that the mapping rejects.
            pub(crate) fn check_keys(spec: &Spec) -> Result<(), BadValue> {
                match spec.mapping.kind {
                    $(MappingKind::$kind => config::read::<$ftl>(&spec.mapping).map(drop)),+
                }
            }
        }

        macro_rules! each {
            ($self:ident, $any:ident => $call:expr) => {
                match $self {
                    $(AnyFtl::$kind($any) => $call),+
                }
            };
        }
    };
}

mappings! {
    Page => page::PageFtl;
    Dftl => dftl::Dftl;
    Block => block::BlockFtl;
    Replacement => replacement::ReplacementFtl;
    Fast => fast::FastFtl;
    Superblock => superblock::SuperblockFtl;
    Hybrid => hybrid::HybridFtl;
}

/// Forwards every method of [`Ftl`] to the mapping in use.
impl AnyFtl {
    #[inline]
    pub(crate) fn lookup(&self, lpn: Lpn) -> Ppn {
        each!(self, ftl => ftl.lookup(lpn))
    }
    #[inline]
    pub(crate) fn write(
        &mut self,
        runs: &[(Lpn, u32)],
        ops: &mut Vec<FlashOp>,
    ) -> Result<(), Stall> {
        each!(self, ftl => ftl.write(runs, ops))
    }
    #[inline]
    pub(crate) fn translate(&mut self, lpn: Lpn, units: u32, ops: &mut Vec<FlashOp>) {
        each!(self, ftl => ftl.translate(lpn, units, ops));
    }
    pub(crate) fn fill(&mut self, cpages: u32) -> u32 {
        each!(self, ftl => ftl.fill(cpages))
    }
    pub(crate) fn background(&mut self, ops: &mut Vec<FlashOp>) -> bool {
        each!(self, ftl => ftl.background(ops))
    }
    pub(crate) fn trim(&mut self, lpn: Lpn, units: u32, ops: &mut Vec<FlashOp>) {
        each!(self, ftl => ftl.trim(lpn, units, ops));
    }
    pub(crate) fn erased(&mut self, cblock: u32) {
        each!(self, ftl => ftl.erased(cblock));
    }
    pub(crate) fn retire(&mut self, cblock: u32) -> bool {
        each!(self, ftl => ftl.retire(cblock))
    }
    pub(crate) fn recover(&mut self, store: &Store, torn: &[Ppn], ops: &mut Vec<FlashOp>) {
        each!(self, ftl => ftl.recover(store, torn, ops));
    }
    pub(crate) fn check(&self) -> Result<(), String> {
        each!(self, ftl => ftl.check())
    }
    pub(crate) fn merges(&self) -> MergeCounts {
        each!(self, ftl => ftl.merges())
    }
    pub(crate) fn map_counts(&self) -> MapCounts {
        each!(self, ftl => ftl.map_counts())
    }
    pub(crate) fn state_bytes(&self) -> usize {
        each!(self, ftl => ftl.state_bytes())
    }
}
