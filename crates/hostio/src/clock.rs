//! The host's monotonic clock, counted from the opening of a device, and pauses.

use fathom_base::Time;
use rustix::thread::{clock_nanosleep_absolute, nanosleep};
use rustix::time::{ClockId, Timespec, clock_gettime};

const NS_PER_S: u64 = 1_000_000_000;

/// A clock in nanoseconds since its creation. It never goes backwards and ignores changes of the wall clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    origin_ns: u64,
}

/// Returns the kernel's monotonic clock.
pub(crate) fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // The kernel's monotonic clock counts from boot, so both parts are non-negative.
    now.tv_sec as u64 * NS_PER_S + now.tv_nsec as u64
}

impl Clock {
    /// Starts a clock at zero.
    pub(crate) fn start() -> Self {
        Self {
            origin_ns: monotonic_ns(),
        }
    }

    /// Returns the current time.
    pub(crate) fn now(self) -> Time {
        Time(monotonic_ns() - self.origin_ns)
    }

    /// Sleeps in the kernel until `until`; signals do not end the sleep early.
    pub(crate) fn sleep(self, until: Time) {
        let at = self.origin_ns.saturating_add(until.0);
        let request = Timespec {
            tv_sec: (at / NS_PER_S) as i64,
            tv_nsec: (at % NS_PER_S) as i64,
        };
        while clock_nanosleep_absolute(ClockId::Monotonic, &request) == Err(rustix::io::Errno::INTR)
        {
        }
    }
}

/// Sleeps for `ms` milliseconds, which must be below 1000. A signal may end it early.
pub(crate) fn pause(ms: u32) {
    let _woken_early_is_fine = nanosleep(&Timespec {
        tv_sec: 0,
        tv_nsec: i64::from(ms) * 1_000_000,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_ends_no_sooner_than_asked() {
        let clock = Clock::start();
        let until = Time(clock.now().0 + 2_000_000);
        clock.sleep(until);
        assert!(clock.now() >= until);
        clock.sleep(Time::ZERO);
    }
}
