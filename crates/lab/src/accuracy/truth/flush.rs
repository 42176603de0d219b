//! Ground truth of the flush: the time to program what lies in volatile memory.
//!
//! A small write that follows earlier ones in order is one unit of the mapping: it is read first if it is only a part of
//! one, and programmed. Mappings by blocks may copy a block besides, and padding caches write a whole one. Without a write
//! buffer, and with a protected one, a flush has nothing to do.

use super::right::{Right, Sight, Truth};
use super::speeds::{Speeds, beyond};
use fathom_probe::Value;
use fathom_ssd::Spec;
use fathom_ssd::spec::{WriteBuffer, WritePolicy};

const SMALL: u64 = 4096;
/// Programs and reads that a flush may wait for on one station: those of a partly written unit, and of copies in a
/// collection.
const COPIES_MAX: f64 = 8.0;

pub(super) fn truth(spec: &Spec) -> Truth {
    let volatile = spec.write_buffer.as_ref().filter(|b| !b.battery);
    let Some(buffer) = volatile else {
        return Truth::missing();
    };
    let speeds = Speeds::of(spec);
    let flash = &spec.flash;
    let small = SMALL.max(spec.host.logical_block.0);
    let steps = flash.program_steps.iter().map(|step| step.0 as f64);
    let fast = spec.fast_cache.iter().map(|cache| cache.program.0 as f64);
    let least = steps.chain(fast).fold(speeds.program, f64::min);
    // A write is drained at once if the delay is over before the flush comes.
    let ahead = match speeds.drains_at_once() {
        true => speeds.command() + speeds.link(small),
        false => 0.0,
    };
    let copied = match spec.mapping.kind.is_paged() && !pads(buffer) {
        true => COPIES_MAX,
        // A merge of one block.
        false => flash.clustered_block.0 as f64 / flash.clustered_page.0 as f64,
    };
    let most = copied * speeds.copied_page() + flash.erase.0 as f64;
    let value = |ns: f64| Value::Nanoseconds(ns as u64);
    let low = ((least - ahead) * 0.5).max(0.0);
    let right = vec![Right::Between(value(low), value(most))];
    let write = 2.0 * speeds.command() + speeds.link(small);
    if spec.limit.is_some() {
        let why = "a limit in front of it may delay every request by as much";
        return Truth::new(Sight::Faint, right, why);
    }
    let effect = beyond(write + least - ahead, write);
    let why = "a program takes less than a tenth of a write and a flush";
    Truth::by_effect(effect, right, why)
}

/// Returns true if one small write may program more than itself.
fn pads(buffer: &WriteBuffer) -> bool {
    let plain = matches!(buffer.policy, WritePolicy::Fifo | WritePolicy::Lru);
    !plain || buffer.block.is_some()
}
