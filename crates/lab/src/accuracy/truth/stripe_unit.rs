//! Ground truth of the stripe unit, the consecutive bytes of sequentially written data that lie on one station.
//!
//! Clustered pages go to the lanes of a block, or with page mapping to the groups, in turn. The unit is a clustered page if
//! neighbours lie on different stations, else as many as lie on one. A block whose pages all lie on one lane is the unit
//! itself. The effect is that of two reads that meet ([`super::parallelism`]). Faint: a unit of less than two lines of
//! the read memory, which answers the second of two neighbouring reads. Where the memory for writes cannot gather a page, the
//! mapped unit is right as well.

use super::parallelism::waits;
use super::reads::Reads;
use super::right::{Right, Sight, Truth, sizes};
use fathom_ssd::spec::Striping;
use fathom_ssd::{Geometry, Spec};

pub(super) fn truth(spec: &Spec) -> Truth {
    if Reads::of(spec).stations() < 2 {
        return Truth::missing();
    }
    let unit = unit(spec);
    let mut units = vec![unit];
    if spec.mapping.kind.is_paged() && !gathers(spec) {
        units.push(unit / spec.flash.clustered_page.0 * spec.unit());
    }
    let right: Vec<Right> = sizes(&units);
    if spec.host.queue_depth < 2 {
        return Truth::new(
            Sight::Hidden,
            right,
            "the drive takes one request at a time",
        );
    }
    let effect = if unit >= 2 * line(spec) {
        waits(spec)
    } else {
        0.0
    };
    Truth::by_effect(
        effect,
        right,
        "neighbouring reads do not meet in the flash, or memory answers the second",
    )
}

/// Returns false if the memory for writes is shorter than a page: it cannot gather one, so that each mapped unit is programmed by
/// itself, and a page holds no more.
pub(super) fn gathers(spec: &Spec) -> bool {
    let memory = spec.write_buffer.as_ref();
    memory.is_none_or(|memory| memory.capacity.0 >= spec.flash.clustered_page.0)
}

/// Returns the length of a line of the read memory, or of a logical block.
pub(super) fn line(spec: &Spec) -> u64 {
    let block = spec.host.logical_block.0;
    let kept = spec
        .read_buffer
        .as_ref()
        .filter(|b| b.min_request.0 <= block);
    kept.map_or(block, |b| b.line.0.max(block))
}

/// Returns the unit, in bytes.
pub(super) fn unit(spec: &Spec) -> u64 {
    let geometry = Geometry::new(spec);
    let page = spec.flash.clustered_page.0;
    let next = |lane: u32| (lane + 1) % geometry.stations == lane % geometry.stations;
    if spec.mapping.kind.is_paged() {
        return page * planes_first(spec, &geometry);
    }
    match geometry.lanes_per_group > 1 && !next(0) {
        true => page,
        false => spec.flash.clustered_block.0,
    }
}

/// Returns how many consecutive pages go to the planes of one die, in a static order that begins with planes.
fn planes_first(spec: &Spec, geometry: &Geometry) -> u64 {
    let flash = &spec.flash;
    let first = format!("{:?}", spec.mapping.striping).to_lowercase();
    if spec.mapping.striping == Striping::Dynamic || !first.starts_with('p') {
        return 1;
    }
    // A block that covers several dies covers all planes.
    let width = (flash.clustered_page.0 / flash.page.0) as u32;
    let planes = flash.planes_per_die / width.min(flash.planes_per_die);
    match geometry.lanes_per_group {
        1 => u64::from(planes.max(1)),
        _ => 1,
    }
}
