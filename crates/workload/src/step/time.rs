//! Steps that change when accesses are asked for.

use super::work::{Problem, Settings, Verdict, Work};
use fathom_base::{BadValue, Dur, Time, keys, want};
use fathom_block::Access;

keys! {
    /// Multiplies every time by a factor: 0.5 plays a trace at twice its speed.
    #[derive(Copy)]
    #[serde(deny_unknown_fields)]
    pub struct ScaleTime {
        /// Finite, and not negative; 0 puts everything at the start. Times are rounded to the nearest nanosecond, and
        /// exact below 2^53 ns (104 days).
        pub factor: f64,
    }
}

keys! {
    /// Keeps what is asked for in `[from, until)`, and moves the start of time to `from`.
    ///
    /// Traces are not always in order of time, so that an access after the window does not end the workload; what
    /// lies outside is dropped and counted.
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    pub struct TimeWindow {
        /// Its start, since the first access of the workload.
        #[serde(default)]
        pub from: Dur,
        /// Its end, later than `from`.
        pub until: Dur,
    }
}

impl Work for ScaleTime {
    fn shape(&mut self, mut access: Access) -> Verdict {
        let scaled = access.at.0 as f64 * self.factor;
        // 2^64, the first time that cannot be told.
        if scaled >= 18_446_744_073_709_551_616.0 {
            return Err(Problem::TooLate);
        }
        access.at = Time(scaled.round() as u64);
        Ok(Some(access))
    }
}

impl Work for TimeWindow {
    fn shape(&mut self, mut access: Access) -> Verdict {
        if !(self.from.0..self.until.0).contains(&access.at.0) {
            return Ok(None);
        }
        access.at = Time(access.at.0 - self.from.0);
        Ok(Some(access))
    }
}

impl Settings for ScaleTime {
    fn check(&self) -> Result<(), BadValue> {
        let usable = self.factor.is_finite() && self.factor >= 0.0;
        want(usable, "factor", self.factor, || {
            "must be a finite number of at least 0".into()
        })
    }
    fn work(&self) -> Box<dyn Work> {
        Box::new(*self)
    }
}

impl Settings for TimeWindow {
    fn check(&self) -> Result<(), BadValue> {
        want(self.from < self.until, "until", self.until, || {
            "must be later than `from`, or the window is empty".into()
        })
    }
    fn work(&self) -> Box<dyn Work> {
        Box::new(*self)
    }
}
