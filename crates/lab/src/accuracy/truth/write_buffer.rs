//! Ground truth of the write buffer.
//!
//! - A write into an empty buffer waits for a program as soon as it exceeds the capacity (`parameter-aware-io` 4.2.6), and
//!   not before. Of small writes one by one, the first that does not fit waits. This also holds if the flash array is
//!   faster than the link: nothing is drained before the buffer is full.
//! - The buffer is empty after a flush. A battery-backed buffer completes a flush at once; it is empty after the delay of
//!   an idle drain, or after a TRIM of what was written.
//! - A cache as large as the drive is never full.
//! - If an idle drain starts sooner than the next piece can arrive, the buffer drains while it fills. It is then full
//!   later, by the amount drained meanwhile, or never, and no data stay in it to be overwritten. An answer is right between
//!   both, and by an interval that has the capacity.

use super::right::{Sight, Truth, between, capacity};
use super::speeds::{Speeds, beyond};
use fathom_ssd::Spec;
use fathom_ssd::spec::WriteBuffer;

pub(super) const AS_LARGE: &str = "a cache as large as the drive is never full";
pub(super) const AT_ONCE: &str = "it is drained as fast as it fills";

pub(super) fn truth(spec: &Spec) -> Truth {
    let Some(buffer) = &spec.write_buffer else {
        return Truth::missing();
    };
    let block = spec.host.logical_block.0;
    let right = vec![capacity(buffer.capacity.0, block)];
    if holds_all(spec, buffer) {
        return Truth::new(Sight::Hidden, right, AS_LARGE);
    }
    let speeds = Speeds::of(spec);
    if speeds.drains_at_once() {
        let filled = speeds.link(buffer.capacity.0);
        let drained = speeds.programmed(buffer.capacity.0 as f64, speeds.stations);
        if drained <= filled {
            return Truth::new(Sight::Hidden, right, AT_ONCE);
        }
        let most = buffer.capacity.0 as f64 / (1.0 - filled / drained);
        let least = buffer.capacity.0 / block * block;
        let right = vec![right[0].clone(), between(least, most as u64)];
        let why = "it is drained about as fast as it fills";
        // Up to a fifth of what it takes leaves meanwhile, so that the capacity is known to a quarter.
        let sight = match drained >= 5.0 * filled {
            true => Sight::Identifiable,
            false => Sight::Faint,
        };
        return Truth::new(sight, right, why);
    }
    let alone = speeds.command() + speeds.link(block);
    let effect = beyond(alone + speeds.program_page(), alone);
    Truth::by_effect(
        effect,
        right,
        "a program takes less than a tenth of a write",
    )
}

pub(super) fn holds_all(spec: &Spec, buffer: &WriteBuffer) -> bool {
    buffer.policy.is_cache() && buffer.capacity.0 >= spec.capacity.0
}
