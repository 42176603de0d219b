//! What a mapping takes from a drive file, each by a type of its own ([`super::contract::Ftl::Config`]).
//!
//! The section `[mapping]` has the keys of all mappings side by side, so that one file serves a comparison of them. A
//! mapping reads those that it has, and refuses what would mean something else with it.

use crate::spec::{Flash, Gc, Mapping, Spec, Striping};
use fathom_base::{BadValue, want};

/// The least memory for a map in flash.
const MAP_CACHE_MIN: u64 = 64;

/// What a mapping takes from a drive file.
pub(crate) trait Config: Sized {
    /// Reads its keys.
    ///
    /// # Errors
    /// [`BadValue`] for a key that it cannot work with.
    fn read(spec: &Spec) -> Result<Self, BadValue>;
}

/// Mappings with log blocks: `block`, `replacement`, `fast`, `superblock` and `hybrid`.
#[derive(Clone, Debug)]
pub(crate) struct LogConfig {
    /// Log blocks of the drive.
    log_blocks: u32,
    /// The least of a group.
    logs_min: u32,
    pub(super) partial_program: bool,
}

impl LogConfig {
    /// Log blocks of each of so many groups.
    pub(super) fn per_group(&self, groups: u32) -> u32 {
        self.log_blocks.div_ceil(groups).max(self.logs_min)
    }
}

impl Config for LogConfig {
    fn read(spec: &Spec) -> Result<Self, BadValue> {
        let mapping = &spec.mapping;
        want(
            (1..=65_536).contains(&mapping.log_blocks),
            "mapping.log_blocks",
            mapping.log_blocks,
            || "1 to 65536 for a mapping with log blocks".into(),
        )?;
        let dynamic = mapping.striping == Striping::Dynamic;
        want(dynamic, "mapping.striping", "static", || {
            "`dynamic`, or left out: only `page` and `dftl` place pages one by one".into()
        })?;
        want_cache(mapping, mapping.map_cache.is_none())?;
        Ok(Self {
            log_blocks: mapping.log_blocks,
            logs_min: mapping.kind.needs().logs_min,
            partial_program: mapping.partial_program,
        })
    }
}

/// `page`. Blocks that `log_blocks` names are spare ones here, so that a drive has the same flash with every mapping.
#[derive(Clone, Debug)]
pub(crate) struct PageConfig {
    pub(super) striping: Striping,
    pub(super) partial_program: bool,
    pub(super) gc: Gc,
    /// What pages are striped over.
    pub(super) flash: Flash,
}

impl PageConfig {
    fn paged(spec: &Spec) -> Self {
        Self {
            striping: spec.mapping.striping,
            partial_program: spec.mapping.partial_program,
            gc: spec.gc.clone(),
            flash: spec.flash.clone(),
        }
    }
}

impl Config for PageConfig {
    fn read(spec: &Spec) -> Result<Self, BadValue> {
        want_cache(&spec.mapping, spec.mapping.map_cache.is_none())?;
        Ok(Self::paged(spec))
    }
}

/// `dftl`: as `page`, and memory for the map that lies in flash.
#[derive(Clone, Debug)]
pub(crate) struct DftlConfig {
    pub(super) page: PageConfig,
    /// In bytes.
    pub(super) map_cache: u64,
}

impl Config for DftlConfig {
    fn read(spec: &Spec) -> Result<Self, BadValue> {
        let map_cache = spec.mapping.map_cache.unwrap_or_default().0;
        want_cache(&spec.mapping, map_cache >= MAP_CACHE_MIN)?;
        Ok(Self {
            page: PageConfig::paged(spec),
            map_cache,
        })
    }
}

fn want_cache(mapping: &Mapping, fits: bool) -> Result<(), BadValue> {
    let cache = mapping.map_cache.unwrap_or_default();
    want(fits, "mapping.map_cache", cache, || {
        format!("at least {MAP_CACHE_MIN}B for `dftl`, left out for any other kind")
    })
}
