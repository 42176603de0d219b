//! The settings of a queue.

use crate::{Config, Era, Priority, Split};
use fathom_base::{BadValue, Bytes, Dur, want};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// When submitted requests reach the scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Plug {
    /// At once.
    Off,
    /// When the submitter waits, or has submitted 32 requests: a plug list for each task, as in Linux since 2.6.39
    /// (`block/blk-core.c`, `BLK_MAX_REQUEST_COUNT`, 32 today).
    #[default]
    Batch,
    /// At once, but a queue that was empty dispatches nothing until it holds `requests` requests, `delay` has passed,
    /// somebody waits for one of its requests or for room, or a request completes: Linux before 2.6.39
    /// (`blk_plug_device`, `unplug_thresh` 4, `unplug_delay` 3 ms).
    Timer {
        /// Number of requests, after merging, that unplugs the queue.
        requests: u32,
        /// Time after which the queue is unplugged.
        delay: Dur,
    },
}

/// Maximum length of a plug list (`BLK_MAX_REQUEST_COUNT`).
pub(super) const BATCH_MAX: usize = 32;
/// A plug list whose first request has at least this many bytes takes no other (`BLK_PLUG_FLUSH_SIZE`).
pub(super) const FLUSH_BYTES: u64 = 128 << 10;

/// Requests of each direction in Linux 2.6; today an upper bound on the part of the drive's depth that counts
/// (`BLKDEV_DEFAULT_RQ`).
const DEFAULT_REQUESTS: u32 = 128;
/// Minimum number of tags of a controller, whatever the drive takes: the command slots of AHCI (`AHCI_MAX_CMDS`).
const CONTROLLER_TAGS: u32 = 32;

/// The block layer over a drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QueueConfig {
    /// Scheduler that picks the next request.
    pub scheduler: Config,
    /// Splitter, which limits the length of requests.
    pub split: Split,
    /// When submitted requests reach the scheduler.
    pub plug: Plug,
    /// Whether adjacent requests are merged.
    pub merge: bool,
    /// Maximum number of requests in flight at the drive. Default and upper bound: the drive's queue depth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Maximum number of requests that the queue holds or has in flight before it is busy; unless given, as in Linux.
    ///
    /// Under the schedulers of 2.6 this is the limit for reads, and separately for everything else (writes, flushes and
    /// trims): one direction never blocks the other (`nr_requests` "applies only to reads or writes (not the
    /// accumulated sum)", Documentation/block/queue-sysfs.txt, 2.6.39). Under current schedulers it is the limit for
    /// both together. A merged request takes no room (`__make_request`: `get_request_wait` comes after `elv_merge`;
    /// `blk_mq_submit_bio`). A split request takes room for each piece; it enters with all pieces once there is room
    /// for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u32>,
    /// Alignment counted in the statistics: a request is aligned if its start is a multiple of this. Default: 4 KiB.
    pub alignment: Bytes,
    /// I/O priorities by process number (`ionice`). Default: level 4 of best effort.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub priorities: BTreeMap<String, Priority>,
}

impl QueueConfig {
    /// The size of a pool: under the schedulers of 2.6 there is one for reads and one for everything else, under
    /// current ones a single pool.
    ///
    /// Unless `requests` is set: 128 in Linux 2.6 (`BLKDEV_MAX_RQ`). Today twice the tags of the controller, at most
    /// 256 (Linux 6.18, `blk_mq_alloc_sched_tags`, block/blk-mq-sched.c); without a scheduler, the tags of the
    /// controller (`blk_mq_init_allocated_queue`: `nr_requests` is the depth of the tag set). A controller has as many
    /// tags as its drive takes requests, but at least 32.
    pub(super) fn room(&self, scheduler: &Config, era: Era, drive: u32) -> u32 {
        let tags = drive.max(CONTROLLER_TAGS);
        self.requests.unwrap_or(match (era, scheduler) {
            (Era::Single, _) => DEFAULT_REQUESTS,
            (Era::Multi, Config::MqNone(_)) => tags,
            (Era::Multi, _) => 2 * tags.min(DEFAULT_REQUESTS),
        })
    }

    /// Checks the settings that do not depend on the drive.
    ///
    /// # Errors
    /// [`BadValue`] names the invalid setting.
    pub fn check(&self) -> Result<(), BadValue> {
        for (key, given) in [("depth", self.depth), ("requests", self.requests)] {
            let why = || "it must be at least 1".into();
            want(given != Some(0), key, 0, why).map_err(|bad| bad.of("queue"))?;
        }
        self.priorities().map(|_| ())
    }

    /// Checks that every process with a priority exists. Processes are numbered from 0 to `processes - 1`.
    ///
    /// # Errors
    /// [`BadValue`] names the first one that does not exist.
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

    /// Returns the priorities by process number.
    ///
    /// # Errors
    /// [`BadValue`] if a key is not a number.
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
