//! Whether memory for writes is a buffer or a cache.
//!
//! Half of a cache's capacity, written again and again, never waits for a program; in a first-in-first-out buffer it
//! waits once a capacity (4.3). Memory of less than two logical blocks holds no second place to come back to.

use super::right::{Sight, Truth, word};
use super::speeds::Speeds;
use super::write_buffer::{AS_LARGE, AT_ONCE, holds_all};
use fathom_ssd::Spec;

pub(super) fn truth(spec: &Spec) -> Truth {
    let Some(buffer) = &spec.write_buffer else {
        return Truth::missing();
    };
    let right = vec![word(match buffer.policy.is_cache() {
        true => "cache",
        false => "buffer",
    })];
    let hidden = |why| Truth::new(Sight::Hidden, right.clone(), why);
    if buffer.capacity.0 < 2 * spec.host.logical_block.0 {
        return hidden("there is no room for a second place to come back to");
    }
    if holds_all(spec, buffer) {
        return hidden(AS_LARGE);
    }
    if Speeds::of(spec).drains_at_once() {
        // Nothing stays to be written again: whatever keeps it, it is a buffer to the host.
        let right = vec![right[0].clone(), word("buffer")];
        return Truth::new(Sight::Hidden, right, AT_ONCE);
    }
    Truth::new(Sight::Identifiable, right, "")
}
