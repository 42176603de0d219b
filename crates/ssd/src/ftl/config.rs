//! Reads the keys of one mapping from the section `[mapping]` of a drive file.
//!
//! The section has the keys of all mappings side by side, so that the same file can be used to compare mappings.
//! Each mapping names the keys it uses in a structure of its own ([`Ftl::Config`]). A key that the mapping does not
//! use must be left out where leaving it in would be misleading. `log_blocks` may stay: with `page` and `dftl`
//! those blocks are spare ones, so that a drive has the same amount of flash with every mapping.

use super::contract::Ftl;
use crate::spec::{Mapping, Striping};
use fathom_base::registry::table_of;
use fathom_base::{BadValue, want};

/// Log blocks for a drive whose file says nothing of them, such as a page-mapped one that is given another mapping. A file
/// with a mapping that needs them has to give them.
pub(super) const LOG_BLOCKS: u32 = 256;

/// Smallest cache for a map in flash, in bytes.
const MAP_CACHE_MIN: u64 = 64;

/// Most placement handles: as many as drives have today.
pub(super) const HANDLES_MAX: u32 = 8;

/// Reads and checks the keys of a mapping.
///
/// # Errors
/// [`BadValue`] for the first key that the mapping rejects.
pub(super) fn read<F: Ftl>(mapping: &Mapping) -> Result<F::Config, BadValue> {
    let has = |name: &str| F::ABOUT.keys.iter().any(|key| key.field == name);
    let logs = mapping.log_blocks;
    let fits = !has("log_blocks") || (1..=65_536).contains(&logs);
    want(fits, "mapping.log_blocks", logs, || {
        "1 to 65536 for a mapping with log blocks".into()
    })?;
    let fits = has("striping") || mapping.striping == Striping::Dynamic;
    want(fits, "mapping.striping", "static", || {
        "`dynamic`, or left out: only `page` and `dftl` place pages one by one".into()
    })?;
    let cache = mapping.map_cache.unwrap_or_default();
    let fits = match has("map_cache") {
        true => cache.0 >= MAP_CACHE_MIN,
        false => mapping.map_cache.is_none(),
    };
    want(fits, "mapping.map_cache", cache, || {
        format!("at least {MAP_CACHE_MIN}B for `dftl`, left out for any other kind")
    })?;
    let fits = has("host_memory_buffer") || mapping.host_memory_buffer.is_none();
    let host = mapping.host_memory_buffer.unwrap_or_default();
    want(fits, "mapping.host_memory_buffer", host, || {
        "left out for any kind but `dftl`".into()
    })?;
    let zone = mapping.zone.unwrap_or_default();
    want(
        has("zone") == mapping.zone.is_some(),
        "mapping.zone",
        zone,
        || "a size for `zoned`, left out for any other kind".into(),
    )?;
    let zones = mapping.max_open_zones.max(mapping.max_active_zones);
    let fits = has("zone") || (mapping.zone_capacity.is_none() && zones == 0);
    want(fits, "mapping.zone_capacity", "given", || {
        "left out, with max_open_zones and max_active_zones, for any kind but `zoned`".into()
    })?;
    let handles = mapping.placement_handles;
    let most = if has("placement_handles") {
        HANDLES_MAX
    } else {
        0
    };
    want(
        handles <= most,
        "mapping.placement_handles",
        handles,
        || format!("0 to {HANDLES_MAX} for `page`, left out for any other kind"),
    )?;
    let mut keys = table_of(mapping);
    keys.retain(|key, _| has(key));
    keys.try_into()
        .map_err(|error| BadValue::new("mapping", mapping.kind, error.to_string()))
}
