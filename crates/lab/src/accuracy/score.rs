//! Whether an answer is right.

use super::truth::Truth;
use fathom_probe::{Estimate, Value, Verdict};
use serde::Serialize;

/// An interval counts as an answer up to this width, as a share of the true size.
pub const INTERVAL_SHARE_MAX: f64 = 0.25;

/// How an answer compares with the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Identified, and right.
    Found,
    /// *Absent* or *not identifiable*, and there is nothing to be found.
    Rejected,
    /// Identified, and not so: another value, an interval that is too wide or misses, or a value of nothing.
    Wrong,
    /// *Absent* or *not identifiable*, though it can be found.
    Denied,
    /// *Inconclusive*, or not answered at all.
    Open,
}

/// Compares an answer with the truth.
///
/// A choice is right when it is the true one. A size is right when it equals the true one, or when its interval holds
/// the true one and is no wider than [`INTERVAL_SHARE_MAX`] of it; in either case an interval that misses the truth or
/// the value itself is wrong.
pub fn score(truth: &Truth, estimate: &Estimate) -> Outcome {
    match (estimate.verdict, truth) {
        (Verdict::Inconclusive, _) => Outcome::Open,
        (Verdict::Absent | Verdict::NotIdentifiable, Truth::Is(_)) => Outcome::Denied,
        (Verdict::Absent | Verdict::NotIdentifiable, _) => Outcome::Rejected,
        (Verdict::Identified, Truth::Is(value)) if is_right(value, estimate) => Outcome::Found,
        (Verdict::Identified, _) => Outcome::Wrong,
    }
}

fn is_right(truth: &Value, estimate: &Estimate) -> bool {
    match (truth, &estimate.value) {
        (Value::Choice(truth), Some(Value::Choice(found))) => truth == found,
        (Value::Bytes(truth), Some(Value::Bytes(found))) => {
            let Some((low, high)) = interval(estimate) else {
                return false;
            };
            let width = high.saturating_sub(low) as f64;
            let close = found == truth || width <= INTERVAL_SHARE_MAX * *truth as f64;
            let holds = |bytes: &u64| (low..=high).contains(bytes);
            close && holds(truth) && holds(found)
        }
        _ => false,
    }
}

/// Whether an identified size's interval holds the truth; `None` where there is no such interval or no true size.
pub fn covers(truth: &Truth, estimate: &Estimate) -> Option<bool> {
    let (Verdict::Identified, Truth::Is(Value::Bytes(truth))) = (estimate.verdict, truth) else {
        return None;
    };
    let (low, high) = interval(estimate)?;
    Some((low..=high).contains(truth))
}

fn interval(estimate: &Estimate) -> Option<(u64, u64)> {
    Some((estimate.low?, estimate.high?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_probe::{Method, Parameter};

    const KIB: u64 = 1 << 10;

    fn size(bytes: u64) -> Truth {
        Truth::Is(Value::Bytes(bytes))
    }

    fn found(bytes: u64, low: u64, high: u64) -> Estimate {
        let value = Value::Bytes(bytes);
        Estimate::identified(Parameter::ReadBuffer, Method::Robust, value, "").between(low, high)
    }

    fn chosen(name: &str) -> Estimate {
        let value = Value::Choice(name.into());
        Estimate::identified(Parameter::WritePolicy, Method::Robust, value, "")
    }

    fn without(verdict: Verdict) -> Estimate {
        Estimate::without_value(Parameter::ReadBuffer, Method::Robust, verdict, "")
    }

    #[test]
    fn a_size_is_right_when_exact_or_in_a_narrow_interval() {
        let truth = size(256 * KIB);
        let right = [
            found(256 * KIB, 256 * KIB, 256 * KIB),
            // Exact, with an interval of an octave.
            found(256 * KIB, 129 * KIB, 256 * KIB),
            // Not exact, 64 KiB of 256 KiB wide.
            found(250 * KIB, 200 * KIB, 264 * KIB),
        ];
        for estimate in &right {
            assert_eq!(score(&truth, estimate), Outcome::Found, "{estimate:?}");
        }
        let wrong = [
            // A byte wider than a quarter.
            found(250 * KIB, 200 * KIB, 264 * KIB + 1),
            // Narrow, and beside the truth.
            found(250 * KIB, 248 * KIB, 255 * KIB),
            // The right value outside of its own interval.
            found(256 * KIB, 100 * KIB, 128 * KIB),
            // An interval that holds the truth but not the value.
            found(100 * KIB, 250 * KIB, 256 * KIB),
            chosen("cache"),
        ];
        for estimate in &wrong {
            assert_eq!(score(&truth, estimate), Outcome::Wrong, "{estimate:?}");
        }
    }

    #[test]
    fn a_choice_is_right_when_equal() {
        let truth = Truth::Is(Value::Choice("cache".into()));
        assert_eq!(score(&truth, &chosen("cache")), Outcome::Found);
        assert_eq!(score(&truth, &chosen("buffer")), Outcome::Wrong);
        assert_eq!(score(&truth, &found(1, 1, 1)), Outcome::Wrong);
    }

    #[test]
    fn what_is_not_there_must_be_rejected() {
        let cases = [Truth::Nothing, Truth::Hidden("page mapping")];
        for truth in &cases {
            assert_eq!(score(truth, &found(1, 1, 1)), Outcome::Wrong);
            assert_eq!(score(truth, &without(Verdict::Absent)), Outcome::Rejected);
            assert_eq!(
                score(truth, &without(Verdict::NotIdentifiable)),
                Outcome::Rejected
            );
            assert_eq!(score(truth, &without(Verdict::Inconclusive)), Outcome::Open);
        }
        let there = size(4096);
        assert_eq!(score(&there, &without(Verdict::Absent)), Outcome::Denied);
        assert_eq!(
            score(&there, &without(Verdict::NotIdentifiable)),
            Outcome::Denied
        );
        assert_eq!(
            score(&there, &without(Verdict::Inconclusive)),
            Outcome::Open
        );
    }

    #[test]
    fn coverage_is_asked_of_identified_sizes_only() {
        assert_eq!(covers(&size(10), &found(12, 9, 12)), Some(true));
        assert_eq!(covers(&size(10), &found(12, 11, 12)), Some(false));
        assert_eq!(covers(&size(10), &without(Verdict::Absent)), None);
        assert_eq!(covers(&Truth::Nothing, &found(12, 11, 12)), None);
        let choice = Truth::Is(Value::Choice("cache".into()));
        assert_eq!(covers(&choice, &chosen("buffer")), None);
    }
}
