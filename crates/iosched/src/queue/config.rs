//! What a queue is set to.

use crate::{Config, Era, Priority, Split};
use fathom_base::{BadValue, Bytes, Dur, want};
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

/// Requests of each direction in Linux 2.6, and the most of a drive's depth that counts today (`BLKDEV_DEFAULT_RQ`).
const DEFAULT_REQUESTS: u32 = 128;
/// The least that a controller takes: the command slots of AHCI (`AHCI_MAX_CMDS`), whatever the drive behind it takes.
const CONTROLLER_TAGS: u32 = 32;

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
    /// Requests that the queue holds or has in flight before it is busy for another; unless given, as many as
    /// Linux has. Under the schedulers of 2.6 these are reads, and as many of all else (writes, flushes and
    /// trims): one direction never keeps the other from entering (`nr_requests` "applies only to reads or writes (not the
    /// accumulated sum)", Documentation/block/queue-sysfs.txt, 2.6.39). Under those of today they are both together. What
    /// is merged takes no room (`__make_request`: `get_request_wait` comes after `elv_merge`; `blk_mq_submit_bio`), and
    /// what is split takes room for each piece; one that finds room for its first piece enters with all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u32>,
    /// Starts that are a multiple of it count as aligned in the statistics; 4 KiB unless given.
    pub alignment: Bytes,
    /// I/O priorities of processes; level 4 of best effort where nothing is said (`ionice`).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub priorities: BTreeMap<String, Priority>,
}

impl QueueConfig {
    /// The requests that there are: for reads and for all else each under the schedulers of 2.6, for both together under
    /// those of today.
    ///
    /// Unless given: 128 in Linux 2.6 (`BLKDEV_MAX_RQ`). Today twice as many as the controller takes at a time, and at most
    /// 256 (Linux 6.18, `blk_mq_alloc_sched_tags`, block/blk-mq-sched.c); with no scheduler as many as the controller takes
    /// (`blk_mq_init_allocated_queue`: `nr_requests` is the depth of the tag set). A controller takes what its drive does,
    /// but at least 32.
    pub(super) fn room(&self, scheduler: &Config, era: Era, drive: u32) -> u32 {
        let tags = drive.max(CONTROLLER_TAGS);
        self.requests.unwrap_or(match (era, scheduler) {
            (Era::Single, _) => DEFAULT_REQUESTS,
            (Era::Multi, Config::MqNone(_)) => tags,
            (Era::Multi, _) => 2 * tags.min(DEFAULT_REQUESTS),
        })
    }

    /// Looks for what no queue can have, whatever the drive.
    ///
    /// # Errors
    /// [`BadValue`] names the setting.
    pub fn check(&self) -> Result<(), BadValue> {
        for (key, given) in [("depth", self.depth), ("requests", self.requests)] {
            let why = || "it must be at least 1".into();
            want(given != Some(0), key, 0, why).map_err(|bad| bad.of("queue"))?;
        }
        self.priorities().map(|_| ())
    }

    /// Looks for priorities of processes that are not there.
    ///
    /// # Errors
    /// [`BadValue`] names the first one.
    pub fn check_processes(&self, processes: usize) -> Result<(), BadValue> {
        let missing = |number: &&u32| **number as usize >= processes;
        let priorities = self.priorities()?;
        match priorities.keys().find(missing) {
            None => Ok(()),
            Some(number) => {
                let there = match processes {
                    1 => "is 1 process".to_owned(),
                    many => format!("are {many} processes"),
                };
                Err(bad_priorities(format!(
                    "it gives process {number} a priority, and there {there}: they are numbered from 0"
                )))
            }
        }
    }

    /// The priorities by process.
    ///
    /// # Errors
    /// [`BadValue`] where a process is no number.
    pub(super) fn priorities(&self) -> Result<BTreeMap<u32, Priority>, BadValue> {
        let read = |(process, &priority): (&String, &Priority)| {
            let number = process.parse().ok();
            let pair = number.map(|number| (number, priority));
            pair.ok_or_else(|| {
                bad_priorities(format!(
                    "it gives `{process}` the priority {priority}, and takes numbers of processes"
                ))
            })
        };
        self.priorities.iter().map(read).collect()
    }
}

fn bad_priorities(problem: String) -> BadValue {
    BadValue::new("priorities", "", problem).of("queue")
}

impl Default for QueueConfig {
    fn default() -> Self {
        Self {
            scheduler: Config::Noop(crate::sched::noop::Tunables::default()),
            split: Split::default(),
            plug: Plug::default(),
            merge: true,
            depth: None,
            requests: None,
            alignment: Bytes(4096),
            priorities: BTreeMap::new(),
        }
    }
}
