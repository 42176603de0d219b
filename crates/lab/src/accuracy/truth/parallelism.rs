//! Ground truth of the parallelism, the number of dies (or sets of dies that work in step) that serve random reads.
//!
//! Two reads of one station wait for each other, for the time of the array and the channel. Two reads of
//! different stations wait for the controller, the link or a channel that they share. What is left of the first, less the
//! longest of the others, is the effect. If that is less than a tenth of the time of two reads, the parallelism is faint.
//! It is hidden on a drive that takes one request at a time. If the part that is read lies unevenly on the stations, two
//! reads meet as often as on fewer even ones, and any number between that one and all is right.

use super::reads::Reads;
use super::right::{Right, Sight, Truth};
use super::speeds::Speeds;
use fathom_probe::Value;
use fathom_ssd::Spec;

/// The least part of the time of a flash read for which only reads of one station wait; for the transfer, reads of different
/// stations on one channel wait as well.
const APART_MIN: f64 = 0.4;

pub(super) fn truth(spec: &Spec) -> Truth {
    let reads = Reads::of(spec);
    let stations = reads.stations() as u64;
    if stations < 2 {
        return Truth::missing();
    }
    let mut right = vec![Right::Is(Value::Count(stations))];
    let even = reads.effective();
    if even < stations as f64 - 0.5 {
        let low = Value::Count((0.9 * even) as u64);
        right.push(Right::Between(low, Value::Count(stations)));
    }
    if spec.host.queue_depth < 2 {
        return Truth::new(
            Sight::Hidden,
            right,
            "the drive takes one request at a time",
        );
    }
    Truth::by_effect(
        waits(spec),
        right,
        "the controller, the link or memory lets hardly any two reads meet in the flash",
    )
}

/// Returns the relative excess of the time of two reads that meet over that of two that do not, as far as no memory answers.
pub(super) fn waits(spec: &Spec) -> f64 {
    let speeds = Speeds::of(spec);
    let block = spec.host.logical_block.0;
    let flash = speeds.read + speeds.bus(block);
    let host = (spec.host.command_overhead.0 as f64).max(speeds.link(block));
    let free = speeds.command() + host + flash + speeds.link(block);
    let alone = flash - host.max(speeds.bus(block));
    match alone < APART_MIN * flash {
        true => 0.0,
        false => alone / free,
    }
}
