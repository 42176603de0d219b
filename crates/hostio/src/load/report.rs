//! What a load has measured.

use super::config::StampClock;
use super::cpus::CpuTimes;
use super::helper::KernelThread;
use super::latency::Latency;
use super::seen::Stamp;
use super::usage::Usage;

/// What a thread of a load did in the measured part.
#[derive(Clone, Debug)]
pub struct ThreadLoad {
    /// Index of its target in [`crate::load::LoadConfig::targets`].
    pub target: usize,
    /// Number of the thread, as in the kernel's traces.
    pub tid: u32,
    /// Processor on which it ended: the only one if it was pinned.
    pub cpu: u32,
    /// Number of reads. All began and ended in the measured part.
    pub ios: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Number of system calls that submitted reads or waited for them.
    pub calls: u64,
    /// What it used.
    pub usage: Usage,
    /// The kernel's threads that worked for it. Their processor time is not in `usage`.
    pub kernel_threads: Vec<KernelThread>,
    /// Latencies of the reads.
    pub latency: Latency,
    /// Stamps of the first reads, in the order of completion.
    pub stamps: Vec<Stamp>,
    /// Number of reads with other data than the target; 0 without [`crate::load::LoadConfig::verify`].
    pub mismatches: u64,
    /// Settings of its ring that the kernel granted, such as "single issuer, deferred completions"; empty for other
    /// engines.
    pub granted: &'static str,
}

/// What a load has measured.
#[derive(Clone, Debug)]
pub struct LoadReport {
    /// The threads, in the order of their numbers from 0.
    pub threads: Vec<ThreadLoad>,
    /// Clock of latencies and stamps.
    pub clock: StampClock,
    /// Length of the time over which `cpus` was counted, in nanoseconds of `CLOCK_MONOTONIC`: from the end of the warm-up
    /// until the last thread ended.
    pub cpus_wall_ns: u64,
    /// What every processor of the machine did in that time, for all programs.
    pub cpus: Vec<CpuTimes>,
    /// True if the caller's flag ended the load.
    pub stopped: bool,
}
