//! Whether a drive was hot or slow while a parameter was measured.
//!
//! *Hot* is what the drive's own log says: a temperature from which on it warns, its warning itself, or a counter of heat
//! that has grown meanwhile (NVMe base specification 2.0, Figure 207). *Slow* is what the reference says that is taken before
//! and after each parameter: the typical read or write takes longer than at the beginning of the run, by more than
//! [`MARGIN`] with a confidence of 99.9 % (Hodges and Lehmann). A drive that has become full or has left its fast cache is
//! slow in this sense, too.
//!
//! This module only reads the record.

use crate::record::{Marks, Record, Reference};
use crate::{Parameter, Step};
use fathom_block::DriveLog;
use fathom_stats::location::quantile;
use fathom_stats::separate::separate;

/// By how much a reference may be slower than the first, as a share of its time.
pub const MARGIN: f64 = 0.25;
/// The confidence that it is slower by more: some twenty references are compared in a run.
const CONFIDENCE: f64 = 0.999;
/// The bit of the critical warnings for the temperature (NVMe base specification 2.0, Figure 207, byte 0).
const TOO_HOT: u8 = 1 << 1;
/// The other critical warnings, in words.
const WARNINGS: [(u8, &str); 4] = [
    (1 << 0, "its spare blocks are nearly used up"),
    (1 << 2, "its reliability is degraded"),
    (1 << 3, "it accepts no more writes"),
    (
        1 << 4,
        "the backup of its memory for a power failure has failed",
    ),
];

/// The state of a drive during one parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Condition {
    /// What was wrong.
    pub marks: Marks,
    /// The highest temperature that the log showed, in degrees Celsius.
    pub celsius: Option<i16>,
    /// The temperature from which on the drive warns, in degrees Celsius.
    pub warning_celsius: Option<i16>,
    /// How often the drive began to slow down because of its temperature, by its log.
    pub throttles: u32,
    /// The time of a read of the reference over that at the beginning, where it is out of the margin.
    pub reads_ratio: Option<f64>,
    /// The same for writes.
    pub writes_ratio: Option<f64>,
}

impl Condition {
    /// Returns the state during a parameter.
    pub fn of(record: &Record, parameter: Parameter) -> Self {
        let of = |step: &&Step| step.parameter == parameter;
        let stored = record.steps.iter().filter(of);
        let stored = stored.fold(Marks::default(), |marks, step| marks.with(step.marks));
        let logs = logs(record, parameter);
        let (reads_ratio, writes_ratio) = slower(&record.meta.references, parameter);
        let throttled = grown(&logs, |log| log.throttles);
        let hot =
            logs.iter().any(is_hot) || throttled > 0 || grown(&logs, |log| log.hot_minutes) > 0;
        let slow = reads_ratio.is_some() || writes_ratio.is_some();
        Self {
            marks: stored.with(Marks { hot, slow }),
            celsius: logs.iter().filter_map(|log| log.temperature_celsius).max(),
            warning_celsius: logs.iter().find_map(|log| log.warning_celsius),
            throttles: throttled,
            reads_ratio,
            writes_ratio,
        }
    }

    /// Returns what was wrong, with its figures, in half a sentence: `measured while the drive was ...`. `None` if nothing was.
    pub fn said(&self) -> Option<String> {
        let hot = self.marks.hot.then(|| with("hot", &self.heat()));
        let slow = self.marks.slow.then(|| with("slow", &self.slowness()));
        let all: Vec<String> = hot.into_iter().chain(slow).collect();
        (!all.is_empty()).then(|| format!("measured while the drive was {}", all.join(" and ")))
    }

    fn heat(&self) -> Vec<String> {
        let up_to = self.celsius.map(|celsius| format!("up to {celsius} °C"));
        let warns = self
            .warning_celsius
            .map(|from| format!("it warns from {from} °C on"));
        let throttled = (self.throttles > 0).then(|| match self.throttles {
            1 => "it slowed itself down once".to_owned(),
            times => format!("it slowed itself down {times} times"),
        });
        [up_to, warns, throttled].into_iter().flatten().collect()
    }

    fn slowness(&self) -> Vec<String> {
        let times =
            |what: &str, ratio: Option<f64>| ratio.map(|ratio| format!("{what} {ratio:.1}"));
        let all = [
            times("reads took", self.reads_ratio),
            times("writes took", self.writes_ratio),
        ];
        let all: Vec<String> = all.into_iter().flatten().collect();
        match all.is_empty() {
            true => all,
            false => vec![format!(
                "{} times as long as at the beginning",
                all.join(" and ")
            )],
        }
    }
}

fn with(word: &str, figures: &[String]) -> String {
    match figures.is_empty() {
        true => word.to_owned(),
        false => format!("{word} ({})", figures.join(", ")),
    }
}

/// Returns the quartiles of the times of a reference, in nanoseconds; `None` without a time.
pub fn quartiles(times: &[u64]) -> Option<[f64; 3]> {
    let numbers = numbers(times);
    let [low, middle, high] = [0.25, 0.5, 0.75].map(|share| quantile(&numbers, share));
    Some([low?, middle?, high?])
}

fn numbers(times: &[u64]) -> Vec<f64> {
    times.iter().map(|&ns| ns as f64).collect()
}

/// Returns what the drive warns of apart from its temperature, in words, by the last log of the run.
pub fn warnings(record: &Record) -> Vec<&'static str> {
    let logs = record.steps.iter().flat_map(|step| &step.logs);
    let bits = record.meta.log.iter().chain(logs);
    let bits = bits
        .filter_map(|log| log.critical_warning)
        .next_back()
        .unwrap_or(0);
    let set = WARNINGS.iter().filter(|(bit, _)| bits & bit != 0);
    set.map(|(_, words)| *words).collect()
}

