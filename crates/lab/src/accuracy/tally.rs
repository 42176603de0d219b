//! Answers, counted.

use super::campaign::{Answer, cost_of};
use super::score::Outcome;
use fathom_probe::{Method, Parameter};
use serde::Serialize;
use std::collections::BTreeMap;

/// What is promised of the robust method: at least this share of the identifiable parameters is found.
pub const RECALL_MIN: f64 = 0.97;
/// And at most this share of all answers is a wrong identification.
pub const WRONG_MAX: f64 = 0.01;

/// Answers by one method, to one parameter or to all.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tally {
    /// Answers.
    pub answers: u64,
    /// Of them, those to something that can be identified.
    pub identifiable: u64,
    /// Identified, and right.
    pub found: u64,
    /// Rejected, and right.
    pub rejected: u64,
    /// Identified, and wrong.
    pub wrong: u64,
    /// Rejected, and wrong.
    pub denied: u64,
    /// Inconclusive.
    pub open: u64,
    /// Intervals that hold the truth, of so many.
    pub covered: (u64, u64),
    /// Bytes written for one drive: the median, and the sum over all drives.
    pub bytes_written: (u64, u64),
    /// Time on the drive's clock for one drive, in nanoseconds: the median, and the sum over all drives.
    pub device_ns: (u64, u64),
    /// The most that the papers' procedures write on these drives as printed, in bytes, over all drives.
    pub printed_bytes_max: u64,
}

impl Tally {
    /// Counts answers.
    pub fn of<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> Tally {
        let mut tally = Tally::default();
        let mut by_drive: BTreeMap<u64, Vec<&Answer>> = BTreeMap::new();
        for answer in answers {
            tally.count(answer);
            by_drive.entry(answer.drive).or_default().push(answer);
        }
        let costs: Vec<_> = by_drive.into_values().map(cost_of).collect();
        tally.bytes_written = median_and_sum(costs.iter().map(|cost| cost.bytes_written));
        tally.device_ns = median_and_sum(costs.iter().map(|cost| cost.device_ns));
        tally
    }

    fn count(&mut self, answer: &Answer) {
        self.answers += 1;
        self.identifiable += u64::from(answer.truth.is_identifiable());
        *match answer.outcome {
            Outcome::Found => &mut self.found,
            Outcome::Rejected => &mut self.rejected,
            Outcome::Wrong => &mut self.wrong,
            Outcome::Denied => &mut self.denied,
            Outcome::Open => &mut self.open,
        } += 1;
        if let Some(covers) = answer.covers {
            self.covered.0 += u64::from(covers);
            self.covered.1 += 1;
        }
        self.printed_bytes_max = self
            .printed_bytes_max
            .saturating_add(answer.printed_bytes_max);
    }

    /// The share of what can be identified that was; `None` where nothing can.
    pub fn recall(&self) -> Option<f64> {
        share(self.found, self.identifiable)
    }

    /// The share of all answers that are wrong identifications; `None` without answers.
    pub fn wrong_share(&self) -> Option<f64> {
        share(self.wrong, self.answers)
    }

    /// The share of what cannot be identified that was rejected; `None` where everything can.
    pub fn rejection(&self) -> Option<f64> {
        share(self.rejected, self.answers - self.identifiable)
    }

    /// Whether this is what is promised of the robust method.
    pub fn keeps_promise(&self) -> bool {
        self.recall().is_none_or(|share| share >= RECALL_MIN)
            && self.wrong_share().is_none_or(|share| share <= WRONG_MAX)
    }
}

/// The tallies of one method.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MethodTally {
    /// Which one.
    pub method: Method,
    /// By parameter.
    pub parameters: BTreeMap<Parameter, Tally>,
    /// Over all parameters.
    pub all: Tally,
}

