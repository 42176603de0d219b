//! The clock of the recorded events, which the measured program can read as well.

use crate::clock::monotonic_ns;
use crate::tracing::Instance;

/// A clock of the kernel's tracing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceClock {
    /// The time stamp counter of the processor (`x86-tsc`), in its clocks.
    Tsc,
    /// The kernel's monotonic clock (`mono`), in nanoseconds.
    Monotonic,
}

impl TraceClock {
    /// Returns the clock of an instance: the time stamp counter where it is asked for and can be used.
    pub(super) fn of(clocks: bool, instance: &Instance) -> Self {
        match clocks && instance.has_clock(Self::Tsc.name()) && counter_is_steady() {
            true => Self::Tsc,
            false => Self::Monotonic,
        }
    }

    /// Returns the kernel's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tsc => "x86-tsc",
            Self::Monotonic => "mono",
        }
    }

    /// Returns the time now.
    #[inline]
    pub fn now(self) -> u64 {
        match self {
            Self::Tsc => counter(),
            Self::Monotonic => monotonic_ns(),
        }
    }
}

/// Returns true if the time stamp counter has the same rate at any frequency of the processor, and does not stop. The kernel
/// then also keeps the counters of all processors equal, or does not use them.
fn counter_is_steady() -> bool {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    steady_in(&text)
}

fn steady_in(cpuinfo: &str) -> bool {
    let mut flags = cpuinfo.lines().filter(|line| line.starts_with("flags"));
    flags.next().is_some_and(|line| {
        let has = |name| line.split_whitespace().any(|flag| flag == name);
        has("constant_tsc") && has("nonstop_tsc")
    })
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[expect(unsafe_code, reason = "reads the time stamp counter")]
fn counter() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, which reads no memory. The fence is part of SSE2, which all have;
    // it keeps the instruction from being executed before those ahead of it, as in the kernel's `rdtsc_ordered`.
    unsafe {
        std::arch::x86_64::_mm_lfence();
        std::arch::x86_64::_rdtsc()
    }
}

/// No instance has the clock `x86-tsc` here.
#[cfg(not(target_arch = "x86_64"))]
fn counter() -> u64 {
    monotonic_ns()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_stops_or_changes_its_rate_is_not_used() {
        let with = |flags| steady_in(&format!("processor\t: 0\nflags\t\t: fpu tsc {flags} sse\n"));
        assert!(with("constant_tsc nonstop_tsc"));
        assert!(!with("constant_tsc"));
        assert!(!with("nonstop_tsc"));
        assert!(!steady_in(""));
    }

    #[test]
    fn clocks_do_not_go_back() {
        for clock in [TraceClock::Tsc, TraceClock::Monotonic] {
            let before = clock.now();
            assert!(clock.now() >= before);
        }
    }
}
