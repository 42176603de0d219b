//! The unit of erasing.
//!
//! `parameter-aware-io` 4.1.2 defines the clustered block as the "internal unit of erase operation" and 4.2.4 finds it by
//! the valid pages that random writes smaller than it leave to be copied.
//!
//! - With log blocks (`block`, `replacement`, `fast`, `hybrid`) an aligned write of one clustered block
//!   leaves nothing to copy and anything smaller is merged: both parameters are the clustered block, as far as a merge
//!   takes longer than what it runs beside. It runs beside the transfer of as much as the memory for writes takes meanwhile.
//! - With a log for each data block or superblock (`block`, `replacement`, `superblock`) small writes show it all the
//!   same: one across a boundary takes two logs, and each is merged.
//! - Where all pages of a block lie on one lane and the next block on another, two pages are read one after another
//!   within a block and side by side across its end.
//! - The four data blocks of a superblock lie as many blocks apart as there are groups, so that superblocks end where those of all
//!   groups do.
//! - In `fast` a write to the first unit of a block takes the log for sequential writes, and what was in it is merged.
//! - Page mapping puts every unit anywhere. Blocks are filled in the order of the writes, whatever their addresses, and
//!   what collection costs falls with one over the size of the writes: it has no edge at the block. A drive that is filled and
//!   overwritten in whole rows of open blocks alone would copy nothing; its block, or that row, is not wrong.

use super::right::{Sight, Truth, sizes};
use super::speeds::{Speeds, beyond};
use fathom_ssd::Spec;
use fathom_ssd::spec::MappingKind;

/// Data blocks of a superblock (`ftl/superblock.rs`).
pub(super) const SUPERBLOCK: u64 = 4;
pub(super) const BY_PAGES: &str = "page mapping fills blocks in the order of the writes, so that collection has no edge at a block";
pub(super) const OWN_LOGS: &str =
    "every data block has a log, so that writes of different blocks do not compete";
pub(super) const BEHIND_LINK: &str = "merges fit beside the transfer of a write of half a block";

pub(super) fn truth(spec: &Spec) -> Truth {
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
pub(super) fn competes(spec: &Spec) -> bool {
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
pub(super) fn order_effect(spec: &Spec, bytes: u64) -> f64 {
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
