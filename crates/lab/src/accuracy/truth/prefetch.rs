//! Ground truth of the read-ahead.
//!
//! In a run of sequential reads, prefetched data come from the read buffer or from a read that is already in flight. The
//! drive prefetches unit by unit, so that small units can make read-ahead slower than none. Data that do not fit into the
//! buffer may be evicted before they are requested.

use super::read_buffer::shortest;
use super::right::{Sight, Truth, word};
use super::speeds::{Speeds, beyond};
use fathom_ssd::Spec;
use fathom_ssd::spec::ReadBuffer;

pub(super) fn truth(spec: &Spec) -> Truth {
    let ahead = spec.read_buffer.as_ref().and_then(|b| b.prefetch.as_ref());
    let (Some(buffer), Some(ahead)) = (&spec.read_buffer, ahead) else {
        return Truth::missing();
    };
    let right = vec![word("read-ahead")];
    let least = shortest(spec, buffer);
    if least > spec.host.max_request.0 || ahead.depth.0 < least {
        let why = "no read is short enough to be read ahead and long enough to be kept";
        return Truth::new(Sight::Hidden, right, why);
    }
    let effect = gained(spec, buffer, least, ahead.depth.0);
    Truth::by_effect(
        effect,
        right,
        "what is read ahead comes no sooner than if it were not",
    )
}

/// Returns the relative excess in time of a read without prefetched data over one in a sequential run, at the best request
/// size.
fn gained(spec: &Spec, buffer: &ReadBuffer, least: u64, depth: u64) -> f64 {
    let line = buffer.line.0.max(spec.host.logical_block.0);
    let first = least.next_multiple_of(line);
    let most = depth.min(spec.host.max_request.0);
    let sizes = std::iter::successors(Some(first), |bytes| Some(bytes * 2));
    sizes
        .take_while(|bytes| *bytes <= most)
        .map(|bytes| gained_at(spec, buffer, bytes, depth))
        .fold(0.0, f64::max)
}

fn gained_at(spec: &Spec, buffer: &ReadBuffer, bytes: u64, depth: u64) -> f64 {
    let speeds = Speeds::of(spec);
    let (unit, page) = (spec.unit(), speeds.page());
    let alone = speeds.command() + speeds.link(bytes);
    let missed = alone + speeds.read + speeds.bus(bytes.min(page));
    // Read-ahead works unit by unit, over as many stations as the depth covers.
    let part = unit.min(bytes);
    let parts = bytes as f64 / part as f64;
    let side_by_side = ((depth / page).max(1) as f64).min(speeds.stations_in_order());
    let supplied = parts * (speeds.read + speeds.bus(part)) / side_by_side;
    // If the flash is faster than the host, it has replaced the next piece with a later one before the host requests it.
    if depth > buffer.capacity.0 && supplied < alone {
        return 0.0;
    }
    beyond(missed, alone.max(supplied))
}
