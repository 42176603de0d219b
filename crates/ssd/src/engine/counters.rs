//! What a drive has done since it was new.

/// What the drive has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Sectors written by the host.
    pub host_sectors_written: u64,
    /// Sectors read by the host.
    pub host_sectors_read: u64,
    /// Sectors programmed, copies included.
    pub flash_sectors_programmed: u64,
    /// Flash operations done.
    pub flash_ops: u64,
    /// Clustered blocks erased.
    pub erases: u64,
    /// Reads of a map that lies in flash.
    pub map_reads: u64,
    /// Programs of a map that lies in flash.
    pub map_programs: u64,
    /// Repetitions of reads.
    pub read_retries: u64,
    /// Programs and erases that a read interrupted.
    pub suspends: u64,
    /// Programs that failed and were done again.
    pub program_fails: u64,
    /// Erases that failed.
    pub erase_fails: u64,
    /// Blocks collected in idle time.
    pub background_collections: u64,
    /// Times that a write found no erased block and waited for one.
    pub stalls: u64,
    /// Events handled.
    pub events: u64,
}
