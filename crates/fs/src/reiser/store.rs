//! The blocks of the tree's nodes: new ones, and freed ones until the transaction that freed them is committed.
//!
//! A freed node may become a node again at once, because it is logged before it is written. Data may not have its block
//! before the commit (`reiserfs_in_journal` with `search_all` of Linux 6.1).

use super::format::{SUPER, bitmap};
use crate::alloc::{Want, What};
use crate::block::{Extent, GROUP_BLOCKS, METADATA};
use crate::error::FsError;
use crate::layout::Core;
use std::collections::BTreeSet;

/// The blocks of nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Store {
    /// Freed by the running transaction.
    freed: BTreeSet<u64>,
    /// Freed by the one that is being committed.
    closing: Vec<u64>,
}

impl Store {
    /// Notes that blocks were taken or freed.
    pub(super) fn note_use(core: &mut Core, extent: Extent) {
        for group in extent.start / GROUP_BLOCKS..=(extent.end() - 1) / GROUP_BLOCKS {
            core.changed.push(bitmap(group));
        }
        core.changed.push(SUPER);
    }

    /// A block for a node of this packing locality, near its left neighbour in the tree.
    pub(super) fn take(
        &mut self,
        core: &mut Core,
        packing: u32,
        near: u64,
    ) -> Result<u64, FsError> {
        let goal = super::hash::group_of(packing, core.space.groups()) * GROUP_BLOCKS;
        let free = core.space.next_free(goal, core.space.blocks());
        let again = self.freed.range(goal..).next().copied();
        let block = match again {
            Some(block) if free.is_none_or(|free| block < free) => {
                self.freed.remove(&block);
                core.revoked.retain(|&revoked| revoked != block);
                core.space.set_leaving(Extent::new(block, 1), false);
                block
            }
            _ => core.take(&Self::want(packing, near))?.start,
        };
        Self::note_use(core, Extent::new(block, 1));
        core.changed.push(block);
        core.fresh.push(block);
        Ok(block)
    }

    fn want(packing: u32, near: u64) -> Want {
        Want {
            file: METADATA,
            what: What::Node,
            page: 0,
            blocks: 1,
            size: 1,
            open: false,
            home: near,
            after: None,
            extents: false,
            inode: packing,
            parent: METADATA,
            processor: 0,
        }
    }

    /// Frees the block of a node.
    pub(super) fn free(&mut self, core: &mut Core, block: u64) {
        let extent = Extent::new(block, 1);
        Self::note_use(core, extent);
        core.revoked.push(block);
        core.space.set_leaving(extent, true);
        self.freed.insert(block);
    }

    /// The running transaction ends: what it freed becomes free when it is committed.
    pub(super) fn close(&mut self) {
        self.closing.extend(std::mem::take(&mut self.freed));
    }

    /// The transaction that ended is committed.
    pub(super) fn committed(&mut self, core: &mut Core) {
        for block in std::mem::take(&mut self.closing) {
            let extent = Extent::new(block, 1);
            core.space.set_leaving(extent, false);
            core.release(&[extent]);
        }
    }

    /// Blocks that are not free and belong to no node.
    pub(super) fn all(&self) -> impl Iterator<Item = u64> + '_ {
        self.freed.iter().chain(&self.closing).copied()
    }
}
