//! The allocator of ext3 in Linux 2.6.10 to 4.2, and of ext2 since 2.6.22: goal blocks and reservation windows.
//!
//! A new block goes behind the block of the page before, or to the home of the file. A file that is open for writing has
//! a window around its goal, from which no other file takes blocks. A window begins with 8 blocks; if more than half of
//! it was used when the file needs the next one, the next one is twice as long, up to 1,027 blocks. The window is given up
//! when the file is closed. A group is skipped if it has no more free blocks than half a window. If no group has room
//! outside of windows, they are ignored. Metadata uses no windows. After `fs/ext3/balloc.c` of Linux 2.6.27.
//!
//! Left out: the bitmap of the committing transaction (blocks freed in it are not free here either), and requests for
//! several blocks that one window covers in part are split where the window ends.

use super::{Allocator, Want, What};
use crate::block::{Extent, FileId, GROUP_BLOCKS};
use crate::space::Space;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Blocks of the first window of a file (`EXT3_DEFAULT_RESERVE_BLOCKS`).
const FIRST_WINDOW: u64 = 8;
/// Blocks of the longest window (`EXT3_MAX_RESERVE_BLOCKS`).
const LONGEST_WINDOW: u64 = 1027;
/// A shorter free run is taken only if no byte of the bitmap is free (`find_next_usable_block`).
const BYTE: u64 = 8;

/// The window of a file.
#[derive(Clone, Copy, Debug)]
struct Window {
    /// The blocks; none if `end` is not above `start`.
    start: u64,
    end: u64,
    /// Blocks of the next window.
    size: u64,
    /// Blocks taken from this one.
    hits: u64,
}

/// Goal blocks with reservation windows.
#[derive(Clone, Debug, Default)]
pub struct Ext3 {
    windows: FxHashMap<FileId, Window>,
    /// The windows in order of place: start, with end and owner.
    places: BTreeMap<u64, (u64, FileId)>,
}

impl Ext3 {
    /// Takes blocks of one group, in the window if there is one. `goal` is `None` for any block.
    fn in_group(
        &mut self,
        space: &mut Space,
        group: u64,
        goal: Option<u64>,
        want: &Want,
        window: Option<&mut Window>,
    ) -> Option<Extent> {
        let bounds = space.group(group);
        let Some(window) = window else {
            return take(space, bounds, goal, want.blocks);
        };
        let mut goal = goal;
        loop {
            let inside = |at: u64| (window.start..window.end).contains(&at);
            if window.start >= window.end || !goal.is_none_or(inside) {
                window.size = window.size.max(want.blocks.min(LONGEST_WINDOW));
                self.reserve(space, bounds, goal, want.file, window)?;
                if goal.is_some_and(|at| !(window.start..window.end).contains(&at)) {
                    goal = None;
                }
            }
            let within = Extent::new(window.start, window.end - window.start);
            if let Some(taken) = take(space, within, goal, want.blocks) {
                window.hits += taken.blocks;
                return Some(taken);
            }
            // The window is used up from the goal on: the next one begins behind it.
            self.places.remove(&window.start);
            goal = Some(goal.unwrap_or(window.start).max(window.end));
            window.start = window.end;
            if !(bounds.start..bounds.end()).contains(&goal.unwrap_or(0)) {
                return None;
            }
        }
    }

    /// Finds the next window of a file in a group: a gap between the windows of others that has a free block. `None` if
    /// there is none.
    fn reserve(
        &mut self,
        space: &Space,
        bounds: Extent,
        goal: Option<u64>,
        file: FileId,
        window: &mut Window,
    ) -> Option<()> {
        let mut from = goal.unwrap_or(bounds.start);
        if window.end > window.start {
            self.places.remove(&window.start);
            if window.hits > (window.end - window.start).div_ceil(2) {
                window.size = (window.size * 2).min(LONGEST_WINDOW);
            }
        }
        (window.start, window.end, window.hits) = (0, 0, 0);
        loop {
            let start = self.gap(from, window.size);
            if start >= bounds.end() {
                return None;
            }
            let free = space.next_free(start, bounds.end())?;
            if free < start + window.size {
                (window.start, window.end) = (start, start + window.size);
                self.places.insert(start, (window.end, file));
                return Some(());
            }
            from = free;
        }
    }

