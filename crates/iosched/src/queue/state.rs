//! What the queue keeps besides its requests: plug lists, room, what may be merged, counters.

use super::merge::Mergeable;
use super::stats::Lengths;
use crate::{IoKey, Merging};
use fathom_base::Time;
use fathom_block::QueueWork;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The plug lists of all tasks that have plugged anything, the first to begin first.
#[derive(Clone, Debug, Default)]
pub(super) struct TaskLists {
    /// Requests in the order in which they came.
    pub(super) lists: Vec<Vec<u32>>,
    /// How many of them are in use; the others are kept for their memory.
    pub(super) used: usize,
    /// Which one is of which task. Only ever asked for one, so that it needs no order.
    pub(super) of_task: FxHashMap<u32, usize>,
}

impl TaskLists {
    /// The list of a task, empty if it has none.
    pub(super) fn of(&self, task: u32) -> &[u32] {
        let index = self.of_task.get(&task);
        index.map_or(&[], |&index| &self.lists[index])
    }

    pub(super) fn push(&mut self, task: u32, slot: u32) {
        let used = &mut self.used;
        let index = *self.of_task.entry(task).or_insert_with(|| {
            *used += 1;
            *used - 1
        });
        if index == self.lists.len() {
            self.lists.push(Vec::new());
        }
        self.lists[index].push(slot);
    }
}

/// What is plugged.
#[derive(Clone, Debug)]
pub(super) struct Plugged {
    pub(super) tasks: TaskLists,
    /// When the timer plug goes at the latest; `Time::MAX` where there is none.
    pub(super) until: Time,
    /// Whether somebody who has submitted waits, once he has submitted all.
    pub(super) awaited: bool,
}

impl Default for Plugged {
    fn default() -> Self {
        Self {
            tasks: TaskLists::default(),
            until: Time::MAX,
            awaited: false,
        }
    }
}

/// The two pools of requests: reads, and all else. Today the two share one room.
#[derive(Clone, Debug)]
pub(super) struct Pools {
    /// The requests of a pool: see [`QueueConfig::requests`](super::QueueConfig::requests).
    pub(super) each: u32,
    /// Requests in them, as they are after merging.
    pub(super) used: [u32; 2],
    /// Whether one was refused for want of room since the last completion.
    pub(super) full: [bool; 2],
}

/// What a new request may be merged with.
#[derive(Clone, Debug)]
pub(super) struct Merges {
    pub(super) how: Merging,
    pub(super) mergeable: Mergeable,
    /// The request that was last merged, or came first since.
    pub(super) last: Option<IoKey>,
    /// The latest requests that may grow, where the queue looks at no others, by kind if need be.
    pub(super) latest: [VecDeque<IoKey>; 2],
}

/// What went through.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    /// Since when the queue is there.
    pub(super) since: Time,
    pub(super) work: QueueWork,
    /// The lengths of the reads and of the writes that the drive was given.
    pub(super) lengths: [Lengths; 2],
}
