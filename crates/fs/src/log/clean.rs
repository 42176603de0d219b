//! Cleaning: moving the valid blocks of a section, so that it is free after the next checkpoint.
//!
//! In the foreground the section with the fewest valid blocks is cleaned, until enough are free; in the background, at a
//! sync, the one with the best benefit for its cost (`fs/f2fs/gc.c`).

use super::contents::Owner;
use super::format::KEPT;
use super::layout::LogFs;
use super::segments::{Log, Victim};
use crate::block::Extent;
use crate::error::FsError;
use crate::layout::Core;

/// Sections that cleaning in the foreground frees beyond those that are kept.
const MORE: u64 = 3;

impl LogFs {
    /// Cleans until more sections are free than are kept, with a checkpoint at the end.
    pub(super) fn clean(&mut self, core: &mut Core) -> Result<(), FsError> {
        self.cleaning = true;
        let mut result = Ok(());
        let enough = KEPT + MORE + self.due();
        while result.is_ok() && self.segments.free() + self.segments.emptied() < enough {
            let Some(section) = self.segments.victim(Victim::Greedy) else {
                break;
            };
            result = self.move_section(core, section);
            // What was moved to may itself use up the free sections before it gains one.
            if self.segments.free() < KEPT / 2 && self.segments.emptied() > 0 {
                result = result.and_then(|()| self.checkpoint_now(core));
            }
        }
        if result.is_ok() && self.segments.emptied() > 0 {
            result = self.checkpoint_now(core);
        }
        self.cleaning = false;
        result
    }

    /// A checkpoint that cleaning waits for.
    fn checkpoint_now(&mut self, core: &mut Core) -> Result<(), FsError> {
        self.write_checkpoint(core)?;
        self.settle(core);
        Ok(())
    }

    /// Cleans one section if fewer sections are free than are spare.
    pub(super) fn clean_a_little(&mut self, core: &mut Core) -> Result<(), FsError> {
        let free = self.segments.free() + self.segments.emptied();
        if self.cleaning || free >= self.areas.spare {
            return Ok(());
        }
        match self.segments.victim(Victim::CostBenefit) {
            Some(section) => self.move_section(core, section),
            None => Ok(()),
        }
    }

    fn move_section(&mut self, core: &mut Core, section: u32) -> Result<(), FsError> {
        for (block, owner) in self.segments.valid(section) {
            // A page that was written meanwhile, by a checkpoint, has moved already.
            if self.segments.owner(block) != Some(owner) {
                continue;
            }
            Extent::new(block, 1).add_to(&mut core.cleaned);
            match owner {
                Owner::Page(file, page) => self.write_pages(core, file, page, 1, Log::ColdData)?,
                Owner::Node(node) => self.write_node(core, node)?,
            }
        }
        Ok(())
    }
}
