//! Ground truth of the read buffer.
//!
//! A second read of up to the capacity (`parameter-aware-io` 4.2.5) is shorter by tR and a transfer. One beyond the
//! capacity is not, because lines are evicted in LRU order. Many small reads show this as well as a single large one, so
//! the rule uses the shortest read that goes through the buffer.

use super::right::{Sight, Truth, capacity};
use super::speeds::{Speeds, beyond};
use fathom_ssd::Spec;
use fathom_ssd::spec::ReadBuffer;

pub(super) fn truth(spec: &Spec) -> Truth {
    let Some(buffer) = &spec.read_buffer else {
        return Truth::missing();
    };
    let block = spec.host.logical_block.0;
    let right = vec![capacity(buffer.capacity.0, block)];
    let hidden = |why| Truth::new(Sight::Hidden, right.clone(), why);
    let least = shortest(spec, buffer);
    if least > spec.host.max_request.0 {
        return hidden("no request is long enough to go through it");
    }
    if least > buffer.capacity.0 {
        return hidden("no read that goes through it fits into it");
    }
    if buffer.capacity.0 >= spec.capacity.0 {
        return hidden("it is as large as the drive");
    }
    let effect = saved(spec, least).max(relieved(spec, least));
    let why = "a hit saves less than a tenth of the shortest read that goes through it";
    Truth::by_effect(effect, right, why)
}

/// Returns the length of the shortest read that goes through the buffer, in bytes.
pub(super) fn shortest(spec: &Spec, buffer: &ReadBuffer) -> u64 {
    let block = spec.host.logical_block.0;
    buffer.min_request.0.max(block).next_multiple_of(block)
}

/// Returns the relative excess in time of a miss over a hit, with one read at a time.
fn saved(spec: &Spec, bytes: u64) -> f64 {
    let speeds = Speeds::of(spec);
    let first = bytes.min(speeds.page());
    (speeds.read + speeds.bus(first)) / (speeds.command() + speeds.link(bytes))
}

/// Returns the same with as many reads in flight as the drive allows.
fn relieved(spec: &Spec, bytes: u64) -> f64 {
    let speeds = Speeds::of(spec);
    let part = bytes.min(speeds.page());
    let parts = bytes as f64 / part as f64;
    let flash = parts * (speeds.read + speeds.bus(part)) / speeds.stations;
    let host = speeds.host(bytes);
    beyond(host.max(flash), host)
}
