//! The main area: its sections, the heads of the logs, and which section is cleaned next.

use super::format::{Areas, LOGS, SEGMENT};
use crate::block::{Extent, FileId};
use crate::space::Space;
use std::collections::BTreeSet;

/// The logs: by what is written, and how soon it will be written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Log {
    /// Entries of directories.
    HotData,
    /// Data of files.
    WarmData,
    /// Data that was moved by cleaning.
    ColdData,
    /// Nodes of directories.
    HotNode,
    /// Inodes and pointers of files.
    WarmNode,
    /// Numbers of nodes.
    ColdNode,
}

/// What is in a valid block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    None,
    Page(FileId, u32),
    Node(u32),
}

/// How the section to clean is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Victim {
    /// The one with the fewest valid blocks.
    Greedy,
    /// The one with the highest benefit for its cost: many invalid blocks, and long unchanged.
    CostBenefit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Free,
    Open,
    Used,
}

#[derive(Clone, Copy, Debug)]
struct Section {
    state: State,
    valid: u32,
    /// When it was written last, in checkpoints.
    written: u64,
}

/// The main area.
#[derive(Clone, Debug)]
pub(super) struct Segments {
    areas: Areas,
    sections: Vec<Section>,
    free: BTreeSet<u32>,
    /// For each log, the rest of the section that it fills.
    heads: [Option<Extent>; LOGS],
    /// The section that was opened last: the next one is looked for behind it.
    last: u32,
    /// What is in each block of a section; empty for a free one.
    owners: Vec<Box<[Owner]>>,
    /// Segments whose information has changed, and segments that were filled.
    pub(super) changed: BTreeSet<u64>,
    pub(super) filled: BTreeSet<u64>,
    /// Number of checkpoints.
    pub(super) clock: u64,
}

impl Segments {
    pub(super) fn new(areas: Areas) -> Self {
        let section = Section {
            state: State::Free,
            valid: 0,
            written: 0,
        };
        Self {
            areas,
            sections: vec![section; areas.sections as usize],
            free: (0..areas.sections as u32).collect(),
            heads: [None; LOGS],
            last: 0,
            owners: vec![Box::default(); areas.sections as usize],
            changed: BTreeSet::new(),
            filled: BTreeSet::new(),
            clock: 0,
        }
    }

    /// Number of free sections.
    pub(super) fn free(&self) -> u64 {
        self.free.len() as u64
    }

    fn section_of(&self, block: u64) -> usize {
        ((block - self.areas.main) / self.areas.section) as usize
    }

    fn segment_of(&self, block: u64) -> u64 {
        (block - self.areas.main) / SEGMENT
    }

    /// The blocks of a section.
    pub(super) fn blocks(&self, section: u32) -> Extent {
        let start = self.areas.main + u64::from(section) * self.areas.section;
        Extent::new(start, self.areas.section)
    }

    /// Whether a log needs a new section for its next block.
    pub(super) fn needs_section(&self, log: Log) -> bool {
        self.heads[log as usize].is_none()
    }

    /// Takes the next blocks of a log, within its section. `None` if no section is free.
    pub(super) fn append(&mut self, log: Log, most: u64) -> Option<Extent> {
        let head = match self.heads[log as usize] {
            Some(head) => head,
            None => {
                let behind = self.free.range(self.last..).next();
                let section = behind.or_else(|| self.free.first()).copied()?;
                self.free.remove(&section);
                self.last = section;
                self.sections[section as usize].state = State::Open;
                self.owners[section as usize] =
                    vec![Owner::None; self.areas.section as usize].into();
                self.blocks(section)
            }
        };
        let taken = Extent::new(head.start, head.blocks.min(most));
        let rest = Extent::new(taken.end(), head.blocks - taken.blocks);
        self.heads[log as usize] = (rest.blocks > 0).then_some(rest);
        let section = self.section_of(taken.start);
        if rest.blocks == 0 {
            self.sections[section].state = State::Used;
        }
        self.sections[section].written = self.clock;
        let end = self.segment_of(taken.end() - 1) + u64::from(taken.end().is_multiple_of(SEGMENT));
        self.filled.extend(self.segment_of(taken.start)..end);
        Some(taken)
    }

    /// Notes what is in a block that was appended.
    pub(super) fn own(&mut self, block: u64, owner: Owner) {
        let (section, segment) = (self.section_of(block), self.segment_of(block));
        self.sections[section].valid += 1;
        self.changed.insert(segment);
        self.set_owner(block, owner);
    }

    /// Notes that a block is no longer valid.
    pub(super) fn disown(&mut self, block: u64) {
        let (section, segment) = (self.section_of(block), self.segment_of(block));
        self.sections[section].valid -= 1;
        self.changed.insert(segment);
        self.set_owner(block, Owner::None);
    }

