//! Comparison of an answer with the ground truth.

use super::truth::{Right, Sight, Truth};
use fathom_probe::{Estimate, Value, Verdict};
use fathom_report::accuracy::Outcome;

/// Maximum width of an interval that counts as an answer, as a share of the true value.
const INTERVAL_SHARE_MAX: f64 = 0.25;

/// Compares an answer with the truth.
///
/// A word is correct if it equals the true one. A number is correct if it equals the true one, or if its interval contains
/// the true one and is no wider than `INTERVAL_SHARE_MAX` of it. In either case an interval that misses the truth or the
/// value itself is wrong. Where any number of a range is right, the value must lie in the range.
pub fn score(truth: &Truth, estimate: &Estimate) -> Outcome {
    let must = truth.sight == Sight::Identifiable;
    match estimate.verdict {
        Verdict::Inconclusive => Outcome::Open,
        Verdict::Absent | Verdict::NotIdentifiable if must => Outcome::Denied,
        Verdict::Absent | Verdict::NotIdentifiable => Outcome::Rejected,
        Verdict::Identified if !truth.right.iter().any(|r| is_right(r, estimate)) => Outcome::Wrong,
        Verdict::Identified if must => Outcome::Found,
        Verdict::Identified => Outcome::Extra,
    }
}

fn is_right(right: &Right, estimate: &Estimate) -> bool {
    let Some(found) = &estimate.value else {
        return false;
    };
    let holds = |value: &Value| estimate.interval().is_some_and(|ends| lies(value, ends));
    match right {
        Right::Is(right) if right.unit() != found.unit() => false,
        Right::Is(right) => match (right.number(), estimate.interval().and_then(width)) {
            (None, _) => right == found,
            (Some(number), Some(width)) => {
                let close = found == right || width <= INTERVAL_SHARE_MAX * number;
                close && holds(right) && holds(found)
            }
            (Some(_), None) => false,
        },
        Right::Between(first, last) => holds(found) && lies(found, (first, last)),
    }
}

/// Returns true if the interval of an identified number contains a correct one; `None` if there is no such interval or no
/// such number.
pub fn covers(truth: &Truth, estimate: &Estimate) -> Option<bool> {
    if estimate.verdict != Verdict::Identified {
        return None;
    }
    let (low, high) = estimate.interval()?;
    let holds = |right: &Right| match right {
        Right::Is(Value::Word(_)) => None,
        Right::Is(value) => Some(lies(value, (low, high))),
        Right::Between(first, last) => Some(low <= last && first <= high),
    };
    truth.right.iter().filter_map(holds).reduce(|a, b| a || b)
}

fn width((low, high): (&Value, &Value)) -> Option<f64> {
    Some((high.number()? - low.number()?).max(0.0))
}

/// Returns true if a value lies between two others of the same unit.
fn lies(value: &Value, (low, high): (&Value, &Value)) -> bool {
    let units = [low, high].map(Value::unit);
    units == [value.unit(); 2] && (low..=high).contains(&value)
}

#[cfg(test)]
mod tests {
    use super::*;
    const KIB: u64 = 1 << 10;

    fn truth(sight: Sight, right: &[Right]) -> Truth {
        let right = right.to_vec();
        let why = "";
        Truth { sight, right, why }
    }

    fn size(bytes: u64) -> Truth {
        truth(Sight::Identifiable, &[Right::Is(Value::Bytes(bytes))])
    }

    fn found(bytes: u64, low: u64, high: u64) -> Estimate {
        // Not by `between`, which widens an interval that misses the value.
        Estimate {
            low: Some(Value::Bytes(low)),
            high: Some(Value::Bytes(high)),
            ..Estimate::identified(Value::Bytes(bytes), "")
        }
    }

    fn chosen(name: &str) -> Estimate {
        let value = Value::Word(name.into());
        Estimate::identified(value, "")
    }

    fn without(verdict: Verdict) -> Estimate {
        Estimate::without_value(verdict, "")
    }

