//! Ground truth of the logical block, the write size from which on the order of writes does not matter.
//!
//! `irbw` 4.1 and `greedy-space` IV.A define the logical block as the aligned write size at which random and sequential
//! throughput meet. The reasons for the clustered block (`clustered_block.rs`) apply to it as well. In addition:
//!
//! - If every data block of a group has a log, writes of different blocks never compete for one, and the order does not
//!   matter.
//! - The logical block is the size from which on merges overlap fully with the transfer. If the order of half blocks does
//!   not matter, it is smaller than the clustered block; the exact size depends on the tolerance.
//! - In a `superblock` the block that takes the writes of four data blocks is partly full when a write begins, so no write
//!   of one block leads to a switch merge.
//! - A `bplru` buffer pads what it evicts to a block of its own. Writes of that size need no padding: that size is the
//!   logical block of a page-mapped drive.

use super::clustered_block::{BEHIND_LINK, BY_PAGES, OWN_LOGS, SUPERBLOCK, competes, order_effect};
use super::right::{EFFECT_MIN, Sight, Truth, between, size, sizes};
use super::speeds::{Speeds, beyond};
use fathom_ssd::Spec;
use fathom_ssd::spec::{MappingKind, WritePolicy};

/// Maximum relative difference of random and sequential times at which they count as equal.
const TOLERANCE: f64 = 0.25;

const WITHIN: &str = "the block that takes the writes of a superblock is part full when one begins";
const BY_TOLERANCE: &str =
    "merges fit beside the transfer; from which size on depends on the tolerance";
const TWO_BLOCKS: &str = "the buffer pads to another block than the drive erases";

pub(super) fn truth(spec: &Spec) -> Truth {
    let block = spec.flash.clustered_block.0;
    let speeds = Speeds::of(spec);
    let kind = spec.mapping.kind;
    let padded = padded(spec);
    if kind.is_paged() {
        let mut right = sizes(&[block, block * speeds.groups]);
        let Some((pad, effect)) = padded else {
            return Truth::new(Sight::Hidden, right, BY_PAGES);
        };
        right.retain(|r| *r != size(pad));
        right.insert(0, size(pad));
        return Truth::by_effect(effect, right, BEHIND_LINK);
    }
    if kind == MappingKind::Superblock {
        let low = meeting(spec).min(block);
        let high = block * SUPERBLOCK * speeds.groups;
        return Truth::new(Sight::Faint, vec![between(low, high)], WITHIN);
    }
    match padded {
        Some((pad, _)) if !block.is_multiple_of(pad) => {
            let both = pad / common_divisor(pad, block) * block;
            Truth::new(Sight::Faint, sizes(&[block, pad, both]), TWO_BLOCKS)
        }
        _ if order_effect(spec, block / 2) >= EFFECT_MIN => {
            Truth::new(Sight::Identifiable, sizes(&[block]), "")
        }
        _ => {
            let right = vec![between(meeting(spec).min(block), block)];
            let why = if competes(spec) {
                BY_TOLERANCE
            } else {
                OWN_LOGS
            };
            Truth::new(Sight::Faint, right, why)
        }
    }
}

/// Returns the smallest size, of a clustered page or more, from which on random and sequential writes take the same time
/// within [`TOLERANCE`].
fn meeting(spec: &Spec) -> u64 {
    let (page, block) = (spec.flash.clustered_page.0, spec.flash.clustered_block.0);
    let meets = |bytes: &u64| order_effect(spec, *bytes) <= TOLERANCE;
    let mut bytes = block;
    while bytes / 2 >= page && meets(&(bytes / 2)) {
        bytes /= 2;
    }
    // The search halves the size: the true one lies between the last that meets and the first that does not.
    (bytes / 2).max(page)
}

/// Returns the size to which a full buffer pads, if the buffer can hold it twice, and the relative cost of padding half of
/// it.
fn padded(spec: &Spec) -> Option<(u64, f64)> {
    let buffer = spec.write_buffer.as_ref()?;
    let pad = buffer.block.unwrap_or(spec.flash.clustered_block).0;
    if buffer.policy != WritePolicy::Bplru || buffer.capacity.0 < 2 * pad {
        return None;
    }
    let speeds = Speeds::of(spec);
    let half = pad as f64 / 2.0;
    let host = speeds.host(pad / 2);
    let plain = speeds.programmed(half, speeds.stations);
    let filled = speeds.copied(half, speeds.stations);
    Some((pad, beyond(host.max(plain + filled), host.max(plain))))
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}
