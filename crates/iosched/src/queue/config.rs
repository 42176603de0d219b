//! What a queue is set to.

use crate::{BadConfig, Config, Priority, Split};
use fathom_base::{Bytes, Dur};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// When requests that were submitted reach the scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Plug {
    /// At once.
    Off,
    /// When the submitter waits, or has submitted that many: a plug list for each task, as in Linux since 2.6.39
    /// (`block/blk-core.c`, `BLK_MAX_REQUEST_COUNT`, 32 today).
    #[default]
    Batch,
    /// At once, but the drive gets nothing from a queue that was empty until it holds so many requests, or for that long,
    /// or until somebody waits for one of them or for room, or something completes: Linux before 2.6.39
    /// (`blk_plug_device`, `unplug_thresh` 4, `unplug_delay` 3 ms).
    Timer {
        /// Requests, after merging, that end it.
        requests: u32,
        /// Time that ends it.
        delay: Dur,
    },
}

/// The most that a plug list holds (`BLK_MAX_REQUEST_COUNT`).
pub(super) const BATCH_MAX: usize = 32;
/// A plug list that begins with a request as long as this takes no other (`BLK_PLUG_FLUSH_SIZE`).
pub(super) const FLUSH_BYTES: u64 = 128 << 10;

/// The block layer over a drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QueueConfig {
    /// Which request goes next.
    pub scheduler: Config,
    /// Where requests are cut.
    pub split: Split,
    /// When requests reach the scheduler.
    pub plug: Plug,
    /// Whether adjacent requests are merged.
    pub merge: bool,
    /// Requests that the drive has at a time; as many as it takes unless given, and never more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Reads that the queue holds or has in flight before it is busy for another, and as many of all else (writes, flushes
    /// and trims): one direction never keeps the other from entering. 128 as in Linux, whose `nr_requests` "applies only
    /// to reads or writes (not the accumulated sum)" (Documentation/block/queue-sysfs.txt, 2.6.39). What is merged takes
    /// no room (`__make_request`: `get_request_wait` comes after `elv_merge`), and what is split takes room for each
    /// piece; one that finds room for its first piece enters with all of them.
    pub requests: u32,
    /// Starts that are a multiple of it count as aligned in the statistics; 4 KiB unless given.
    pub alignment: Bytes,
    /// I/O priorities of processes; level 4 of best effort where nothing is said (`ionice`).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub priorities: BTreeMap<String, Priority>,
}

impl QueueConfig {
    /// The priorities by process.
    ///
    /// # Errors
    /// [`BadConfig`] where a process is no number.
    pub(super) fn priorities(&self) -> Result<BTreeMap<u32, Priority>, BadConfig> {
        let read = |(process, &priority): (&String, &Priority)| {
            let number = process.parse().ok();
            let pair = number.map(|number| (number, priority));
            pair.ok_or_else(|| BadConfig {
                part: "queue",
                key: "priorities",
                problem: format!(
                    "gives `{process}` the priority {priority}; it takes numbers of processes"
                ),
            })
        };
        self.priorities.iter().map(read).collect()
    }
}

impl Default for QueueConfig {
    fn default() -> Self {
        Self {
            scheduler: Config::Noop(crate::sched::noop::Tunables::default()),
            split: Split::default(),
            plug: Plug::default(),
            merge: true,
            depth: None,
            requests: 128,
            alignment: Bytes(4096),
            priorities: BTreeMap::new(),
        }
    }
}
