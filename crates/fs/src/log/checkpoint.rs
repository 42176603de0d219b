//! A checkpoint: directory entries, nodes, the tables, and the pack that makes them valid.
//!
//! Nodes are written in the order of `f2fs_sync_node_pages`: nodes of numbers, then those of directories, then those of
//! files. The tables go to the copy that is not valid, in order of place. The pack has a head, the summaries of the logs of
//! data, and an end; the two packs are written in turn.

use super::format::{NODES_PER_BLOCK, SEGMENTS_PER_BLOCK};
use super::layout::LogFs;
use super::segments::{Log, Owner};
use crate::block::Extent;
use crate::error::FsError;
use crate::layout::Core;
use crate::write::{Purpose, join};
use std::collections::BTreeSet;

/// Blocks of a pack before its end: the head, and a summary for each log of data.
const PACK: u64 = 1 + 3;

impl LogFs {
    /// Notes that the place of a node was changed.
    pub(super) fn change_address(&mut self, number: u32) {
        self.addresses.insert(u64::from(number) / NODES_PER_BLOCK);
    }

    /// Writes a node to the head of its log.
    pub(super) fn write_node(&mut self, core: &mut Core, number: u32) -> Result<(), FsError> {
        let log = self.nodes[number as usize].log;
        let taken = self.place(core, log, 1)?;
        // Cleaning may have moved the node meanwhile.
        if let Some(old) = self.nodes[number as usize].block.replace(taken.start) {
            self.outdate(old);
        }
        self.segments.own(taken.start, Owner::Node(number));
        self.change_address(number);
        self.dirty_nodes.remove(&number);
        core.fresh.push(taken.start);
        join(&mut core.writes, Purpose::Metadata, taken);
        Ok(())
    }

    /// Writes all that is dirty, and a checkpoint. Writes nothing if nothing has changed.
    pub(super) fn write_checkpoint(&mut self, core: &mut Core) -> Result<(), FsError> {
        if !self.dirty_nodes.is_empty() {
            self.clean_a_little(core)?;
        }
        while let Some((directory, page)) = self.dirty_entries.pop_first() {
            self.write_pages(core, directory, page, 1, Log::HotData)?;
        }
        // A node that is written may have another one moved, which is written at once.
        for log in [Log::ColdNode, Log::HotNode, Log::WarmNode] {
            let nodes: Vec<u32> = self.dirty_nodes.iter().copied().collect();
            for node in nodes {
                let wanted = self.nodes[node as usize].log == log;
                if wanted && self.dirty_nodes.contains(&node) {
                    self.write_node(core, node)?;
                }
            }
        }
        if self.segments.changed.is_empty() && self.addresses.is_empty() {
            return Ok(());
        }
        self.write_tables(core);
        self.closing.append(&mut self.old);
        let pack = self.areas.pack(!self.segments.clock.is_multiple_of(2));
        join(&mut core.writes, Purpose::Log, Extent::new(pack, PACK));
        join(
            &mut core.writes,
            Purpose::Commit,
            Extent::new(pack + PACK, 1),
        );
        self.segments.clock += 1;
        Ok(())
    }

    /// Writes the changed blocks of the segment information and the node addresses, and summaries of filled segments.
    fn write_tables(&mut self, core: &mut Core) {
        let segments = std::mem::take(&mut self.segments.changed);
        let information: BTreeSet<u64> = segments
            .into_iter()
            .map(|segment| segment / SEGMENTS_PER_BLOCK)
            .collect();
        let addresses = std::mem::take(&mut self.addresses);
        let [second_address, second_information] = &mut self.second;
        let areas = self.areas;
        let other = |second: &mut BTreeSet<u64>, index: u64| {
            let copy = !second.remove(&index);
            if copy {
                second.insert(index);
            }
            copy
        };
        let mut blocks: Vec<u64> = Vec::new();
        for index in information {
            let copy = other(second_information, index);
            blocks.push(areas.information(index, copy));
        }
        for index in addresses {
            let copy = other(second_address, index);
            blocks.push(areas.address(index, copy));
        }
        let filled = std::mem::take(&mut self.segments.filled);
        blocks.extend(filled.into_iter().map(|segment| areas.summary(segment)));
        blocks.sort_unstable();
        for block in blocks {
            join(&mut core.writes, Purpose::Metadata, Extent::new(block, 1));
        }
    }

    /// After a checkpoint: invalid blocks are free, and sections without valid ones can be written again.
    pub(super) fn settle(&mut self, core: &mut Core) {
        for block in std::mem::take(&mut self.closing) {
            core.space.release(Extent::new(block, 1));
        }
        self.segments.reclaim(&core.space);
    }
}
