//! The unit of erasing, and the write size from which on order does not matter.
//!
//! `parameter-aware-io` 4.1.2 defines the clustered block as the "internal unit of erase operation" and 4.2.4 finds it by
//! the valid pages that random writes smaller than it leave to be copied. `irbw` 4.1 and `greedy-space` IV.A define the
//! logical block as the aligned write size at which random and sequential throughput meet.
//!
//! - With log blocks (`block`, `replacement`, `fast`, `hybrid`) an aligned write of one clustered block
//!   leaves nothing to copy and anything smaller is merged: both parameters are the clustered block, as far as a merge
//!   takes longer than what it runs beside. It runs beside the transfer of as much as the memory for writes takes meanwhile.
//! - With a log for each data block or superblock (`block`, `replacement`, `superblock`) small writes show it all the
//!   same: one across a boundary takes two logs, and each is merged.
//! - Where all pages of a block lie on one lane and the next block on another, two pages are read one after another
//!   within a block and side by side across its end.
//! - Where every data block of a group has a log, writes of different blocks never compete for one: order does not matter.
//! - The logical block is the size from which on merges fit beside the transfer: where the order of half blocks does not
//!   matter, it is less than the clustered block, and where in between depends on the tolerance.
//! - In a `superblock` the block that takes the writes of four data blocks is part full when a write begins, so that no
//!   size of one block is switched as a whole.
//! - The four data blocks of a superblock lie as many blocks apart as there are groups, so that superblocks end where those of all
//!   groups do.
//! - In `fast` a write to the first unit of a block takes the log for sequential writes, and what was in it is merged.
//! - Page mapping puts every unit anywhere. Blocks are filled in the order of the writes, whatever their addresses, and
//!   what collection costs falls with one over the size of the writes: it has no edge at the block. A drive that is filled and
//!   overwritten in whole rows of open blocks alone would copy nothing; its block, or that row, is not wrong.
//! - A `bplru` buffer pads what it writes back to a block of its own. Writes of that size are not padded: it is the
//!   logical block of a page-mapped drive.

use super::speeds::{Speeds, beyond};
use super::{EFFECT_MIN, Right, Sight, Truth, size, sizes};
use fathom_ssd::Spec;
use fathom_ssd::spec::{MappingKind, WritePolicy};

/// Data blocks of a superblock (`ftl/superblock.rs`).
const SUPERBLOCK: u64 = 4;
/// How far random and sequential times may lie apart for somebody to say that they have met.
const TOLERANCE: f64 = 0.25;

const BY_PAGES: &str = "page mapping fills blocks in the order of the writes, so that collection has no edge at a block";
const WITHIN: &str = "the block that takes the writes of a superblock is part full when one begins";
const OWN_LOGS: &str =
    "every data block has a log, so that writes of different blocks do not compete";
const BEHIND_LINK: &str = "merges fit beside the transfer of a write of half a block";
const BY_TOLERANCE: &str =
    "merges fit beside the transfer; from which size on depends on the tolerance";
const TWO_BLOCKS: &str = "the buffer pads to another block than the drive erases";

pub(super) fn clustered_block(spec: &Spec) -> Truth {
    let block = spec.flash.clustered_block.0;
    let speeds = Speeds::of(spec);
    let kind = spec.mapping.kind;
    if kind.is_paged() {
        let row = block * speeds.groups;
        return Truth::new(Sight::Hidden, sizes(&[block, row]), BY_PAGES);
    }
    let right = match kind {
        MappingKind::Superblock => sizes(&[block, block * SUPERBLOCK * speeds.groups]),
        _ => sizes(&[block]),
    };
    let order = match kind {
        MappingKind::Superblock => 0.0,
        _ => order_effect(spec, block / 2),
    };
    let effect = if straddles(spec) { 1.0 } else { order };
    let why = if competes(spec) {
        BEHIND_LINK
    } else {
        OWN_LOGS
    };
    Truth::by_effect(effect.max(parted(spec)), right, why)
}

