//! Statistics of a device beyond its completions: the internal counters of a drive, and those of a block layer above it.
//! A real drive provides none.

use crate::{Device, Limited, Narrow, NullDevice, RamDevice};
use fathom_base::{Dur, Time};
use serde::{Deserialize, Serialize};

/// A device that a workload runs on, and that may provide statistics.
pub trait Subject: Device {
    /// Returns its work so far, if it is known.
    fn stats(&self) -> Option<DriveStats> {
        None
    }

    /// Returns the work of a block layer above the drive so far, if there is one.
    fn queue(&self) -> Option<QueueWork> {
        None
    }

    /// Returns a time before which nothing happens inside the device unless it gets a request, or [`Time::MAX`] if nothing
    /// will happen; `None` if it cannot tell. A layer over several devices needs it to keep their clocks together.
    fn next_at(&mut self) -> Option<Time> {
        None
    }

    /// Writes a new drive sequentially from its beginning in no simulated time. Returns the number of bytes written, at
    /// most its capacity. The rest must be written by requests, which bring the buffers into the right state.
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

    fn next_at(&mut self) -> Option<Time> {
        self.inner_mut().next_at()
    }
}

impl<D: Subject> Subject for Limited<D> {
    fn stats(&self) -> Option<DriveStats> {
        self.inner().stats()
    }

    fn queue(&self) -> Option<QueueWork> {
        self.inner().queue()
    }

    fn next_at(&mut self) -> Option<Time> {
        let start = self.next_start();
        self.inner_mut().next_at().map(|at| at.min(start))
    }

    fn fill(&mut self) -> u64 {
        self.inner_mut().fill()
    }
}

impl<D: Subject + ?Sized> Subject for &mut D {
    fn stats(&self) -> Option<DriveStats> {
        (**self).stats()
    }

    fn queue(&self) -> Option<QueueWork> {
        (**self).queue()
    }

    fn next_at(&mut self) -> Option<Time> {
        (**self).next_at()
    }

    fn fill(&mut self) -> u64 {
        (**self).fill()
    }
}

impl Subject for NullDevice {
    fn next_at(&mut self) -> Option<Time> {
        Some(self.next_completion())
    }
}

impl Subject for RamDevice {
    fn next_at(&mut self) -> Option<Time> {
        Some(self.next_completion())
    }
}

/// A real drive provides no statistics.
impl Subject for Box<dyn Device> {}

/// The work of a drive since it was made, as far as its kind counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DriveStats {
    /// Bytes that the host has written.
    pub host_bytes_written: u64,
    /// Bytes programmed into flash, including moved data and mapping tables.
    pub flash_bytes_programmed: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Switch merges: log blocks that became data blocks unchanged.
    pub switch_merges: u64,
    /// Partial merges: log blocks that were completed from their data block.
    pub partial_merges: u64,
    /// Full merges: data and log blocks merged into a new block.
    pub full_merges: u64,
    /// Victims of garbage collection.
    pub collected: u64,
    /// Mapped units that were moved (pages, unless stated otherwise).
    pub moved_units: u64,
    /// Reads of a mapping table stored in flash.
    pub map_reads: u64,
    /// Programs of a mapping table stored in flash.
    pub map_programs: u64,
    /// Reads that were repeated with other thresholds.
    pub read_retries: u64,
    /// Programs, copies and erases suspended by a read.
    pub suspends: u64,
    /// Blocks that are out of use.
    pub bad_blocks: u64,
    /// Busy time of the flash elements, summed over all elements; `None` if this kind of drive does not count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy: Option<Dur>,
}

impl DriveStats {
    /// Returns the work done since `earlier`.
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
            busy: self.busy.zip(earlier.busy).map(|(now, then)| now - then),
        }
    }

    /// Returns the work of two drives together.
    #[must_use]
    pub fn plus(&self, other: &DriveStats) -> DriveStats {
        DriveStats {
            host_bytes_written: self.host_bytes_written + other.host_bytes_written,
            flash_bytes_programmed: self.flash_bytes_programmed + other.flash_bytes_programmed,
            erases: self.erases + other.erases,
            switch_merges: self.switch_merges + other.switch_merges,
            partial_merges: self.partial_merges + other.partial_merges,
            full_merges: self.full_merges + other.full_merges,
            collected: self.collected + other.collected,
            moved_units: self.moved_units + other.moved_units,
            map_reads: self.map_reads + other.map_reads,
            map_programs: self.map_programs + other.map_programs,
            read_retries: self.read_retries + other.read_retries,
            suspends: self.suspends + other.suspends,
            bad_blocks: self.bad_blocks + other.bad_blocks,
            busy: self.busy.zip(other.busy).map(|(one, two)| one + two),
        }
    }

    /// Returns bytes programmed per byte written by the host; `None` if the host wrote nothing.
    pub fn write_amplification(&self) -> Option<f64> {
        let written = self.host_bytes_written;
        (written > 0).then(|| self.flash_bytes_programmed as f64 / written as f64)
    }
}

/// Erase counts of the blocks of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wear {
    /// Minimum over all blocks.
    pub min: u32,
    /// Mean over all blocks.
    pub mean: f64,
    /// Maximum over all blocks.
    pub max: u32,
}

impl Wear {
    /// Summarises the erase counts of all blocks; `None` if there are none. O(blocks).
    pub fn of(erases: &[u32]) -> Option<Wear> {
        let first = *erases.first()?;
        // One pass over memory that may be megabytes; the compiler makes vectors of it.
        let (mut total, mut min, mut max) = (0, first, first);
        for &count in erases {
            total += u64::from(count);
            min = min.min(count);
            max = max.max(count);
        }
        Some(Wear {
            min,
            mean: total as f64 / erases.len() as f64,
            max,
        })
    }
}

/// Requests of one kind that were dispatched to the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Number of requests.
    pub count: u64,
    /// Total length, in bytes.
    pub bytes: u64,
    /// Number of requests whose offset is a multiple of the alignment that the queue was told to count by.
    pub aligned: u64,
}

/// The counters of a queue at one moment. Cheap enough to be sampled often; the work between two moments is the
/// difference. Fields without a unit in their name are numbers of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueWork {
    /// The moment, on the drive's clock.
    pub at: Time,
    /// Reads and writes submitted.
    pub submitted: u64,
    /// Pieces that they were split into.
    pub pieces: u64,
    /// Pieces merged to the end of another request.
    pub back_merges: u64,
    /// Pieces merged to the beginning of another request.
    pub front_merges: u64,
    /// Requests that became adjacent by a merge and were joined into one.
    pub joined: u64,
    /// Requests that had to wait for an earlier overlapping request.
    pub held_back: u64,
    /// Reads dispatched to the drive.
    pub reads: Given,
    /// Writes dispatched to the drive.
    pub writes: Given,
    /// Sum, over all dispatched requests, of the requests that the drive then had.
    pub depth_sum: u64,
    /// Integral over time, in requests times ns, of the submitted requests that are not done, that is, held or in flight.
    /// Saturates at `u64::MAX`: two years of a full queue of 256.
    pub held_ns: u64,
    /// The same for the requests in flight as they were dispatched: merged and split, including flushes and trims.
    pub in_flight_ns: u64,
}
