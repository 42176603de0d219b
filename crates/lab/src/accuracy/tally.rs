//! Counts of answers by their outcome.

use super::campaign::{About, Answer, Results, cost_of};
use super::draw::Family;
use super::score::Outcome;
use fathom_probe::{Method, Parameter, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;

/// Promise of the robust method: the minimum share of the identifiable parameters that it finds.
pub const RECALL_MIN: f64 = 0.97;
/// Promise of the robust method: the maximum share of wrong values among its identifications.
pub const WRONG_MAX: f64 = 0.01;
/// Promise of the robust method: the maximum share of identifications among its answers on targets of noise alone.
pub const INVENTED_MAX: f64 = 0.005;

/// Counts of the answers of one method: to one parameter, on one kind of drive, or to all.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tally {
    /// Number of targets.
    pub drives: u64,
    /// Number of answers.
    pub answers: u64,
    /// Answers about an identifiable parameter.
    pub identifiable: u64,
    /// Answers that give a value: found, extra and wrong.
    pub identified: u64,
    /// Identified, correct and required.
    pub found: u64,
    /// Identified and correct, but not required.
    pub extra: u64,
    /// Rejected, correctly.
    pub rejected: u64,
    /// Identified, and incorrect.
    pub wrong: u64,
    /// Rejected, though identifiable.
    pub denied: u64,
    /// Inconclusive, or not answered.
    pub open: u64,
    /// Inconclusive answers about an identifiable parameter.
    pub missed: u64,
    /// Number of intervals that contain the truth, and number of intervals.
    pub covered: (u64, u64),
    /// Bytes written: median per target, and sum over all targets.
    pub bytes_written: (u64, u64),
    /// Time on the drive's clock in nanoseconds: median per target, and sum over all targets.
    pub device_ns: (u64, u64),
    /// Maximum number of bytes that the papers' procedures, as printed, write on these targets, summed over all of them.
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
        tally.drives = by_drive.len() as u64;
        let costs: Vec<_> = by_drive.into_values().map(cost_of).collect();
        tally.bytes_written = median_and_sum(costs.iter().map(|cost| cost.bytes_written));
        tally.device_ns = median_and_sum(costs.iter().map(|cost| cost.device_ns));
        tally
    }

    fn count(&mut self, answer: &Answer) {
        self.answers += 1;
        let must = answer.truth.is_identifiable();
        self.identifiable += u64::from(must);
        self.identified += u64::from(answer.estimate.verdict == Verdict::Identified);
        *match answer.outcome {
            Outcome::Found => &mut self.found,
            Outcome::Extra => &mut self.extra,
            Outcome::Rejected => &mut self.rejected,
            Outcome::Wrong => &mut self.wrong,
            Outcome::Denied => &mut self.denied,
            Outcome::Open => &mut self.open,
        } += 1;
        self.missed += u64::from(must && answer.outcome == Outcome::Open);
        if let Some(covers) = answer.covers {
            self.covered.0 += u64::from(covers);
            self.covered.1 += 1;
        }
        self.printed_bytes_max = self
            .printed_bytes_max
            .saturating_add(answer.printed_bytes_max);
    }

    /// Returns the share of the identifiable parameters that was found; `None` if there is none.
    pub fn recall(&self) -> Option<f64> {
        share(self.found, self.identifiable)
    }

    /// Returns the share of wrong values among the identifications; `None` if nothing was identified.
    pub fn wrong_of_identified(&self) -> Option<f64> {
        share(self.wrong, self.identified)
    }

    /// Returns true if the counts keep the promise of the robust method for targets of this family.
    pub fn keeps_promise(&self, family: Family) -> bool {
        let at_most = |share: Option<f64>, most| share.is_none_or(|share| share <= most);
        match family {
            Family::Wide | Family::Narrow => {
                self.recall().is_none_or(|share| share >= RECALL_MIN)
                    && at_most(self.wrong_of_identified(), WRONG_MAX)
            }
            Family::Noise => at_most(share(self.identified, self.answers), INVENTED_MAX),
        }
    }
}

/// The tallies of one method.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MethodTally {
    /// The method.
    pub method: Method,
    /// Tallies by parameter.
    pub parameters: BTreeMap<Parameter, Tally>,
    /// Tallies by axis and value on it, over all parameters.
    pub axes: BTreeMap<&'static str, BTreeMap<String, Tally>>,
    /// Tally over all parameters.
    pub all: Tally,
}

/// Counts the answers, for each method that gave any.
pub fn tally(results: &Results) -> Vec<MethodTally> {
    let mut methods: Vec<Method> = results.answers.iter().map(|a| a.method).collect();
    methods.sort_unstable();
    methods.dedup();
    let of_method = |method| {
        let answers = results.answers.iter().filter(move |a| a.method == method);
        tally_method(method, &answers.collect::<Vec<_>>(), &results.drives)
    };
    methods.into_iter().map(of_method).collect()
}

