//! The result of a recording.

use fathom_block::kernel::Record;

/// What was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// The events of all CPUs in order of time. Lost events are among them, as [`fathom_block::kernel::Event::Lost`].
    pub records: Vec<Record>,
    /// Number of lost events.
    pub lost: u64,
    /// Number of CPUs.
    pub cpus: u16,
}
