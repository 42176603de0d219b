//! The clock of the recorded events, which the measured program can read as well.

use crate::clock::{counter_is_steady, monotonic_ns};
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
    fn clocks_do_not_go_back() {
        for clock in [TraceClock::Tsc, TraceClock::Monotonic] {
            let before = clock.now();
            assert!(clock.now() >= before);
        }
    }
}
