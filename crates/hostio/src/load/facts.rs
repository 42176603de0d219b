//! Facts about the processor's clock.

use super::ticks::{ns, tsc};
use crate::clock::pause;
use crate::sysfs::text;
use rustix::time::ClockId;
use std::path::Path;

/// Time over which the rate is measured, in milliseconds. The ends are known to about 50 ns, so that the rate is right to a
/// few millionths.
const RATE_MS: u32 = 25;
/// Number of attempts to read both clocks at the same time.
const TRIES: usize = 16;

/// Facts about the processor's time stamp counter and the kernel's clocks.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockFacts {
    /// True if the counter runs at one rate, whatever the processor's frequency and idle states: `/proc/cpuinfo` has
    /// `constant_tsc` and `nonstop_tsc`, which the kernel sets by bit 8 of EDX of CPUID 0x80000007.
    pub invariant: bool,
    /// Rate of the counter in hertz, measured against `CLOCK_MONOTONIC_RAW`; `None` without a counter.
    pub tsc_hz: Option<f64>,
    /// The kernel's clock source, such as `tsc` or `kvm-clock`; `None` if unknown.
    pub source: Option<String>,
}

impl ClockFacts {
    /// Finds the facts. Takes 25 ms.
    pub fn measure() -> Self {
        let cpu = text(Path::new("/proc/cpuinfo")).unwrap_or_default();
        let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        Self {
            invariant: is_invariant(&cpu),
            tsc_hz: rate_hz(),
            source: text(Path::new(source)),
        }
    }

    /// Returns true if clocks can be converted to time: there is a counter, and it is invariant.
    pub fn usable(&self) -> bool {
        self.invariant && self.tsc_hz.is_some()
    }
}

fn is_invariant(cpuinfo: &str) -> bool {
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags"));
    let has = |flag: &str| flags.is_some_and(|line| line.split_whitespace().any(|f| f == flag));
    has("constant_tsc") && has("nonstop_tsc")
}

/// Returns counter and time at one instant: the attempt of several during which the least time passed.
fn both() -> Option<[u64; 2]> {
    let tries = (0..TRIES).filter_map(|_| {
        let before = ns(ClockId::MonotonicRaw);
        let clocks = tsc()?;
        let width = ns(ClockId::MonotonicRaw) - before;
        Some((width, [clocks, before + width / 2]))
    });
    tries.min_by_key(|t| t.0).map(|t| t.1)
}

fn rate_hz() -> Option<f64> {
    let [clocks, at] = both()?;
    pause(RATE_MS);
    let [later_clocks, later] = both()?;
    let passed = later.checked_sub(at).filter(|&ns| ns > 0)?;
    let counted = later_clocks.checked_sub(clocks).filter(|&n| n > 0)?;
    Some(counted as f64 * 1e9 / passed as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invariant_counter_has_both_flags() {
        let of = |flags: &str| is_invariant(&format!("processor: 0\nflags\t\t: fpu {flags} sse\n"));
        assert!(of("constant_tsc rep_good nonstop_tsc"));
        assert!(!of("constant_tsc"));
        assert!(!of("nonstop_tsc constant_tsc_known_freq"));
        assert!(!is_invariant("constant_tsc nonstop_tsc"));
    }

    #[test]
    fn two_measurements_of_an_invariant_counter_agree() {
        let facts = ClockFacts::measure();
        if !facts.usable() {
            println!("skipped: no invariant time stamp counter");
            return;
        }
        let (one, two) = (facts.tsc_hz.unwrap(), rate_hz().unwrap());
        assert!((one / two - 1.0).abs() < 1e-3, "{one} {two}");
    }
}