pub(super) fn logical_block(spec: &Spec) -> Truth {
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
        return Truth::new(Sight::Faint, vec![Right::Between(low, high)], WITHIN);
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
            let right = vec![Right::Between(meeting(spec).min(block), block)];
            let why = if competes(spec) {
                BY_TOLERANCE
            } else {
                OWN_LOGS
            };
            Truth::new(Sight::Faint, right, why)
        }
    }
}

/// Whether a small write across a boundary costs a merge more, and is waited for.
fn straddles(spec: &Spec) -> bool {
    let waited = spec.write_buffer.as_ref().is_none_or(|b| !b.battery);
    match spec.mapping.kind {
        MappingKind::Fast => true,
        MappingKind::Block | MappingKind::Replacement | MappingKind::Superblock => {
            waited && competes(spec)
        }
        _ => false,
    }
}

/// Whether writes of different blocks compete for logs. A superblock fills a second one before it gives one back.
fn competes(spec: &Spec) -> bool {
    let speeds = Speeds::of(spec);
    let wanted = match spec.mapping.kind {
        MappingKind::Superblock => 2 * speeds.blocks_of_group.div_ceil(SUPERBLOCK),
        _ => speeds.blocks_of_group,
    };
    speeds.logs_of_group < wanted
}

/// By how much longer a read of two pages of one block takes than one of the last page of a block and the first of the
/// next.
fn parted(spec: &Spec) -> f64 {
    let speeds = Speeds::of(spec);
    let two = 2 * speeds.page();
    if speeds.lanes_of_block > 1 || speeds.stations < 2.0 || two > spec.host.max_request.0 {
        return 0.0;
    }
    let page = speeds.read + speeds.bus(speeds.page());
    let across = speeds.command() + speeds.link(two) + page;
    beyond(across + page, across)
}

/// By how much longer random writes of a size below the block take than sequential ones: what is missing of the block
/// is copied.
fn order_effect(spec: &Spec, bytes: u64) -> f64 {
    if !competes(spec) {
        return 0.0;
    }
    let speeds = Speeds::of(spec);
    let block = spec.flash.clustered_block.0;
    let stations = stations(spec, &speeds);
    let written = speeds.programmed(bytes as f64, stations);
    let merged = speeds.copied(block.saturating_sub(bytes) as f64, stations);
    let host = speeds.host(bytes);
    // The next write is taken while one is merged, as far as there is memory for it.
    let memory = spec.write_buffer.as_ref().map_or(0, |b| b.capacity.0);
    let sequential = host.max(written);
    let behind = (sequential + merged - speeds.link(memory)).max(written + merged);
    beyond(sequential.max(behind), sequential)
}

/// The stations that work for writes of about one block: those of one block where each write is waited for, and of as
/// many blocks as fit into memory that is not.
fn stations(spec: &Spec, speeds: &Speeds<'_>) -> f64 {
    let buffer = spec.write_buffer.as_ref().filter(|b| b.battery);
    let ahead = buffer.map_or(0, |b| b.capacity.0 / spec.flash.clustered_block.0);
    (speeds.stations_of_block * (1 + ahead) as f64).min(speeds.stations)
}

/// The smallest size from which on random and sequential writes take the same time within [`TOLERANCE`], down to a
/// clustered page.
fn meeting(spec: &Spec) -> u64 {
    let (page, block) = (spec.flash.clustered_page.0, spec.flash.clustered_block.0);
    let meets = |bytes: &u64| order_effect(spec, *bytes) <= TOLERANCE;
    let mut bytes = block;
    while bytes / 2 >= page && meets(&(bytes / 2)) {
        bytes /= 2;
    }
    // Halves are tried; the size lies between the last that meets and the first that does not.
    (bytes / 2).max(page)
}

/// What a buffer pads to when it is full, where it can hold it twice, and what padding half of it costs.
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