    /// What is in a block.
    pub(super) fn owner(&self, block: u64) -> Owner {
        let owners = &self.owners[self.section_of(block)];
        let owner = owners.get(self.in_section(block)).copied();
        owner.unwrap_or(Owner::None)
    }

    fn set_owner(&mut self, block: u64, owner: Owner) {
        let (section, at) = (self.section_of(block), self.in_section(block));
        if let Some(of) = self.owners[section].get_mut(at) {
            *of = owner;
        }
    }

    fn in_section(&self, block: u64) -> usize {
        ((block - self.areas.main) % self.areas.section) as usize
    }

    /// Number of blocks that a log takes from its section next.
    pub(super) fn ahead(&self, log: Log) -> u64 {
        self.heads[log as usize].map_or(self.areas.section, |head| head.blocks)
    }

    /// The valid blocks of a section with what is in them.
    pub(super) fn valid(&self, section: u32) -> Vec<(u64, Owner)> {
        let blocks = self.blocks(section);
        let all = (blocks.start..blocks.end()).map(|block| (block, self.owner(block)));
        all.filter(|(_, owner)| *owner != Owner::None).collect()
    }

    /// Sections without valid blocks that will be free after a checkpoint.
    pub(super) fn emptied(&self) -> u64 {
        let empty = |section: &&Section| section.state == State::Used && section.valid == 0;
        self.sections.iter().filter(empty).count() as u64
    }

    /// After a checkpoint: sections all of whose blocks are free may be written again.
    pub(super) fn reclaim(&mut self, space: &Space) {
        for index in 0..self.sections.len() {
            let section = &self.sections[index];
            if section.state != State::Used || section.valid > 0 {
                continue;
            }
            let blocks = self.blocks(index as u32);
            if space.run_at(blocks.start, blocks.blocks) == blocks.blocks {
                self.sections[index].state = State::Free;
                self.owners[index] = Box::default();
                self.free.insert(index as u32);
            }
        }
    }

    /// The section to clean; one with invalid blocks that no log is filling.
    pub(super) fn victim(&self, by: Victim) -> Option<u32> {
        let all = self.areas.section;
        let candidates = self.sections.iter().zip(0..).filter(|(section, _)| {
            section.state == State::Used && section.valid > 0 && u64::from(section.valid) < all
        });
        match by {
            Victim::Greedy => candidates
                .min_by_key(|(section, _)| section.valid)
                .map(|(_, index)| index),
            Victim::CostBenefit => candidates
                .max_by_key(|(section, _)| {
                    // Benefit is the free share times the age; cost is reading all and writing the valid share.
                    let used = u64::from(section.valid) * 100 / all;
                    let age = self.clock - section.written;
                    (100 - used) * age * 100 / (100 + used)
                })
                .map(|(_, index)| index),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::format::LogFormat;
    use super::*;

    fn segments() -> (Segments, Space) {
        let mut space = Space::new(100 * SEGMENT);
        let areas = Areas::lay_out(LogFormat::default(), &mut space).unwrap();
        (Segments::new(areas), space)
    }

    #[test]
    fn a_log_fills_its_section_and_then_opens_the_next_free_one() {
        let (mut segments, _) = segments();
        let main = segments.areas.main;
        assert_eq!(
            segments.append(Log::WarmData, 500),
            Some(Extent::new(main, 500))
        );
        assert_eq!(
            segments.append(Log::HotNode, 1),
            Some(Extent::new(main + SEGMENT, 1))
        );
        assert_eq!(
            segments.append(Log::WarmData, 20),
            Some(Extent::new(main + 500, 12))
        );
        assert_eq!(segments.filled, BTreeSet::from([0]));
        assert!(segments.needs_section(Log::WarmData));
        assert_eq!(
            segments.append(Log::WarmData, 20),
            Some(Extent::new(main + 2 * SEGMENT, 20))
        );
    }

    #[test]
    fn the_victim_is_the_emptiest_or_the_oldest() {
        let (mut segments, _) = segments();
        // Three full sections with 100, 50 and 60 valid blocks, written at 0, 8 and 4.
        for (valid, clock) in [(100, 0), (50, 8), (60, 4)] {
            segments.clock = clock;
            let blocks = segments.append(Log::WarmData, SEGMENT).unwrap();
            for block in blocks.start..blocks.start + valid {
                segments.own(block, Owner::Node(1));
            }
        }
        segments.clock = 10;
        assert_eq!(segments.victim(Victim::Greedy), Some(1));
        // 81 * 10 * 100 / 119 = 680; 91 * 2 * 100 / 109 = 166; 89 * 6 * 100 / 111 = 481.
        assert_eq!(segments.victim(Victim::CostBenefit), Some(0));
        for (block, _) in segments.valid(1) {
            segments.disown(block);
        }
        assert_eq!(segments.emptied(), 1);
    }
}