/// Counts the answers of every method that there are.
pub fn tally(answers: &[Answer]) -> Vec<MethodTally> {
    let mut methods: Vec<Method> = answers.iter().map(|a| a.method).collect();
    methods.sort_unstable();
    methods.dedup();
    let of_method = |method| {
        let of = move |answer: &&Answer| answer.method == method;
        let asked =
            |parameter: &Parameter| answers.iter().filter(of).any(|a| a.parameter == *parameter);
        let parameters = Parameter::ALL.into_iter().filter(asked).map(|parameter| {
            let to = answers
                .iter()
                .filter(of)
                .filter(|a| a.parameter == parameter);
            (parameter, Tally::of(to))
        });
        MethodTally {
            method,
            parameters: parameters.collect(),
            all: Tally::of(answers.iter().filter(of)),
        }
    };
    methods.into_iter().map(of_method).collect()
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The lower median of values, and their sum; zeros where there are none.
fn median_and_sum(values: impl Iterator<Item = u64>) -> (u64, u64) {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    let median = values.get(values.len().saturating_sub(1) / 2).copied();
    let sum = values
        .iter()
        .fold(0u64, |sum, value| sum.saturating_add(*value));
    (median.unwrap_or_default(), sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accuracy::{Truth, score};
    use fathom_probe::{Cost, Estimate, Value, Verdict};

    fn answer(drive: u64, truth: Truth, estimate: Estimate) -> Answer {
        let mut estimate = estimate;
        estimate.cost = Cost {
            bytes_written: 10 * (drive + 1),
            device_ns: 100,
            ..Cost::default()
        };
        Answer {
            drive,
            method: Method::Robust,
            parameter: Parameter::ReadBuffer,
            outcome: score(&truth, &estimate),
            covers: super::super::score::covers(&truth, &estimate),
            printed_bytes_max: 1000,
            truth,
            estimate,
        }
    }

    fn found(bytes: u64) -> Estimate {
        Estimate::identified(
            Parameter::ReadBuffer,
            Method::Robust,
            Value::Bytes(bytes),
            "",
        )
    }

    fn without(verdict: Verdict) -> Estimate {
        Estimate::without_value(Parameter::ReadBuffer, Method::Robust, verdict, "")
    }

    #[test]
    fn every_outcome_is_counted_once_and_shares_have_their_base() {
        let there = || Truth::Is(Value::Bytes(4096));
        let answers = [
            answer(0, there(), found(4096)),
            answer(1, there(), found(8192)),
            answer(2, there(), without(Verdict::Absent)),
            answer(3, there(), without(Verdict::Inconclusive)),
            answer(4, Truth::Nothing, without(Verdict::Absent)),
            answer(5, Truth::Nothing, found(4096)),
        ];
        let tallies = tally(&answers);
        let all = &tallies[0].all;
        assert_eq!(tallies[0].parameters[&Parameter::ReadBuffer], *all);
        assert_eq!((all.answers, all.identifiable), (6, 4));
        assert_eq!((all.found, all.rejected, all.wrong), (1, 1, 2));
        assert_eq!((all.denied, all.open, all.covered), (1, 1, (1, 2)));
        assert_eq!(all.recall(), Some(0.25));
        assert_eq!(all.wrong_share(), Some(2.0 / 6.0));
        assert_eq!(all.rejection(), Some(0.5));
        assert_eq!(all.bytes_written, (30, 210));
        assert_eq!((all.device_ns, all.printed_bytes_max), ((100, 600), 6000));
        assert!(!all.keeps_promise());
    }

    #[test]
    fn the_promise_is_97_percent_found_and_1_percent_wrong() {
        let campaign = |found, wrong| Tally {
            answers: 1000,
            identifiable: 600,
            found,
            wrong,
            ..Tally::default()
        };
        assert!(campaign(582, 10).keeps_promise());
        assert!(!campaign(581, 10).keeps_promise());
        assert!(!campaign(582, 11).keeps_promise());
        assert!(Tally::default().keeps_promise());
    }

    #[test]
    fn a_drive_costs_the_sum_of_its_answers() {
        let other = Answer {
            parameter: Parameter::WriteBuffer,
            ..answer(0, Truth::Nothing, without(Verdict::Absent))
        };
        let answers = [answer(0, Truth::Nothing, without(Verdict::Absent)), other];
        assert_eq!(tally(&answers)[0].all.bytes_written, (20, 20));
    }
}
