//! What a device can tell of what it has done, beside its answers: a drive's own counters, and those of a block layer
//! above it. A real drive tells nothing.

use crate::{Device, Narrow, NullDevice};
use fathom_base::{Dur, Time};
use serde::{Deserialize, Serialize};

/// What a workload is played on: a device that may tell what it has done.
pub trait Subject: Device {
    /// What it has done so far, where it can tell.
    fn stats(&self) -> Option<DriveStats> {
        None
    }

    /// What has gone through a block layer above it so far, if there is one.
    fn queue(&self) -> Option<QueueWork> {
        None
    }

    /// Has a new drive written in order from its beginning on, in no time; how many bytes are, up to its capacity. The rest is
    /// to be written by requests, which bring buffers into the state that they leave.
    fn fill(&mut self) -> u64 {
        0
    }
}

impl<D: Subject> Subject for Narrow<D> {
    fn stats(&self) -> Option<DriveStats> {
        self.inner().stats()
    }

    fn queue(&self) -> Option<QueueWork> {
        self.inner().queue()
    }
}

impl<D: Subject + ?Sized> Subject for &mut D {
    fn stats(&self) -> Option<DriveStats> {
        (**self).stats()
    }

    fn queue(&self) -> Option<QueueWork> {
        (**self).queue()
    }

    fn fill(&mut self) -> u64 {
        (**self).fill()
    }
}

impl Subject for NullDevice {}

/// A real drive tells nothing.
impl Subject for Box<dyn Device> {}

/// What a drive has done since it was made, as far as its kind knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DriveStats {
    /// Bytes that the host has written.
    pub host_bytes_written: u64,
    /// Bytes programmed into flash, moves and maps included.
    pub flash_bytes_programmed: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Log blocks that became data blocks as they were.
    pub switch_merges: u64,
    /// Log blocks that were completed from their data block.
    pub partial_merges: u64,
    /// Data and log blocks merged into a new block.
    pub full_merges: u64,
    /// Victims of garbage collection.
    pub collected: u64,
    /// Mapped units (pages, where nothing else is said) that were moved.
    pub moved_units: u64,
    /// Reads of a map that lies in flash.
    pub map_reads: u64,
    /// Programs of a map that lies in flash.
    pub map_programs: u64,
    /// Reads that were repeated with other thresholds.
    pub read_retries: u64,
    /// Programs and erases that a read interrupted.
    pub suspends: u64,
    /// Blocks that went out of use.
    pub bad_blocks: u64,
    /// The time for which flash elements were at work, all elements together.
    #[serde(default)]
    pub busy: Dur,
}

impl DriveStats {
    /// What was done since `earlier`.
    pub fn since(&self, earlier: &DriveStats) -> DriveStats {
        DriveStats {
            host_bytes_written: self.host_bytes_written - earlier.host_bytes_written,
            flash_bytes_programmed: self.flash_bytes_programmed - earlier.flash_bytes_programmed,
            erases: self.erases - earlier.erases,
            switch_merges: self.switch_merges - earlier.switch_merges,
            partial_merges: self.partial_merges - earlier.partial_merges,
            full_merges: self.full_merges - earlier.full_merges,
            collected: self.collected - earlier.collected,
            moved_units: self.moved_units - earlier.moved_units,
            map_reads: self.map_reads - earlier.map_reads,
            map_programs: self.map_programs - earlier.map_programs,
            read_retries: self.read_retries - earlier.read_retries,
            suspends: self.suspends - earlier.suspends,
            bad_blocks: self.bad_blocks - earlier.bad_blocks,
            busy: self.busy - earlier.busy,
        }
    }

    /// Bytes programmed for each byte that the host wrote; `None` where it wrote none.
    pub fn write_amplification(&self) -> Option<f64> {
        let written = self.host_bytes_written;
        (written > 0).then(|| self.flash_bytes_programmed as f64 / written as f64)
    }
}

/// How often the blocks of a drive were erased.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wear {
    /// The least worn block.
    pub min: u32,
    /// The mean over all blocks.
    pub mean: f64,
    /// The most worn block.
    pub max: u32,
}

impl Wear {
    /// Of the erases of every block; `None` of no block. O(blocks).
    pub fn of(erases: &[u32]) -> Option<Wear> {
        let total: u64 = erases.iter().map(|&n| u64::from(n)).sum();
        Some(Wear {
            min: *erases.iter().min()?,
            mean: total as f64 / erases.len() as f64,
            max: *erases.iter().max()?,
        })
    }
}

/// Requests of one kind that the drive was given, without their lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// How many.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How many began at a multiple of the alignment that the queue was told to count by.
    pub aligned: u64,
}

/// The counters of a queue at one moment, cheap enough to be taken often: what lies between two moments is the
/// difference. What has no unit in its name is a number of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueWork {
    /// The moment, on the drive's clock.
    pub at: Time,
    /// Reads and writes that were submitted.
    pub submitted: u64,
    /// What they were split into.
    pub pieces: u64,
    /// Pieces that joined the end of another request.
    pub back_merges: u64,
    /// Pieces that joined the beginning of another request.
    pub front_merges: u64,
    /// Requests that became adjacent by a merge, and one.
    pub joined: u64,
    /// Requests that had to wait for an earlier one that they overlap.
    pub held_back: u64,
    /// Reads that the drive was given.
    pub reads: Given,
    /// Writes that the drive was given.
    pub writes: Given,
    /// The sum, over all requests that the drive was given, of how many it then had.
    pub depth_sum: u64,
    /// The integral over time, in requests times ns, of the requests as they were submitted that are not done, held or in
    /// flight. Stops at `u64::MAX`: two years of a full queue of 256.
    pub held_ns: u64,
    /// The same of the requests that the drive has, as it was given them: merged and split, flushes and trims among them.
    pub in_flight_ns: u64,
}
