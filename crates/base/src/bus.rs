//! Bus timing with picosecond resolution.
//!
//! At 4800 MT/s the transfer time of a sector is not a whole number of nanoseconds; rounding each transfer would make the
//! bus too slow. A bus counts nanoseconds plus a picosecond remainder, so that it covers the same range as [`Time`].

use crate::unit::{Dur, Rate, Time};

/// Picoseconds in a nanosecond.
const PS: u64 = 1_000;

/// A duration, or an instant since the start: nanoseconds plus a remainder below 1000 picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Exact {
    ns: u64,
    ps: u32,
}

impl Exact {
    /// Converts from picoseconds.
    #[inline]
    fn from_ps(ps: u64) -> Exact {
        Exact {
            ns: ps / PS,
            ps: (ps % PS) as u32,
        }
    }

    /// Converts from any number of picoseconds; saturates at `u64::MAX` nanoseconds.
    fn from_wide_ps(ps: u128) -> Exact {
        Exact {
            ns: u64::try_from(ps / u128::from(PS)).unwrap_or(u64::MAX),
            ps: (ps % u128::from(PS)) as u32,
        }
    }

    /// Converts to picoseconds.
    pub fn as_ps(self) -> u128 {
        u128::from(self.ns) * u128::from(PS) + u128::from(self.ps)
    }

    /// Returns the instant, rounded up to a whole nanosecond.
    #[inline]
    pub fn ceil(self) -> Time {
        Time(self.ns.saturating_add(u64::from(self.ps > 0)))
    }

    /// Returns the duration, rounded up to whole nanoseconds.
    #[inline]
    fn as_dur(self) -> Dur {
        Dur(self.ceil().0)
    }
}

impl Rate {
    /// Returns the duration of a transfer in nanoseconds, rounded up.
    #[inline]
    pub fn transfer(self, bytes: u64) -> Dur {
        self.transfer_exact(bytes).as_dur()
    }

    /// Returns the duration of a transfer in picoseconds, rounded up. For a [`Bus`], where whole nanoseconds would add up
    /// to a wrong rate.
    #[inline]
    pub fn transfer_exact(self, bytes: u64) -> Exact {
        if let Some(scaled) = bytes.checked_mul(1_000_000_000_000) {
            return Exact::from_ps(scaled.div_ceil(self.bytes_per_second()));
        }
        let scaled = u128::from(bytes) * 1_000_000_000_000;
        Exact::from_wide_ps(scaled.div_ceil(u128::from(self.bytes_per_second())))
    }
}

/// A bus that carries one transfer at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bus {
    free: Exact,
}

impl Bus {
    /// Returns the time from which the bus is free.
    #[inline]
    pub fn free_at(&self) -> Exact {
        self.free
    }

    /// Books the bus for a transfer of `length`, from `now` on or from when it is free. Returns the start and the end of
    /// the transfer.
    #[inline]
    pub fn book(&mut self, now: Time, length: Exact) -> (Exact, Exact) {
        let begin = if self.free.ns >= now.0 {
            self.free
        } else {
            Exact { ns: now.0, ps: 0 }
        };
        let ps = begin.ps + length.ps;
        let carry = u32::from(ps >= PS as u32);
        let ns = begin.ns.saturating_add(length.ns);
        self.free = Exact {
            ns: ns.saturating_add(u64::from(carry)),
            ps: ps - carry * PS as u32,
        };
        (begin, self.free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn a_bus_that_is_never_free_keeps_its_exact_rate_at_any_time() {
        for start in [0, 1, 18_446_745_000_000_000, 15_000_000_000_000_000_000] {
            let (mut bus, mut rng, mut sum) = (Bus::default(), Rng::new(start, 0), 0);
            for n in 0..1000 {
                let length = Exact::from_ps(rng.below(5_000_000));
                let (begin, end) = bus.book(Time(start), length);
                assert_eq!(begin.as_ps(), u128::from(start) * 1000 + sum, "{n}");
                sum += length.as_ps();
                assert_eq!(end.as_ps(), u128::from(start) * 1000 + sum, "{n}");
                assert_eq!(u128::from(end.ceil().0), end.as_ps().div_ceil(1000));
            }
            // After an idle period a transfer starts at `now`, without a picosecond remainder.
            let later = Time(start + 1_000_000_000_000);
            let (begin, _) = bus.book(later, Exact::from_ps(1));
            assert_eq!((begin.ceil(), begin.as_ps() % 1000), (later, 0));
        }
    }

    #[test]
    fn what_lies_beyond_the_last_nanosecond_is_the_last_one() {
        let mut bus = Bus::default();
        let (_, end) = bus.book(Time(u64::MAX - 1), Exact::from_wide_ps(1 << 100));
        assert_eq!(end.ceil(), Time::MAX);
        assert_eq!(bus.book(Time::MAX, Exact::from_ps(999)).1.ceil(), Time::MAX);
    }

    #[test]
    fn a_transfer_is_rounded_up_once() {
        let rate = "1200MT/s".parse::<Rate>().unwrap();
        assert_eq!(rate.transfer(4096), Dur(3414)); // 3413.33 ns
        assert_eq!(rate.transfer_exact(4096).as_ps(), 3_413_334);
        // More than fits into 64 bits of picoseconds.
        let slow = "1B/s".parse::<Rate>().unwrap();
        assert_eq!(slow.transfer(32 << 20), Dur((32 << 20) * 1_000_000_000));
        assert_eq!(slow.transfer(u64::MAX), Dur(u64::MAX));
    }
}