fn tally_method(method: Method, answers: &[&Answer], drives: &[About]) -> MethodTally {
    let of = |holds: &dyn Fn(&Answer) -> bool| {
        Tally::of(answers.iter().copied().filter(|answer| holds(answer)))
    };
    let asked = |parameter: &Parameter| answers.iter().any(|a| a.parameter == *parameter);
    let parameters = Parameter::ALL.into_iter().filter(asked);
    let mut members: BTreeMap<&'static str, BTreeMap<String, Vec<u64>>> = BTreeMap::new();
    for about in drives {
        for (axis, kind) in &about.axes {
            let kinds = members.entry(axis).or_default();
            kinds.entry(kind.clone()).or_default().push(about.drive);
        }
    }
    let of_axis = |kinds: BTreeMap<String, Vec<u64>>| {
        let of_kind = |(kind, drives): (String, Vec<u64>)| {
            (
                kind,
                of(&|answer| drives.binary_search(&answer.drive).is_ok()),
            )
        };
        kinds.into_iter().map(of_kind).collect()
    };
    MethodTally {
        method,
        parameters: parameters
            .map(|parameter| (parameter, of(&|answer| answer.parameter == parameter)))
            .collect(),
        axes: members
            .into_iter()
            .map(|(axis, kinds)| (axis, of_axis(kinds)))
            .collect(),
        all: of(&|_| true),
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Returns the lower median and the sum of the values; zeros if there are none.
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
    use crate::accuracy::truth::{Right, Sight};
    use crate::accuracy::{Truth, score};
    use fathom_probe::{Cost, Estimate, Value};

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

    fn results(answers: Vec<Answer>) -> Results {
        let about = |drive| About {
            drive,
            refused: 0,
            axes: BTreeMap::from([("parity", ["even", "odd"][drive as usize % 2].to_owned())]),
        };
        Results {
            drives: (0..6).map(about).collect(),
            answers,
        }
    }

    fn truth(sight: Sight) -> Truth {
        Truth {
            sight,
            right: vec![Right::Is(Value::Bytes(4096))],
            why: "",
        }
    }

    fn found(bytes: u64) -> Estimate {
        Estimate::identified(Value::Bytes(bytes), "")
    }

    fn without(verdict: Verdict) -> Estimate {
        Estimate::without_value(verdict, "")
    }

    #[test]
    fn every_outcome_is_counted_once_and_shares_have_their_base() {
        let there = || truth(Sight::Identifiable);
        let answers = vec![
            answer(0, there(), found(4096)),
            answer(1, there(), found(8192)),
            answer(2, there(), without(Verdict::Absent)),
            answer(3, there(), without(Verdict::Inconclusive)),
            answer(4, Truth::missing(), without(Verdict::Absent)),
            answer(5, Truth::missing(), found(4096)),
            answer(5, truth(Sight::Hidden), found(4096)),
            answer(5, truth(Sight::Faint), without(Verdict::Inconclusive)),
        ];
        let tallies = tally(&results(answers));
        let all = &tallies[0].all;
        assert_eq!(tallies[0].parameters[&Parameter::ReadBuffer], *all);
        assert_eq!((all.drives, all.answers, all.identifiable), (6, 8, 4));
        assert_eq!(
            (all.found, all.extra, all.wrong, all.identified),
            (1, 1, 2, 4)
        );
        assert_eq!((all.rejected, all.denied), (1, 1));
        assert_eq!((all.open, all.missed, all.covered), (2, 1, (2, 3)));
        assert_eq!(all.recall(), Some(0.25));
        assert_eq!(all.wrong_of_identified(), Some(2.0 / 4.0));
        // The cost of drive 5 is the sum over its three answers.
        assert_eq!(all.bytes_written, (30, 10 + 20 + 30 + 40 + 50 + 180));
        assert_eq!((all.device_ns, all.printed_bytes_max), ((100, 800), 8000));
        assert!(!all.keeps_promise(Family::Wide));
    }

    #[test]
    fn a_kind_of_drive_has_the_answers_of_its_drives() {
        let answers = (0..6).map(|drive| match drive {
            0..3 => answer(drive, truth(Sight::Identifiable), found(4096)),
            _ => answer(drive, Truth::missing(), found(1)),
        });
        let tallies = tally(&results(answers.collect()));
        let kinds = &tallies[0].axes["parity"];
        assert_eq!((kinds["even"].drives, kinds["even"].found), (3, 2));
        assert_eq!((kinds["odd"].answers, kinds["odd"].wrong), (3, 2));
    }

    #[test]
    fn the_promise_is_97_percent_found_and_1_percent_of_the_identifications_wrong() {
        let campaign = |found, wrong| Tally {
            answers: 1000,
            identifiable: 600,
            identified: found + wrong,
            found,
            wrong,
            ..Tally::default()
        };
        for family in [Family::Wide, Family::Narrow] {
            assert!(campaign(582, 5).keeps_promise(family));
            assert!(!campaign(581, 5).keeps_promise(family));
            assert!(!campaign(582, 6).keeps_promise(family));
            assert!(Tally::default().keeps_promise(family));
        }
    }

    #[test]
    fn noise_may_be_taken_for_something_once_in_200_answers() {
        let noise = |identified| Tally {
            answers: 1400,
            identified,
            wrong: identified,
            ..Tally::default()
        };
        assert!(noise(7).keeps_promise(Family::Noise));
        assert!(!noise(8).keeps_promise(Family::Noise));
    }
}
