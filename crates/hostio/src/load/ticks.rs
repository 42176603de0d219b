//! The clock of a load: the processor's time stamp counter, or the kernel's monotonic clock.

#![allow(unsafe_code)] // Reads the time stamp counter.

use rustix::time::{ClockId, clock_gettime};

/// Returns the time of a clock of the kernel in nanoseconds. Clocks that count from boot, or from the start of a thread, are
/// never negative.
#[inline]
pub(super) fn ns(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Returns the time stamp counter, in clocks, read after all earlier instructions are done, as the kernel reads it for its
/// trace clock (`rdtsc_ordered`). `None` on other processors.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn tsc() -> Option<u64> {
    use core::arch::x86_64::{_mm_lfence, _rdtsc};
    // SAFETY: every x86-64 processor has both instructions, and neither touches memory of ours. A system that forbids
    // RDTSC (prctl PR_SET_TSC) ends the process by a signal, as it does wherever the C library reads the clock.
    Some(unsafe {
        _mm_lfence();
        _rdtsc()
    })
}

/// Returns `None`: the counter is that of x86-64.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(super) fn tsc() -> Option<u64> {
    None
}

/// A clock that a loop reads several times for each I/O.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticks {
    tsc: bool,
    /// Length of a tick, in nanoseconds.
    pub(super) tick_ns: f64,
}

impl Ticks {
    /// Returns the time stamp counter if its rate is given, else the monotonic clock.
    pub(super) fn new(tsc_hz: Option<f64>) -> Self {
        Self {
            tsc: tsc_hz.is_some(),
            tick_ns: tsc_hz.map_or(1.0, |hz| 1e9 / hz),
        }
    }

    /// Returns true if a tick is a clock of the processor.
    pub(super) fn is_tsc(self) -> bool {
        self.tsc
    }

    /// Returns the time in ticks.
    #[inline]
    pub(super) fn now(self) -> u64 {
        match self.tsc {
            true => tsc().unwrap_or_default(),
            false => ns(ClockId::Monotonic),
        }
    }

    /// Returns the time `ns` nanoseconds after `from`.
    pub(super) fn after(self, from: u64, ns: u64) -> u64 {
        from.saturating_add((ns as f64 / self.tick_ns) as u64)
    }
}
