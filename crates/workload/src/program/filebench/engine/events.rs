//! The event generator: events arrive at a constant rate and are kept until an operation takes them.

use fathom_base::Time;

const NS: u128 = 1_000_000_000;

/// Seconds of events that are kept at most.
const DEPTH_SECONDS: u64 = 5;

/// The events.
#[derive(Clone, Debug)]
pub(super) struct Events {
    rate: u64,
    /// Events that have arrived, and those that are kept.
    arrived: u64,
    kept: u64,
}

impl Events {
    pub(super) fn new(rate: u64) -> Self {
        Self {
            rate,
            arrived: 0,
            kept: 0,
        }
    }

    /// Whether limits apply.
    pub(super) fn enabled(&self) -> bool {
        self.rate > 0
    }

    /// Takes events. If there are too few, returns the time at which there will be enough.
    pub(super) fn take(&mut self, count: u64, now: Time) -> Result<(), Time> {
        let rate = u128::from(self.rate.max(1));
        let arrived = (rate * u128::from(now.0) / NS) as u64;
        if self.kept < DEPTH_SECONDS * self.rate {
            self.kept += arrived - self.arrived;
        }
        self.arrived = arrived;
        if self.kept >= count {
            self.kept -= count;
            return Ok(());
        }
        let until = u128::from(self.arrived) + u128::from(count - self.kept);
        let at = (until * NS).div_ceil(rate).min(u128::from(u64::MAX - 1));
        Err(Time(at as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_arrive_at_their_rate_and_five_seconds_are_kept() {
        let second = 1_000_000_000;
        let mut events = Events::new(10);
        assert_eq!(events.take(1, Time(0)), Err(Time(second / 10)));
        assert_eq!(events.take(1, Time(second / 10)), Ok(()));
        assert_eq!(events.take(3, Time(second / 5)), Err(Time(2 * second / 5)));
        // Those of 0.2 s to 4 s are kept, then those of 4 s to 8 s; nothing is added to more than 50.
        assert_eq!(events.take(0, Time(4 * second)), Ok(()));
        assert_eq!(events.take(0, Time(8 * second)), Ok(()));
        assert_eq!(events.take(0, Time(100 * second)), Ok(()));
        assert!(events.take(80, Time(100 * second)).is_err());
        assert_eq!(events.take(79, Time(100 * second)), Ok(()));
    }
}
