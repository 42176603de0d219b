//! State of the queue besides its requests: plug lists, pools, merge candidates and counters.

use super::merge::Mergeable;
use super::stats::Lengths;
use crate::{IoKey, Merging};
use fathom_base::Time;
use fathom_block::QueueWork;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The plug lists of all tasks that have plugged requests, in the order in which they were started.
#[derive(Clone, Debug, Default)]
pub(super) struct TaskLists {
    /// The slots of each list, in order of arrival.
    pub(super) lists: Vec<Vec<u32>>,
    /// The task of each list in use. The other lists are kept to reuse their memory.
    tasks: Vec<u32>,
    /// The index of each task's list, once there are more than [`FEW_TASKS`]. Only single tasks are looked up, so a hash
    /// map suffices.
    of_task: FxHashMap<u32, usize>,
}

/// Number of tasks up to which the list of a task is searched for: usually there is one.
const FEW_TASKS: usize = 8;

impl TaskLists {
    /// Number of lists in use.
    #[inline]
    pub(super) fn used(&self) -> usize {
        self.tasks.len()
    }

    /// Returns the index of a task's list.
    #[inline]
    fn index(&self, task: u32) -> Option<usize> {
        match self.tasks.len() <= FEW_TASKS {
            true => self.tasks.iter().position(|&other| other == task),
            false => self.of_task.get(&task).copied(),
        }
    }

    /// Returns the list of a task, empty if it has none.
    #[inline]
    pub(super) fn of(&self, task: u32) -> &[u32] {
        self.index(task).map_or(&[], |index| &self.lists[index])
    }

    /// Returns the index of a task's list, which begins here if it has none.
    #[inline]
    pub(super) fn list(&mut self, task: u32) -> usize {
        self.index(task).unwrap_or_else(|| self.begin(task))
    }

    /// Returns the only slot of all lists; `None` if there are several.
    #[inline]
    pub(super) fn only(&self) -> Option<u32> {
        match (&self.tasks[..], self.lists.first()?.as_slice()) {
            ([_], &[slot]) => Some(slot),
            _ => None,
        }
    }

    /// Begins the list of a task and returns its index.
    #[inline]
    fn begin(&mut self, task: u32) -> usize {
        let index = self.tasks.len();
        self.tasks.push(task);
        if index == self.lists.len() {
            self.lists.push(Vec::new());
        }
        if index >= FEW_TASKS {
            self.learn();
        }
        index
    }

    /// Adds the tasks that are missing to the map.
    #[cold]
    fn learn(&mut self) {
        let from = self.of_task.len();
        let missing = (from..).zip(&self.tasks[from..]);
        let missing = missing.map(|(index, &task)| (task, index));
        self.of_task.extend(missing);
    }

    /// Forgets the tasks and empties their lists.
    #[inline]
    pub(super) fn clear(&mut self) {
        for list in self.lists.iter_mut().take(self.tasks.len()) {
            list.clear();
        }
        self.tasks.clear();
        if !self.of_task.is_empty() {
            self.of_task.clear();
        }
    }
}

/// The state of the plugs.
#[derive(Clone, Debug)]
pub(super) struct Plugged {
    pub(super) tasks: TaskLists,
    /// When the timer plug ends at the latest; `Time::MAX` without a timer plug.
    pub(super) until: Time,
    /// Whether the timer plug ends when the submitter waits, because a submitted read is waited for.
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

/// The two pools of requests, one for reads and one for everything else. Under current schedulers the two share one
/// limit.
#[derive(Clone, Debug)]
pub(super) struct Pools {
    /// The size of a pool; see [`QueueConfig::requests`](super::QueueConfig::requests).
    pub(super) each: u32,
    /// Number of requests in each pool, after merging.
    pub(super) used: [u32; 2],
    /// Whether a request was refused for lack of room since the last completion.
    pub(super) full: [bool; 2],
}

/// The requests that a new one may be merged with.
#[derive(Clone, Debug)]
pub(super) struct Merges {
    pub(super) how: Merging,
    pub(super) mergeable: Mergeable,
    /// The request that was merged last or, if it is gone, the first one inserted since then.
    pub(super) last: Option<IoKey>,
    /// The latest requests that may grow, for [`Merging::Latest`]; in one list, or one for each kind.
    pub(super) latest: [VecDeque<IoKey>; 2],
}

/// The counters.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    /// When the queue was created.
    pub(super) since: Time,
    pub(super) work: QueueWork,
    /// The lengths of the dispatched reads and writes.
    pub(super) lengths: [Lengths; 2],
}
