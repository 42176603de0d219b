//! The first draft of a twin: its structure from the answers of the profile, its times from medians of the record.
//!
//! What the profile does not say takes a usual value, which is listed as assumed with the reason.

mod dies;
mod geometry;
mod mapping;
mod memory;
mod parts;
mod times;

pub(super) use geometry::{Arrangement, arrangements};
pub(super) use mapping::knows_block;
pub(super) use parts::{dur, rate, wire};

use super::error::TwinError;
use super::seen::Seen;
use fathom_base::{Bytes, Rate};
use fathom_block::layers::Limit;
use fathom_probe::{Parameter, Value};
use fathom_report::twin::Assumed;
use fathom_ssd::Spec;
use fathom_ssd::spec::{Compression, Faults, Gc, Kind};
use mapping::Mapped;
use parts::Assumptions;

/// A drive, and what of it is assumed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Draft {
    pub(super) spec: Spec,
    pub(super) assumed: Vec<Assumed>,
}

/// Drafts the twins of a record that its answers leave open, at least one: they differ in the unit and the page of the mapping, and in
/// its kind.
///
/// # Errors
/// [`TwinError::Draft`] if the values make no drive.
pub(super) fn drafts(seen: &Seen<'_>) -> Result<Vec<Draft>, TwinError> {
    let units = geometry::units_tried(seen).into_iter();
    let sizes: Vec<(u64, u64)> = units
        .flat_map(|unit| {
            let pages = geometry::pages_tried(seen, unit).into_iter();
            pages.map(move |page| (unit, page))
        })
        .collect();
    let mappings = mapping::mappings_tried(seen).into_iter();
    let all = mappings.flat_map(|mapped| sizes.iter().map(move |sizes| (*sizes, mapped)));
    let (drafts, failed): (Vec<_>, Vec<_>) = all
        .map(|(sizes, mapped)| draft(seen, sizes, mapped))
        .partition(Result::is_ok);
    let drafts: Vec<Draft> = drafts.into_iter().flatten().collect();
    match failed.into_iter().find_map(Result::err) {
        Some(error) if drafts.is_empty() => Err(error),
        _ => Ok(drafts),
    }
}

fn draft(seen: &Seen<'_>, sizes: (u64, u64), mapped: Mapped) -> Result<Draft, TwinError> {
    let mut assumed = Assumptions::default();
    let layout = geometry::layout(seen, sizes, mapped, &mut assumed);
    let times = times::times(seen, &layout, &mut assumed);
    let mapping = mapping::mapping(seen, &layout, &mut assumed);
    let write_buffer = memory::write_buffer(seen, &mut assumed);
    let fast_cache = memory::fast_cache(seen, &times, &mut assumed);
    let noise = times::noise(seen, &layout, &times);
    assumed.add(
        "gc",
        "greedy, copies apart",
        "a probe from outside does not see which block is collected",
    );
    let spec = Spec {
        kind: Kind::default(),
        name: format!("twin of {}", seen.record.meta.target.name),
        capacity: Bytes(layout.capacity),
        host: times::host(seen, &times, &mut assumed),
        flash: times::flash(&layout, &times, &mut assumed),
        mapping,
        read_buffer: memory::read_buffer(seen, &mut assumed),
        write_buffer,
        fast_cache,
        gc: Gc::default(),
        faults: Faults::default(),
        compression: compression(seen),
        thermal: None,
        noise,
        limit: limit(seen),
    };
    spec.check().map_err(TwinError::Draft)?;
    left_out(seen, &spec, &mut assumed);
    Ok(Draft {
        spec,
        assumed: assumed.0,
    })
}

/// Lists the parts that the draft does not have, though the record does not say that the drive has none.
fn left_out(seen: &Seen<'_>, spec: &Spec, assumed: &mut Assumptions) {
    let ahead = spec.read_buffer.as_ref().and_then(|b| b.prefetch.as_ref());
    let limit = spec.limit.as_ref();
    let parts = [
        (
            "write_buffer",
            Parameter::WriteBuffer,
            spec.write_buffer.is_some(),
        ),
        (
            "read_buffer",
            Parameter::ReadBuffer,
            spec.read_buffer.is_some(),
        ),
        ("read_buffer.prefetch", Parameter::Prefetch, ahead.is_some()),
        (
            "fast_cache",
            Parameter::FastCache,
            spec.fast_cache.is_some(),
        ),
        (
            "mapping.map_cache",
            Parameter::MapReach,
            spec.mapping.map_cache.is_some(),
        ),
        (
            "limit.operations_per_second",
            Parameter::RateLimit,
            limit.is_some_and(|l| l.operations_per_second.is_some()),
        ),
        (
            "limit.bandwidth",
            Parameter::BandwidthLimit,
            limit.is_some_and(|l| l.bandwidth.is_some()),
        ),
        (
            "compression",
            Parameter::Compression,
            spec.compression.is_some(),
        ),
    ];
    for (key, of, _) in parts
        .into_iter()
        .filter(|(_, of, has)| !has && !seen.is_absent(*of))
    {
        let why = match (of, seen.value(of)) {
            (Parameter::Prefetch, Some(_)) => "no memory to read ahead into was found".to_owned(),
            _ => seen.why_not(of),
        };
        assumed.add(key, "none", why);
    }
}

fn compression(seen: &Seen<'_>) -> Option<Compression> {
    match seen.value(Parameter::Compression)? {
        Value::Word(word) => Some(Compression {
            deduplicates: word == "repeats",
            ..Compression::default()
        }),
        _ => None,
    }
}

fn limit(seen: &Seen<'_>) -> Option<Limit> {
    let (operations, bytes) = (Parameter::RateLimit, Parameter::BandwidthLimit);
    let per_second = seen.number(operations).map(|n| n.round().max(1.0) as u64);
    let bandwidth = seen
        .number(bytes)
        .and_then(|rate| Rate::new(rate.round() as u64));
    let burst = |of, name| seen.figure(of, name).map(|n| n.round().max(1.0) as u64);
    let limit = Limit {
        operations_per_second: per_second,
        operations_burst: per_second.and_then(|_| burst(operations, "burst_operations")),
        operation_size: None,
        bandwidth,
        bandwidth_burst: bandwidth.and_then(|_| burst(bytes, "burst_bytes").map(Bytes)),
    };
    (per_second.is_some() || bandwidth.is_some()).then_some(limit)
}
