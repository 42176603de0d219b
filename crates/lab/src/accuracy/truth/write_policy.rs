//! Ground truth of the write policy: is the write memory a buffer or a cache?
//!
//! Rewriting half of a cache's capacity never waits for a program, whereas a first-in-first-out buffer waits once per
//! capacity (4.3). Memory of less than two logical blocks has no second place to return to.

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
        // No data stay to be overwritten: whatever the policy, the host sees a buffer.
        let right = vec![right[0].clone(), word("buffer")];
        return Truth::new(Sight::Hidden, right, AT_ONCE);
    }
    Truth::new(Sight::Identifiable, right, "")
}
