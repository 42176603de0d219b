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
mod zoned;

pub(crate) use contract::{FlashOp, Stall};
pub use contract::{MapCounts, MergeCounts};

use crate::geometry::Geometry;
use crate::nand::store::Store;
use crate::spec::{FTL, MappingKind, Spec};
use contract::Ftl;
use fathom_base::registry::table_of;
use fathom_base::{BadValue, Lpn, Named, Ppn, Rng};

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
            /// Builds the mapping that the spec names. `rng` draws its victims, if the drive draws them.
            pub(crate) fn new(
                spec: &Spec,
                geometry: &Geometry,
                rng: Option<Rng>,
            ) -> Result<Self, BadValue> {
                Ok(match spec.mapping.kind {
                    $(MappingKind::$kind => {
                        let config = config::read::<$ftl>(&spec.mapping)?;
                        AnyFtl::$kind(<$ftl>::new(config, spec, geometry, rng))
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
    Zoned => zoned::ZonedFtl;
}

impl AnyFtl {
    /// Returns the placement handle of the last write of a unit.
    #[inline]
    pub(crate) fn placement(&self, lpn: Lpn) -> u8 {
        match self {
            AnyFtl::Page(ftl) => ftl.placement(lpn),
            _ => 0,
        }
    }

    /// Notes the placement handle of a write of units `from` to `to`.
    pub(crate) fn note_placement(&mut self, from: Lpn, to: Lpn, handle: u8) {
        if let AnyFtl::Page(ftl) = self {
            ftl.note_placement(from, to, handle);
        }
    }

    /// Returns the zones, if the drive has them.
    pub(crate) fn zones(&mut self) -> Option<&mut zoned::ZonedFtl> {
        match self {
            AnyFtl::Zoned(ftl) => Some(ftl),
            _ => None,
        }
    }
}

/// Forwards methods of [`Ftl`] to the mapping in use.
macro_rules! forward {
    ($($(#[$attr:meta])* [$($by:tt)+] $name:ident($this:ident $(, $arg:ident: $ty:ty)*) $(-> $ret:ty)?;)+) => {
        impl AnyFtl {
            $($(#[$attr])* pub(crate) fn $name($($by)+ $this $(, $arg: $ty)*) $(-> $ret)? {
                each!($this, ftl => ftl.$name($($arg),*))
            })+
        }
    };
}

forward! {
    #[inline]
    [&] lookup(self, lpn: Lpn) -> Ppn;
    #[inline]
    [&mut] write(self, runs: &[(Lpn, u32)], ops: &mut Vec<FlashOp>) -> Result<(), Stall>;
    #[inline]
    [&mut] translate(self, lpn: Lpn, units: u32, ops: &mut Vec<FlashOp>);
    [&mut] fill(self, cpages: u32) -> u32;
    [&mut] background(self, ops: &mut Vec<FlashOp>) -> bool;
    [&mut] fold(self, ops: &mut Vec<FlashOp>) -> bool;
    [&mut] trim(self, lpn: Lpn, units: u32, ops: &mut Vec<FlashOp>);
    [&mut] erased(self, cblock: u32);
    [&mut] retire(self, cblock: u32) -> bool;
    [&mut] recover(self, store: &Store, torn: &[Ppn], ops: &mut Vec<FlashOp>);
    [&] check(self) -> Result<(), String>;
    [&] merges(self) -> MergeCounts;
    [&] map_counts(self) -> MapCounts;
    [&] state_bytes(self) -> usize;
}