    /// The first place at or after `from` where `size` blocks are in no window.
    fn gap(&self, from: u64, size: u64) -> u64 {
        let mut start = from;
        if let Some((_, &(end, _))) = self.places.range(..=from).next_back() {
            start = start.max(end);
        }
        for (&next, &(end, _)) in self.places.range(start..) {
            if next >= start + size {
                break;
            }
            start = end;
        }
        start
    }

    fn close(&mut self, file: FileId) {
        if let Some(window) = self.windows.remove(&file) {
            let owner = self.places.get(&window.start);
            if owner.is_some_and(|&(_, owner)| owner == file) {
                self.places.remove(&window.start);
            }
        }
    }
}

/// Takes free blocks within bounds: from the goal on if it is free, else from the next free byte or bit on.
fn take(space: &mut Space, within: Extent, goal: Option<u64>, most: u64) -> Option<Extent> {
    let end = within.end().min(space.blocks());
    let start = match goal {
        Some(goal) if space.is_free(goal) => goal,
        _ => usable(space, goal.unwrap_or(within.start).max(within.start), end)?,
    };
    let extent = Extent::new(start, space.run_at(start, most.min(end - start)));
    space.take(extent);
    Some(extent)
}

/// The next block to take: a free one up to the next multiple of 64; else the first of the next free byte, moved back over
/// free blocks; else any free one.
fn usable(space: &Space, from: u64, end: u64) -> Option<u64> {
    let near = end.min((from + 63) & !63);
    if let Some(block) = space.next_free(from, near) {
        return Some(block);
    }
    let mut at = from;
    while let Some(run) = space.run(at, end, u64::MAX) {
        let byte = run.start.next_multiple_of(BYTE);
        if byte + BYTE <= run.end() {
            return Some(run.start.max(byte.saturating_sub(BYTE - 1)));
        }
        at = run.end();
    }
    space.next_free(from, end)
}

impl Allocator for Ext3 {
    fn allocate(&mut self, space: &mut Space, want: &Want) -> Option<Extent> {
        let goal = match want.goal() {
            goal if goal < space.blocks() => goal,
            _ => 0,
        };
        let first = goal / GROUP_BLOCKS;
        let mut window = (want.what == What::Data && want.open).then(|| {
            let new = Window {
                start: 0,
                end: 0,
                size: FIRST_WINDOW,
                hits: 0,
            };
            self.windows.get(&want.file).copied().unwrap_or(new)
        });
        let mut taken = None;
        for step in 0..=space.groups() {
            let group = (first + step) % space.groups();
            let free = space.free_in(group);
            let windows = window.as_ref().map_or(0, |window| window.size);
            // The group of the goal is tried whatever it has; others only if they have room for half a window.
            if free == 0 || step > 0 && free <= windows / 2 {
                continue;
            }
            let goal = (step == 0).then_some(goal);
            taken = self.in_group(space, group, goal, want, window.as_mut());
            if taken.is_some() {
                break;
            }
        }
        if let Some(window) = window {
            self.windows.insert(want.file, window);
        }
        if taken.is_none() {
            let run = space.run(goal, space.blocks(), want.blocks);
            taken = run.or_else(|| space.run(0, space.blocks(), want.blocks));
            taken.into_iter().for_each(|run| space.take(run));
        }
        taken
    }

    fn closed(&mut self, _space: &mut Space, file: FileId) {
        self.close(file);
    }

    fn give_back(&mut self, _space: &mut Space) {
        self.windows.clear();
        self.places.clear();
    }

    fn memory_bytes(&self) -> u64 {
        let window = size_of::<(FileId, Window)>() + size_of::<(u64, (u64, FileId))>();
        (self.windows.len() * window) as u64
    }
}
