//! Counters of the work that a drive has done since it was new.

/// The work that a drive has done since it was new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Sectors written by the host.
    pub host_sectors_written: u64,
    /// Sectors read by the host.
    pub host_sectors_read: u64,
    /// Sectors programmed, including copies and the mapping table.
    pub flash_sectors_programmed: u64,
    /// Flash operations done.
    pub flash_ops: u64,
    /// Clustered blocks erased.
    pub erases: u64,
    /// Reads of a mapping table stored in flash.
    pub map_reads: u64,
    /// Reads of a mapping table in host memory.
    pub map_fetches: u64,
    /// Programs of a mapping table stored in flash.
    pub map_programs: u64,
    /// Repeated reads.
    pub read_retries: u64,
    /// Programs, copies and erases suspended by a read.
    pub suspends: u64,
    /// Programs that failed and were repeated.
    pub program_fails: u64,
    /// Erases that failed.
    pub erase_fails: u64,
    /// Pages of parity programmed.
    pub parity_programs: u64,
    /// Pages rebuilt from the other pages of their stripe.
    pub rebuilds: u64,
    /// Blocks collected in the background.
    pub background_collections: u64,
    /// Number of times that a write found no erased block and waited for one.
    pub stalls: u64,
    /// Events processed by the simulation.
    pub events: u64,
}
