//! Facts about the processor's clock.

use super::ticks::{ns, tsc};
use crate::clock::{counter_is_steady, pause};
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
    /// True if the counter runs at one rate, whatever the processor's frequency and idle states, and is equal on all
    /// processors, by the flags of the processor (`constant_tsc`, `nonstop_tsc`) and the kernel's clock sources.
    pub invariant: bool,
    /// Rate of the counter in hertz, measured against `CLOCK_MONOTONIC_RAW`; `None` without a counter.
    pub tsc_hz: Option<f64>,
    /// The kernel's clock source, such as `tsc` or `kvm-clock`; `None` if unknown.
    pub source: Option<String>,
}

impl ClockFacts {
    /// Finds the facts. Takes 25 ms.
    pub fn measure() -> Self {
        let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        Self {
            invariant: counter_is_steady(),
            tsc_hz: rate_hz(),
            source: text(Path::new(source)),
        }
    }

    /// Returns true if clocks can be converted to time: there is a counter, and it is invariant.
    pub fn usable(&self) -> bool {
        self.invariant && self.tsc_hz.is_some()
    }
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