/// Returns the last log before a parameter and those during it.
fn logs(record: &Record, parameter: Parameter) -> Vec<DriveLog> {
    let steps = || record.steps.iter();
    let first = steps().position(|step| step.parameter == parameter);
    let Some(first) = first else {
        return Vec::new();
    };
    let before = record.steps[..first].iter().flat_map(|step| &step.logs);
    let before = record.meta.log.iter().chain(before).last();
    let during = steps().filter(|step| step.parameter == parameter);
    let during = during.flat_map(|step| &step.logs);
    before.into_iter().chain(during).copied().collect()
}

fn is_hot(log: &DriveLog) -> bool {
    let temperatures = log.temperature_celsius.zip(log.warning_celsius);
    temperatures.is_some_and(|(now, from)| now >= from)
        || log.critical_warning.is_some_and(|bits| bits & TOO_HOT != 0)
}

/// Returns by how much a counter has grown.
fn grown(logs: &[DriveLog], counter: fn(&DriveLog) -> Option<u32>) -> u32 {
    let mut seen = logs.iter().filter_map(counter);
    let first = seen.next();
    let last = seen.next_back();
    first
        .zip(last)
        .map_or(0, |(first, last)| last.saturating_sub(first))
}

/// Returns by how much the reads and the writes of the references around a parameter are slower than the first.
fn slower(references: &[Reference], parameter: Parameter) -> (Option<f64>, Option<f64>) {
    let after = references
        .iter()
        .position(|one| one.after == Some(parameter));
    let (Some(first), Some(after)) = (references.first(), after) else {
        return (None, None);
    };
    let around = &references[after.saturating_sub(1)..=after];
    let largest = |times: fn(&Reference) -> &[u64]| {
        let ratios = around
            .iter()
            .filter_map(|one| beyond(times(one), times(first)));
        ratios.reduce(f64::max)
    };
    (largest(|one| &one.read_ns), largest(|one| &one.write_ns))
}

/// Returns the typical ratio of two lists of times if it is certainly out of the margin.
fn beyond(times: &[u64], first: &[u64]) -> Option<f64> {
    let compared = separate(&numbers(times), &numbers(first), CONFIDENCE, MARGIN)?;
    (compared.interval.low > 1.0 + MARGIN).then_some(compared.ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(typical: u64) -> Vec<u64> {
        (0..64).map(|i| typical + i % 8).collect()
    }

    fn reference(after: Option<Parameter>, read: u64, write: u64) -> Reference {
        Reference {
            after,
            at_ns: 0,
            read_ns: times(read),
            write_ns: times(write),
            cost: crate::Cost::default(),
        }
    }

    #[test]
    fn a_reference_is_slow_only_beyond_the_margin() {
        let (a, b) = (Parameter::ClusteredPage, Parameter::Flush);
        let references = [
            reference(None, 1000, 2000),
            reference(Some(a), 1200, 2000),
            reference(Some(b), 1000, 5000),
        ];
        assert_eq!(slower(&references, a), (None, None));
        let (reads, writes) = slower(&references, b);
        assert!(
            reads.is_none() && (2.4..2.6).contains(&writes.unwrap()),
            "{writes:?}"
        );
        assert_eq!(slower(&references[..2], b), (None, None), "not taken");
        assert_eq!(slower(&[], a), (None, None));
    }

    /// One slow reference marks the parameter before it and the one after it.
    #[test]
    fn both_sides_of_a_slow_moment_are_marked() {
        let all = [Parameter::ClusteredPage, Parameter::Flush, Parameter::Trim];
        let references = [
            reference(None, 1000, 2000),
            reference(Some(all[0]), 3000, 2000),
            reference(Some(all[1]), 1000, 2000),
            reference(Some(all[2]), 1000, 2000),
        ];
        let marked = all.map(|parameter| slower(&references, parameter).0.is_some());
        assert_eq!(marked, [true, true, false]);
    }

    #[test]
    fn heat_is_a_temperature_a_warning_or_a_counter_that_grew() {
        let log = |celsius, warning, minutes| DriveLog {
            temperature_celsius: Some(celsius),
            warning_celsius: Some(70),
            critical_warning: Some(warning),
            hot_minutes: Some(minutes),
            ..DriveLog::default()
        };
        assert!(!is_hot(&log(69, 0b1_1101, 0)));
        assert!(is_hot(&log(70, 0, 0)));
        assert!(is_hot(&log(40, 0b10, 0)));
        let minutes = |log: &DriveLog| log.hot_minutes;
        assert_eq!(grown(&[log(40, 0, 5), log(40, 0, 5)], minutes), 0);
        assert_eq!(grown(&[log(40, 0, 5), log(40, 0, 7)], minutes), 2);
        assert_eq!(grown(&[log(40, 0, 5)], minutes), 0);
        assert_eq!(grown(&[DriveLog::default(); 2], minutes), 0);
    }

    #[test]
    fn the_words_have_the_figures() {
        let hot = Condition {
            marks: Marks {
                hot: true,
                slow: true,
            },
            celsius: Some(83),
            warning_celsius: Some(70),
            throttles: 2,
            reads_ratio: Some(1.84),
            writes_ratio: None,
        };
        assert_eq!(
            hot.said().unwrap(),
            "measured while the drive was hot (up to 83 °C, it warns from 70 °C on, it slowed itself down 2 times) and slow \
             (reads took 1.8 times as long as at the beginning)"
        );
        assert_eq!(Condition::default().said(), None);
    }
}
