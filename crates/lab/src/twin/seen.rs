//! What a record and its profile say, looked up by parameter and series.

use super::series;
use fathom_probe::{Parameter, Profile, Record, Sample, Series, Value, Verdict};
use fathom_stats::location;
use std::collections::BTreeMap;

/// How many times as long random overwrites of a nearly empty drive take as those in order if blocks may be merged: page mapping
/// takes as long for both. The same over a fill: what overwrites in order is slow as well where the layer does not see their order.
const MAY_MERGE: f64 = 1.6;
const MAY_MERGE_FILL: f64 = 3.0;
/// The same if nothing but merges makes them so slow.
const MERGES: f64 = 6.0;
const MERGES_FILL: f64 = 8.0;

/// A record, indexed, beside its profile.
pub(super) struct Seen<'a> {
    pub(super) record: &'a Record,
    pub(super) profile: &'a Profile,
    samples: BTreeMap<(Parameter, Series), Vec<&'a Sample>>,
}

/// Reads faster than this share of the slower ones are answered by memory or by a fast cache.
const NATIVE: f64 = 0.75;

/// Leaves out the reads that a fast cache answered.
pub(super) fn keep_native(times: &mut Vec<f64>) {
    let least = NATIVE * location::quantile(times, 0.8).unwrap_or(0.0);
    times.retain(|ns| *ns >= least);
}

impl<'a> Seen<'a> {
    pub(super) fn new(record: &'a Record, profile: &'a Profile) -> Self {
        let mut samples = BTreeMap::<_, Vec<_>>::new();
        for sample in &record.samples {
            let of = samples.entry((sample.parameter, sample.series));
            of.or_default().push(sample);
        }
        Self {
            record,
            profile,
            samples,
        }
    }

    /// Returns the samples of a series, in the order in which they were taken.
    pub(super) fn series(&self, parameter: Parameter, series: Series) -> &[&'a Sample] {
        self.samples
            .get(&(parameter, series))
            .map_or(&[], Vec::as_slice)
    }

    /// Returns the times of a series at `x`, or at any, in nanoseconds.
    pub(super) fn times(&self, parameter: Parameter, series: Series, x: Option<u64>) -> Vec<f64> {
        let samples = self.series(parameter, series).iter();
        samples
            .filter(|sample| x.is_none_or(|x| sample.x == x))
            .map(|sample| sample.ns as f64)
            .collect()
    }

    pub(super) fn median(&self, parameter: Parameter, series: Series) -> Option<f64> {
        location::median(&self.times(parameter, series, None))
    }

    /// Returns the median of reads of the native flash: where a fast cache answers some of them, of the others.
    pub(super) fn median_native(&self, parameter: Parameter, series: Series) -> Option<f64> {
        let mut times = self.times(parameter, series, None);
        if self.value(Parameter::FastCache).is_some() {
            keep_native(&mut times);
        }
        location::median(&times)
    }

