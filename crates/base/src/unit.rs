//! Time, lengths and rates, each with its unit in the type.
//!
//! Time is measured in whole nanoseconds.

mod text;

pub use text::UnitError;

use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign, Mul, Sub};

/// An instant: nanoseconds since the device's start.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Time(pub u64);

/// A duration in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dur(pub u64);

/// A length in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A bandwidth in bytes per second; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

/// A clock rate in hertz; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frequency(u64);

impl Time {
    /// The start of time.
    pub const ZERO: Time = Time(0);
    /// The largest time; stands for never.
    pub const MAX: Time = Time(u64::MAX);
    /// The end of simulated time: 500 years of 365.25 days after the start. Models refuse anything that would end later,
    /// so that no sum of times that they report reaches [`Time::MAX`].
    pub const END: Time = Time(500 * 36_525 * 864 * 1_000_000_000);

    /// Returns the time passed since an earlier instant; zero if `earlier` is later.
    #[inline]
    pub fn since(self, earlier: Time) -> Dur {
        Dur(self.0.saturating_sub(earlier.0))
    }
}

impl Dur {
    /// The zero duration.
    pub const ZERO: Dur = Dur(0);

    /// Converts from microseconds.
    pub const fn us(us: u64) -> Dur {
        Dur(us * 1_000)
    }

    /// Converts from milliseconds.
    pub const fn ms(ms: u64) -> Dur {
        Dur(ms * 1_000_000)
    }

    /// Converts to seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-9
    }
}

impl Bytes {
    /// Converts from kibibytes.
    pub const fn kib(n: u64) -> Bytes {
        Bytes(n << 10)
    }

    /// Converts from mebibytes.
    pub const fn mib(n: u64) -> Bytes {
        Bytes(n << 20)
    }

    /// Converts from gibibytes.
    pub const fn gib(n: u64) -> Bytes {
        Bytes(n << 30)
    }

    /// Formats the size for people: `16 KiB`, `1.5 MiB`, `1025 KiB`, `55.89 GiB`. Exact if two decimals or the next
    /// smaller unit (below 10,000) suffice, otherwise rounded. Not meant to be parsed; `Display` is exact and can be
    /// parsed.
    pub fn human(self) -> String {
        let bytes = self.0;
        let power = (63 - bytes.max(1).leading_zeros()) as usize / 10;
        let scale = 1u64 << (10 * power);
        // Hundredths are exact if `scale` divides 100 * bytes; computed in 128 bits, since sizes reach 2^64.
        let exact = (u128::from(bytes) * 100).is_multiple_of(u128::from(scale));
        if !exact && power > 0 {
            let below = scale >> 10;
            if bytes.is_multiple_of(below) && bytes / below < 10_000 {
                return format!("{} {}", bytes / below, BINARY[power - 1]);
            }
        }
        let number = format!("{:.2}", bytes as f64 / scale as f64);
        let number = number.trim_end_matches('0').trim_end_matches('.');
        format!("{number} {}", BINARY[power])
    }
}

/// Names of the units 2^(10 n).
const BINARY: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

impl Rate {
    /// Converts from bytes per second; `None` for zero.
    pub const fn new(bytes_per_second: u64) -> Option<Rate> {
        if bytes_per_second == 0 {
            None
        } else {
            Some(Rate(bytes_per_second))
        }
    }

    /// Returns the rate in bytes per second.
    #[inline]
    pub const fn bytes_per_second(self) -> u64 {
        self.0
    }
}

impl Frequency {
    /// Converts from hertz; `None` for zero.
    pub const fn new(hertz: u64) -> Option<Frequency> {
        if hertz == 0 {
            None
        } else {
            Some(Frequency(hertz))
        }
    }

    /// Returns the frequency in hertz.
    #[inline]
    pub const fn hertz(self) -> u64 {
        self.0
    }

    /// Returns the time that a number of clocks takes, rounded to the next nanosecond.
    #[inline]
    pub fn time_of(self, clocks: u64) -> Dur {
        let ns = (u128::from(clocks) * 1_000_000_000 + u128::from(self.0 / 2)) / u128::from(self.0);
        Dur(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    /// Returns the number of clocks in a time, rounded down.
    pub fn clocks_in(self, time: Dur) -> u64 {
        let clocks = u128::from(time.0) * u128::from(self.0) / 1_000_000_000;
        u64::try_from(clocks).unwrap_or(u64::MAX)
    }
}

impl Add<Dur> for Time {
    type Output = Time;
    #[inline]
    fn add(self, d: Dur) -> Time {
        Time(self.0.saturating_add(d.0))
    }
}
impl AddAssign<Dur> for Time {
    fn add_assign(&mut self, d: Dur) {
        *self = *self + d;
    }
}
impl Add for Dur {
    type Output = Dur;
    #[inline]
    fn add(self, d: Dur) -> Dur {
        Dur(self.0.saturating_add(d.0))
    }
}
impl AddAssign for Dur {
    fn add_assign(&mut self, d: Dur) {
        *self = *self + d;
    }
}
impl Sub for Dur {
    type Output = Dur;
    fn sub(self, d: Dur) -> Dur {
        Dur(self.0.saturating_sub(d.0))
    }
}
impl Mul<u64> for Dur {
    type Output = Dur;
    fn mul(self, n: u64) -> Dur {
        Dur(self.0.saturating_mul(n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_rate_converts_clocks_and_times() {
        let clock: Frequency = "2.93GHz".parse().unwrap();
        assert_eq!(clock.to_string(), "2930MHz");
        // 924 clocks are 315.36 ns.
        assert_eq!(clock.time_of(924), Dur(315));
        assert_eq!(clock.clocks_in(Dur::us(10)), 29_300);
        assert_eq!(clock.time_of(u64::MAX), Dur(6_295_817_090_003_259_937));
        assert!("0GHz".parse::<Frequency>().is_err());
        let said = "3".parse::<Frequency>().unwrap_err().to_string();
        assert_eq!(said, "`3` has no unit: give one, such as 3GHz or 3MHz");
    }

    #[test]
    fn sizes_for_people_are_exact_where_they_can_be() {
        let cases = [
            (0, "0 B"),
            (512, "512 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (16 << 10, "16 KiB"),
            (255 << 10, "255 KiB"),
            (1025 << 10, "1025 KiB"),
            (3 << 19, "1.5 MiB"),
            (60_022_480_896, "55.9 GiB"),
            (u64::MAX, "16 EiB"),
        ];
        for (size, text) in cases {
            assert_eq!(Bytes(size).human(), text);
        }
    }
}
