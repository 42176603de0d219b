//! Ground truth of the clustered block, the unit of erasure.
//!
//! `parameter-aware-io` 4.1.2 defines the clustered block as the "internal unit of erase operation". 4.2.4 finds it by the
//! valid pages that have to be copied when random writes are smaller than the block.
//!
//! - With log blocks (`block`, `replacement`, `fast`, `hybrid`) an aligned write of one clustered block leaves nothing to
//!   copy, and a smaller one causes a merge. Clustered block and logical block are then both the clustered block, provided
//!   that a merge takes longer than the work that it overlaps with. It overlaps with the transfer of as much data as the
//!   write buffer accepts meanwhile.
//! - With a log for each data block or superblock (`block`, `replacement`, `superblock`) small writes show the block
//!   anyway: a write across a boundary takes two logs, and each is merged.
//! - If all pages of a block lie on one lane and the next block on another, two pages are read one after the other within a
//!   block, but in parallel across its end.
//! - The distance between the four data blocks of a superblock is the number of groups, so that superblocks end where those
//!   of all groups do.
//! - In `fast` a write to the first unit of a block takes the sequential log block, and its previous contents are merged.
//! - Page mapping places every unit anywhere. Blocks are filled in the order of the writes, whatever their addresses, and
//!   the cost of garbage collection falls with one over the size of the writes, without an edge at the block size. A drive
//!   that is filled and overwritten only in whole rows of open blocks would copy nothing, so the block and that row count
//!   as not wrong.

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

/// Returns true if a small write across a block boundary costs an additional merge that the host waits for.
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

/// Returns true if writes of different blocks compete for log blocks. A superblock fills a second log block before it
/// releases the first.
pub(super) fn competes(spec: &Spec) -> bool {
    let speeds = Speeds::of(spec);
    let wanted = match spec.mapping.kind {
        MappingKind::Superblock => 2 * speeds.blocks_of_group.div_ceil(SUPERBLOCK),
        _ => speeds.blocks_of_group,
    };
    speeds.logs_of_group < wanted
}

/// Returns the relative excess in time of a read of two pages of one block over a read of the last page of a block and the
/// first of the next.
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

/// Returns the relative excess in time of random writes smaller than the block over sequential ones, because a merge copies
/// the rest of the block.
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
    // The next write is accepted during a merge, as far as the write buffer has room for it.
    let memory = spec.write_buffer.as_ref().map_or(0, |b| b.capacity.0);
    let sequential = host.max(written);
    let behind = (sequential + merged - speeds.link(memory)).max(written + merged);
    beyond(sequential.max(behind), sequential)
}

/// Returns the number of stations that work in parallel on writes of about one block: those of one block if the host waits
/// for each write, or those of as many blocks as fit into a battery-backed buffer.
fn stations(spec: &Spec, speeds: &Speeds<'_>) -> f64 {
    let buffer = spec.write_buffer.as_ref().filter(|b| b.battery);
    let ahead = buffer.map_or(0, |b| b.capacity.0 / spec.flash.clustered_block.0);
    (speeds.stations_of_block * (1 + ahead) as f64).min(speeds.stations)
}