    /// Returns the value of an identified parameter.
    pub(super) fn value(&self, parameter: Parameter) -> Option<&'a Value> {
        let answer = self.profile.parameters.get(&parameter)?;
        let identified = answer.verdict == Verdict::Identified;
        answer.value.as_ref().filter(|_| identified)
    }

    /// Returns the bytes of an identified parameter.
    pub(super) fn bytes(&self, parameter: Parameter) -> Option<u64> {
        self.value(parameter)?.bytes()
    }

    /// Returns the number of an identified parameter, in the unit of its value.
    pub(super) fn number(&self, parameter: Parameter) -> Option<f64> {
        self.value(parameter)?.number()
    }

    /// Returns both ends of the interval of an identified parameter.
    pub(super) fn interval(&self, parameter: Parameter) -> Option<[f64; 2]> {
        self.value(parameter)?;
        let (low, high) = self.profile.parameters.get(&parameter)?.interval()?;
        Some([low.number()?, high.number()?])
    }

    /// Returns a figure of the evidence of an answer, whatever its verdict.
    pub(super) fn figure(&self, parameter: Parameter, name: &str) -> Option<f64> {
        let answer = self.profile.parameters.get(&parameter)?;
        answer.evidence.figures.get(name).copied()
    }

    /// Returns true if the drive merges blocks: writes show their size, or random overwrites are many times as slow as those in
    /// order, or as a fill, although nothing is collected.
    pub(super) fn merges(&self) -> bool {
        self.value(Parameter::ClusteredBlock).is_some() || self.slower(MERGES, MERGES_FILL)
    }

    /// Returns true if the drive merges blocks or may do so: random overwrites are slower than those in order, or than a fill.
    pub(super) fn may_merge(&self) -> bool {
        let used_up = !self.is_absent(Parameter::FastCache);
        let fill = if used_up { MERGES_FILL } else { MAY_MERGE_FILL };
        self.merges() || self.slower(MAY_MERGE, fill)
    }

    /// Returns true if random overwrites of a nearly empty drive take more than so many times as long as those in order, or as a
    /// fill, and neither a map in flash, nor a fast cache, nor a limit makes them so slow.
    fn slower(&self, than_ordered: f64, than_fill: f64) -> bool {
        let of = |series| {
            let samples = self.series(Parameter::OverProvisioning, series).iter();
            let times: Vec<f64> = samples
                .map(|sample| sample.ns as f64 / sample.bytes.max(1) as f64)
                .collect();
            location::median(&times)
        };
        let other = [
            Parameter::MapReach,
            Parameter::FastCache,
            Parameter::RateLimit,
            Parameter::BandwidthLimit,
        ];
        if other.iter().any(|of| self.value(*of).is_some()) {
            return false;
        }
        of(series::SPARSE).is_some_and(|random| {
            of(series::IN_ORDER).is_some_and(|order| random > than_ordered * order)
                || self
                    .fill()
                    .is_some_and(|fill| random > than_fill * 1e9 / fill)
        })
    }

    /// Returns true if every write waits for the flash: there is no memory that takes it.
    pub(super) fn waits_for_programs(&self) -> bool {
        self.is_absent(Parameter::WriteBuffer) && self.is_absent(Parameter::Flush)
    }

    /// Returns the rate at which an empty drive is filled in order, in bytes per second.
    pub(super) fn fill(&self) -> Option<f64> {
        let samples = self.series(Parameter::FastCache, series::EMPTY).iter();
        let rates: Vec<f64> = samples
            .map(|sample| sample.bytes as f64 / sample.ns.max(1) as f64 * 1e9)
            .collect();
        location::median(&rates)
    }

    pub(super) fn is_absent(&self, parameter: Parameter) -> bool {
        let answer = self.profile.parameters.get(&parameter);
        answer.is_some_and(|answer| answer.verdict == Verdict::Absent)
    }

    /// Says why a parameter has no value, for a list of what is assumed.
    pub(super) fn why_not(&self, parameter: Parameter) -> String {
        let title = parameter.title();
        match self.profile.parameters.get(&parameter) {
            Some(answer) => format!("{title}: {}", answer.verdict.words()),
            None => match self.profile.skipped.get(&parameter) {
                Some(_) => format!("{title}: skipped"),
                None => format!("{title}: not measured"),
            },
        }
    }
}

/// Returns the robust standard deviation of times: the median absolute deviation over that of a normal distribution.
pub(super) fn deviation(times: &[f64]) -> Option<f64> {
    Some(location::mad(times)? / 0.6745)
}

#[cfg(test)]
mod tests {
    use super::keep_native;

    #[test]
    fn reads_that_a_fast_cache_answers_are_left_out() {
        // Three of four reads take 45 us, and the flash takes 98 us.
        let mut times: Vec<f64> = [vec![45e3; 75], vec![98e3; 25]].concat();
        keep_native(&mut times);
        assert_eq!(times, vec![98e3; 25]);
        let mut noisy: Vec<f64> = (0..100).map(|n| 90e3 + 200.0 * f64::from(n)).collect();
        keep_native(&mut noisy);
        assert_eq!(noisy.len(), 100);
    }
}
