//! The host's monotonic clock, counted from the opening of a device, pauses, and whether the processor's counter is a clock.

use crate::sysfs::text;
use fathom_base::Time;
use rustix::thread::{clock_nanosleep_absolute, nanosleep};
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::path::Path;

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

/// Returns true if the time stamp counter has one rate, whatever the processor's frequency and idle states, and is equal on
/// all processors.
pub(crate) fn counter_is_steady() -> bool {
    let processors = text(Path::new("/proc/cpuinfo"));
    let sources = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    steady(
        &processors.unwrap_or_default(),
        text(Path::new(sources)).as_deref(),
    )
}

/// See [`counter_is_steady`]: `/proc/cpuinfo` has `constant_tsc` and `nonstop_tsc`, which the kernel sets by bit 8 of EDX of
/// CPUID 0x80000007, and the kernel offers the counter as a clock source. It withdraws a counter that differs between
/// processors or deviates from another clock (mark_tsc_unstable in arch/x86/kernel/tsc.c), and leaves the flags as they are.
/// Where the sources cannot be read, the flags decide.
fn steady(cpuinfo: &str, sources: Option<&str>) -> bool {
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags"));
    let has = |flag: &str| flags.is_some_and(|line| line.split_whitespace().any(|f| f == flag));
    let offered = sources.is_none_or(|all| all.split_whitespace().any(|source| source == "tsc"));
    has("constant_tsc") && has("nonstop_tsc") && offered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_stops_or_changes_its_rate_is_not_steady() {
        let of = |flags: &str| {
            let cpuinfo = format!("processor: 0\nflags\t\t: fpu tsc {flags} sse\n");
            steady(&cpuinfo, Some("tsc kvm-clock"))
        };
        assert!(of("constant_tsc rep_good nonstop_tsc"));
        assert!(!of("constant_tsc"));
        assert!(!of("nonstop_tsc constant_tsc_known_freq"));
        assert!(!steady("constant_tsc nonstop_tsc", Some("tsc")));
        assert!(!steady("", Some("tsc")));
    }

    #[test]
    fn a_counter_that_the_kernel_withdrew_is_not_steady() {
        let cpuinfo = "flags\t\t: constant_tsc nonstop_tsc\n";
        assert!(steady(cpuinfo, Some("tsc hpet acpi_pm")));
        // What Linux 6.1 shows with `tsc=unstable`, or if the processors' counters differ.
        assert!(!steady(cpuinfo, Some("hpet acpi_pm")));
        assert!(!steady(cpuinfo, Some("hyperv_clocksource_tsc_page")));
        assert!(steady(cpuinfo, None));
    }

    #[test]
    fn a_sleep_ends_no_sooner_than_asked() {
        let clock = Clock::start();
        let until = Time(clock.now().0 + 2_000_000);
        clock.sleep(until);
        assert!(clock.now() >= until);
        clock.sleep(Time::ZERO);
    }
}
