//! What the calling thread has used: time, processor time, context switches, bytes from drives.

#![allow(unsafe_code)] // getrusage, for which rustix has no wrapper.

use super::ticks::{ns, tsc};
use rustix::time::ClockId;
use std::path::Path;

/// What a thread used in the measured part of a load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time passed, in nanoseconds of `CLOCK_MONOTONIC`.
    pub wall_ns: u64,
    /// Time passed, in clocks of the time stamp counter; `None` without one.
    pub wall_clocks: Option<u64>,
    /// Processor time, in nanoseconds (`CLOCK_THREAD_CPUTIME_ID`). It includes interrupts that arrived while the thread ran,
    /// unless the kernel accounts for them apart (`CONFIG_IRQ_TIME_ACCOUNTING`).
    pub cpu_ns: u64,
    /// Part of the processor time in this program, in nanoseconds (`getrusage`, whole microseconds). Unless the kernel has
    /// `CONFIG_VIRT_CPU_ACCOUNTING`, it samples the mode at its timer interrupts, so that a second gives only some hundred
    /// samples.
    pub user_ns: u64,
    /// Part of the processor time in the kernel, in nanoseconds; as exact as `user_ns`.
    pub system_ns: u64,
    /// Number of times that the thread slept.
    pub voluntary_switches: u64,
    /// Number of times that another thread took the processor.
    pub involuntary_switches: u64,
    /// Bytes that the thread, and the kernel's threads that worked for it, requested from drives (`read_bytes` in
    /// /proc/PID/io); `None` where the kernel does not count them. A read that io_uring first tries without waiting and then
    /// gives to a worker may count twice.
    pub device_read_bytes: Option<u64>,
}

impl Usage {
    /// Adds another window of the same thread.
    pub(super) fn add(&mut self, other: &Self) {
        let both = |a: Option<u64>, b: Option<u64>| Some(a? + b?);
        *self = Self {
            wall_ns: self.wall_ns + other.wall_ns,
            wall_clocks: both(self.wall_clocks, other.wall_clocks),
            cpu_ns: self.cpu_ns + other.cpu_ns,
            user_ns: self.user_ns + other.user_ns,
            system_ns: self.system_ns + other.system_ns,
            voluntary_switches: self.voluntary_switches + other.voluntary_switches,
            involuntary_switches: self.involuntary_switches + other.involuntary_switches,
            device_read_bytes: both(self.device_read_bytes, other.device_read_bytes),
        };
    }

    /// Returns the usage of no time, to which windows are added.
    pub(super) fn none() -> Self {
        Self {
            wall_clocks: Some(0),
            device_read_bytes: Some(0),
            ..Self::default()
        }
    }
}

/// What the kernel counts for a thread since its start, by `getrusage`.
#[derive(Clone, Copy)]
struct Counters {
    user_ns: u64,
    system_ns: u64,
    voluntary: u64,
    involuntary: u64,
}

impl Counters {
    fn now() -> Self {
        // SAFETY: `rusage` consists of integers, for which zeros are valid.
        let mut used: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the call writes one `rusage` to the place given. It cannot fail: the place is valid, and Linux has known
        // RUSAGE_THREAD since 2.6.26.
        unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut used) };
        let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
        Self {
            user_ns: ns(used.ru_utime),
            system_ns: ns(used.ru_stime),
            voluntary: used.ru_nvcsw as u64,
            involuntary: used.ru_nivcsw as u64,
        }
    }
}

/// The beginning of a window of the calling thread.
pub(super) struct Start {
    read_bytes: Option<u64>,
    counters: Counters,
    wall_ns: u64,
    wall_clocks: Option<u64>,
    cpu_ns: u64,
}

impl Start {
    /// Begins a window. The clock of processor time is read last here and first at the end, so that it never counts more
    /// than the time passed.
    pub(super) fn now() -> Self {
        Self {
            read_bytes: read_bytes(Path::new("/proc/thread-self/io")),
            counters: Counters::now(),
            wall_ns: ns(ClockId::Monotonic),
            wall_clocks: tsc(),
            cpu_ns: ns(ClockId::ThreadCPUTime),
        }
    }

    /// Returns what was used since.
    pub(super) fn until_now(&self) -> Usage {
        let cpu_ns = ns(ClockId::ThreadCPUTime) - self.cpu_ns;
        let clocks = tsc();
        let wall_ns = ns(ClockId::Monotonic) - self.wall_ns;
        let (now, then) = (Counters::now(), self.counters);
        let read = read_bytes(Path::new("/proc/thread-self/io"));
        let since = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        Usage {
            wall_ns,
            wall_clocks: since(clocks, self.wall_clocks),
            cpu_ns,
            // The kernel keeps each of them from going back.
            user_ns: now.user_ns.saturating_sub(then.user_ns),
            system_ns: now.system_ns.saturating_sub(then.system_ns),
            voluntary_switches: now.voluntary - then.voluntary,
            involuntary_switches: now.involuntary - then.involuntary,
            device_read_bytes: since(read, self.read_bytes),
        }
    }
}

/// Returns the bytes that a thread has requested from drives, by its file `io` in procfs.
pub(super) fn read_bytes(io: &Path) -> Option<u64> {
    let text = crate::sysfs::text(io)?;
    let line = text.lines().find_map(|l| l.strip_prefix("read_bytes:"));
    line?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn work_is_processor_time_and_sleep_is_a_switch() {
        let start = Start::now();
        let mut sum = 0u64;
        while start.until_now().cpu_ns < 2_000_000 {
            sum = black_box(sum + 1);
        }
        crate::clock::pause(5);
        let used = start.until_now();
        assert!(used.cpu_ns >= 2_000_000 && used.cpu_ns + 4_000_000 < used.wall_ns);
        assert!(used.voluntary_switches >= 1);
    }
}
