//! The memory for reads.
//!
//! - A second read of up to the capacity (`parameter-aware-io` 4.2.5) is shorter by tR and a transfer, and one beyond the
//!   capacity is not, because lines leave in order of last use. Many small reads show it as well as one large one, so that
//!   what counts is the shortest read that goes through the buffer.
//! - Of reads that follow one another, what was read ahead comes from memory, or from a read that is under way. The drive
//!   reads ahead unit by unit: small units can make reading ahead slower than not. What does not fit into the buffer may
//!   be gone before it is asked for.

use super::speeds::{Speeds, beyond};
use super::{Sight, Truth, capacity, choice};
use fathom_ssd::Spec;
use fathom_ssd::spec::ReadBuffer;

pub(super) fn buffer(spec: &Spec) -> Truth {
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
fn shortest(spec: &Spec, buffer: &ReadBuffer) -> u64 {
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

pub(super) fn prefetch(spec: &Spec) -> Truth {
    let ahead = spec.read_buffer.as_ref().and_then(|b| b.prefetch.as_ref());
    let (Some(buffer), Some(ahead)) = (&spec.read_buffer, ahead) else {
        return Truth::missing();
    };
    let right = vec![choice("read-ahead")];
    let least = shortest(spec, buffer);
    if least > spec.host.max_request.0 || ahead.depth.0 < least {
        let why = "no read is short enough to be read ahead and long enough to be kept";
        return Truth::new(Sight::Hidden, right, why);
    }
    let effect = gained(spec, buffer, (least, ahead.depth.0));
    Truth::by_effect(
        effect,
        right,
        "what is read ahead comes no sooner than if it were not",
    )
}

/// By how much a read takes longer than one that follows others, at the best size.
fn gained(spec: &Spec, buffer: &ReadBuffer, (least, depth): (u64, u64)) -> f64 {
    let line = buffer.line.0.max(spec.host.logical_block.0);
    let first = least.next_multiple_of(line);
    let most = depth.min(spec.host.max_request.0);
    let sizes = std::iter::successors(Some(first), |bytes| Some(bytes * 2));
    sizes
        .take_while(|bytes| *bytes <= most)
        .map(|bytes| gained_at(spec, buffer, (bytes, depth)))
        .fold(0.0, f64::max)
}

fn gained_at(spec: &Spec, buffer: &ReadBuffer, (bytes, depth): (u64, u64)) -> f64 {
    let speeds = Speeds::of(spec);
    let (unit, page) = (spec.unit(), speeds.page());
    let alone = speeds.command() + speeds.link(bytes);
    let missed = alone + speeds.read + speeds.bus(bytes.min(page));
    // Reading ahead works unit by unit, over as many stations as the depth covers.
    let part = unit.min(bytes);
    let parts = bytes as f64 / part as f64;
    let side_by_side = ((depth / page).max(1) as f64).min(speeds.stations_in_order());
    let supplied = parts * (speeds.read + speeds.bus(part)) / side_by_side;
    // Flash that is faster than the host has replaced the next piece by a later one before it is asked for.
    if depth > buffer.capacity.0 && supplied < alone {
        return 0.0;
    }
    beyond(missed, alone.max(supplied))
}