    #[test]
    fn a_size_is_right_when_exact_or_in_a_narrow_interval() {
        let truth = size(256 * KIB);
        let right = [
            found(256 * KIB, 256 * KIB, 256 * KIB),
            // Exact, with an interval of an octave.
            found(256 * KIB, 129 * KIB, 256 * KIB),
            // Not exact, with an interval of 64 KiB, a quarter of 256 KiB.
            found(250 * KIB, 200 * KIB, 264 * KIB),
        ];
        for estimate in &right {
            assert_eq!(score(&truth, estimate), Outcome::Found, "{estimate:?}");
        }
        let wrong = [
            // One byte wider than a quarter.
            found(250 * KIB, 200 * KIB, 264 * KIB + 1),
            // Narrow, but misses the truth.
            found(250 * KIB, 248 * KIB, 255 * KIB),
            // The right value outside its own interval.
            found(256 * KIB, 100 * KIB, 128 * KIB),
            // An interval that contains the truth but not the value.
            found(100 * KIB, 250 * KIB, 256 * KIB),
            chosen("cache"),
        ];
        for estimate in &wrong {
            assert_eq!(score(&truth, estimate), Outcome::Wrong, "{estimate:?}");
        }
    }

    #[test]
    fn a_choice_is_right_when_equal() {
        let truth = truth(
            Sight::Identifiable,
            &[Right::Is(Value::Word("cache".into()))],
        );
        assert_eq!(score(&truth, &chosen("cache")), Outcome::Found);
        assert_eq!(score(&truth, &chosen("buffer")), Outcome::Wrong);
        assert_eq!(score(&truth, &found(1, 1, 1)), Outcome::Wrong);
    }

    #[test]
    fn of_several_right_values_any_will_do() {
        let two = [4, 64].map(|n| Right::Is(Value::Bytes(n * KIB)));
        let range = Right::Between(Value::Bytes(100 * KIB), Value::Bytes(200 * KIB));
        let three = truth(
            Sight::Identifiable,
            &[two[0].clone(), two[1].clone(), range],
        );
        for n in [4, 64, 100, 150, 200] {
            let estimate = found(n * KIB, n * KIB, n * KIB);
            assert_eq!(score(&three, &estimate), Outcome::Found, "{n}");
            assert_eq!(covers(&three, &estimate), Some(true));
        }
        for n in [8, 99, 201] {
            let estimate = found(n * KIB, n * KIB, n * KIB);
            assert_eq!(score(&three, &estimate), Outcome::Wrong, "{n}");
            assert_eq!(covers(&three, &estimate), Some(false));
        }
    }

    #[test]
    fn what_need_not_be_found_must_not_be_invented() {
        for sight in [Sight::Faint, Sight::Hidden, Sight::Missing] {
            let none = truth(sight, &[]);
            assert_eq!(score(&none, &found(1, 1, 1)), Outcome::Wrong);
            let one = truth(sight, &[Right::Is(Value::Bytes(1))]);
            assert_eq!(score(&one, &found(1, 1, 1)), Outcome::Extra);
            assert_eq!(score(&one, &found(2, 2, 2)), Outcome::Wrong);
            for truth in [&none, &one] {
                for verdict in [Verdict::Absent, Verdict::NotIdentifiable] {
                    assert_eq!(score(truth, &without(verdict)), Outcome::Rejected);
                }
                assert_eq!(score(truth, &without(Verdict::Inconclusive)), Outcome::Open);
            }
        }
        let there = size(4096);
        for verdict in [Verdict::Absent, Verdict::NotIdentifiable] {
            assert_eq!(score(&there, &without(verdict)), Outcome::Denied);
        }
        let open = without(Verdict::Inconclusive);
        assert_eq!(score(&there, &open), Outcome::Open);
    }

    #[test]
    fn coverage_is_asked_of_identified_sizes_only() {
        assert_eq!(covers(&size(10), &found(12, 9, 12)), Some(true));
        assert_eq!(covers(&size(10), &found(12, 11, 12)), Some(false));
        assert_eq!(covers(&size(10), &without(Verdict::Absent)), None);
        assert_eq!(covers(&Truth::missing(), &found(12, 11, 12)), None);
        let choice = truth(
            Sight::Identifiable,
            &[Right::Is(Value::Word("cache".into()))],
        );
        assert_eq!(covers(&choice, &chosen("buffer")), None);
    }
}
