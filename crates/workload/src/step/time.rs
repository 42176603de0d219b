//! Steps that change the times of accesses.

use super::work::{Problem, Verdict, Work};
use fathom_base::{BadValue, Dur, Time, keys, want};
use fathom_block::Access;

keys! {
    /// Multiplies every time by a factor: 0.5 plays a trace at twice its speed.
    #[derive(Copy)]
    #[serde(deny_unknown_fields)]
    pub struct ScaleTime {
        /// The factor: finite and not negative; 0 sets every time to the start. Times are rounded to the nearest
        /// nanosecond, and are exact below 2^53 ns (104 days).
        pub factor: f64,
    }
}

keys! {
    /// Keeps the accesses with times in `[from, until)`, and moves time zero to `from`.
    ///
    /// Accesses outside the window are dropped and counted. An access after the window does not end the workload,
    /// because traces are not always sorted by time.
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    pub struct TimeWindow {
        /// Start of the window, from the first access of the workload.
        #[serde(default)]
        pub from: Dur,
        /// End of the window; must be later than `from`.
        pub until: Dur,
    }
}

impl Work for ScaleTime {
    fn check(&self) -> Result<(), BadValue> {
        let usable = self.factor.is_finite() && self.factor >= 0.0;
        want(usable, "factor", self.factor, || {
            "must be a finite number of at least 0".into()
        })
    }

    fn shape(&mut self, mut access: Access) -> Verdict {
        let scaled = access.at.0 as f64 * self.factor;
        // 2^64 ns is the first time that cannot be represented.
        if scaled >= 18_446_744_073_709_551_616.0 {
            return Err(Problem::TooLate);
        }
        access.at = Time(scaled.round() as u64);
        Ok(Some(access))
    }
}

impl Work for TimeWindow {
    fn check(&self) -> Result<(), BadValue> {
        want(self.from < self.until, "until", self.until, || {
            "must be later than `from`, or the window is empty".into()
        })
    }

    fn shape(&mut self, mut access: Access) -> Verdict {
        if !(self.from.0..self.until.0).contains(&access.at.0) {
            return Ok(None);
        }
        access.at = Time(access.at.0 - self.from.0);
        Ok(Some(access))
    }
}
