//! The memory for reads.
//!
//! A second read of up to the capacity (`parameter-aware-io` 4.2.5) is shorter by tR and a transfer, and one beyond the
//! capacity is not, because lines leave in order of last use. Many small reads show it as well as one large one, so that
//! what counts is the shortest read that goes through the buffer.

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

/// The shortest read that goes through the buffer.
pub(super) fn shortest(spec: &Spec, buffer: &ReadBuffer) -> u64 {
    let block = spec.host.logical_block.0;
    buffer.min_request.0.max(block).next_multiple_of(block)
}

/// The share of a hit's time that a miss takes more, one read at a time.
fn saved(spec: &Spec, bytes: u64) -> f64 {
    let speeds = Speeds::of(spec);
    let first = bytes.min(speeds.page());
    (speeds.read + speeds.bus(first)) / (speeds.command() + speeds.link(bytes))
}

/// The same with as many reads at a time as there may be.
fn relieved(spec: &Spec, bytes: u64) -> f64 {
    let speeds = Speeds::of(spec);
    let part = bytes.min(speeds.page());
    let parts = bytes as f64 / part as f64;
    let flash = parts * (speeds.read + speeds.bus(part)) / speeds.stations;
    let host = speeds.host(bytes);
    beyond(host.max(flash), host)
}
