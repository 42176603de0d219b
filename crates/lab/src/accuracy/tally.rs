//! Counts of answers by their outcome.

use super::campaign::{About, Answer, Results, cost_of};
use fathom_probe::{Cost, Method, Parameter, Verdict};
use fathom_report::accuracy::{MethodTally, Outcome, Tally};
use std::collections::BTreeMap;

/// Counts answers.
fn of<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> Tally {
    let mut tally = Tally::default();
    let mut by_drive: BTreeMap<u64, Vec<&Answer>> = BTreeMap::new();
    for answer in answers {
        count(&mut tally, answer);
        by_drive.entry(answer.drive).or_default().push(answer);
    }
    tally.drives = by_drive.len() as u64;
    // A question that is answered without a request costs nothing, and says nothing of what it costs.
    let costs = by_drive.into_values().map(cost_of);
    let costs: Vec<_> = costs.filter(|cost| *cost != Cost::default()).collect();
    tally.bytes_written = median_and_sum(costs.iter().map(|cost| cost.bytes_written));
    tally.device_ns = median_and_sum(costs.iter().map(|cost| cost.device_ns));
    tally
}

fn count(tally: &mut Tally, answer: &Answer) {
    tally.answers += 1;
    let must = answer.truth.is_identifiable();
    tally.identifiable += u64::from(must);
    tally.identified += u64::from(answer.estimate.verdict == Verdict::Identified);
    *match answer.outcome {
        Outcome::Found => &mut tally.found,
        Outcome::Extra => &mut tally.extra,
        Outcome::Rejected => &mut tally.rejected,
        Outcome::Wrong => &mut tally.wrong,
        Outcome::Denied => &mut tally.denied,
        Outcome::Open => &mut tally.open,
    } += 1;
    tally.missed += u64::from(must && answer.outcome == Outcome::Open);
    if let Some(covers) = answer.covers {
        tally.covered.0 += u64::from(covers);
        tally.covered.1 += 1;
    }
    let printed = tally.printed_bytes_max;
    tally.printed_bytes_max = printed.saturating_add(answer.printed_bytes_max);
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
    let where_it = |holds: &dyn Fn(&Answer) -> bool| {
        of(answers.iter().copied().filter(|answer| holds(answer)))
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
            let here = where_it(&|answer| drives.binary_search(&answer.drive).is_ok());
            (kind, here)
        };
        kinds.into_iter().map(of_kind).collect()
    };
    MethodTally {
        method,
        parameters: parameters
            .map(|parameter| (parameter, where_it(&|answer| answer.parameter == parameter)))
            .collect(),
        axes: members
            .into_iter()
            .map(|(axis, kinds)| (axis, of_axis(kinds)))
            .collect(),
        all: where_it(&|_| true),
    }
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
    use fathom_probe::{Estimate, Value};
    use fathom_report::accuracy::Family;

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
}
