//! The rules by which a measured number confirms a claim.
//!
//! - Less than 1 % is no difference, whatever the interval. With an open arrival process the throughput is set by the
//!   arrivals, so that it is the same for every scheme except for a last digit.
//! - A limit holds if the whole interval lies on its side. A size holds if the whole interval lies within the tolerance;
//!   for a claim that says `near`, the mean must lie within the tolerance and the direction must differ significantly from
//!   no difference. A size outside the tolerance holds in its direction only, as long as the direction is significant.
//! - If the interval does not decide, the claim cannot be told.
//! - A claim about several comparisons does not hold if it fails for one of them.

use super::statement::Claimed;
use fathom_report::reproduce::{Measured, Verdict};

/// Differences below this many percent count as none. The value is ours, not a paper's.
const NO_DIFFERENCE_PERCENT: f64 = 1.0;
/// Maximum tolerance as a share of the claimed size. Without it, a claim of 10 % would hold at 1 %.
const TOLERANCE_SHARE: f64 = 0.5;

/// Decides a claim that a difference is above zero.
fn differs(measured: f64, half: f64) -> Verdict {
    if measured + half < NO_DIFFERENCE_PERCENT {
        Verdict::DoesNotHold
    } else if measured >= NO_DIFFERENCE_PERCENT && measured - half > 0.0 {
        Verdict::Holds
    } else {
        Verdict::CannotBeTold
    }
}

/// Decides a claim of a size. The sign of `claimed` is its direction, and `tolerance` is in percentage points.
fn sized(measured: f64, half: f64, claimed: f64, tolerance: f64) -> Verdict {
    let sign = claimed.signum();
    let (measured, claimed) = (measured * sign, claimed * sign);
    let tolerance = tolerance.min(claimed * TOLERANCE_SHARE);
    match differs(measured, half) {
        Verdict::Holds if (measured - claimed).abs() <= tolerance => Verdict::Holds,
        Verdict::Holds => Verdict::DirectionOnly,
        // The whole interval is below the claimed size, and the direction is open: the size does not hold.
        Verdict::CannotBeTold if measured + half < claimed - tolerance => Verdict::DoesNotHold,
        other => other,
    }
}

/// Decides a claim that a number is not below zero, such as the distance of a measurement from a limit.
fn directed(measured: f64, half: f64) -> Verdict {
    if measured - half >= 0.0 {
        Verdict::Holds
    } else if measured + half < 0.0 {
        Verdict::DoesNotHold
    } else {
        Verdict::CannotBeTold
    }
}

/// Combines the verdicts of several comparisons: the worst one counts.
pub(super) fn all_of(verdicts: &[Verdict]) -> Verdict {
    let worst = [Verdict::DoesNotHold, Verdict::CannotBeTold];
    let found = worst.into_iter().find(|v| verdicts.contains(v));
    found.unwrap_or(Verdict::Holds)
}

/// Decides a claim from a measurement. `directed_size` is true if a size has a direction; a plain value is only right or
/// wrong.
pub(super) fn decide(claimed: Claimed, measured: Measured, directed_size: bool) -> Verdict {
    let Measured { mean, half, .. } = measured;
    match claimed {
        Claimed::AtLeast(least) => directed(mean - least, half),
        Claimed::AtMost(most) => directed(most - mean, half),
        Claimed::Within(most) => directed(most - mean.abs(), half),
        Claimed::Better => differs(mean, half),
        Claimed::Worse => differs(-mean, half),
        Claimed::Near { value, within } => sized(mean, half, value, within),
        Claimed::About { value, within } => {
            let verdict = directed(within - (mean - value).abs(), half);
            let side = mean * value.signum() - half >= NO_DIFFERENCE_PERCENT;
            match verdict {
                Verdict::DoesNotHold if directed_size && side => Verdict::DirectionOnly,
                verdict => verdict,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{CannotBeTold, DirectionOnly, DoesNotHold, Holds};

    #[test]
    fn less_than_one_percent_is_no_difference() {
        // Exact to the last digit, but still no difference.
        assert_eq!(sized(0.1, 0.0, 63.8, 15.0), DoesNotHold);
        assert_eq!(sized(0.9, 0.0, 63.8, 15.0), DoesNotHold);
        assert_eq!(sized(0.5, 0.2, 63.8, 15.0), DoesNotHold);
        assert_eq!(sized(1.1, 0.0, 63.8, 15.0), DirectionOnly);
        assert_eq!(differs(0.9, 0.0), DoesNotHold);
        assert_eq!(differs(1.1, 0.0), Holds);
        assert_eq!(differs(0.9, 0.5), CannotBeTold);
    }

    #[test]
    fn a_small_claim_has_a_small_tolerance() {
        // 10.2 % with ten points of tolerance does not hold at 0.3 % or 1 %, but from 5.1 % on.
        assert_eq!(sized(0.3, 0.0, 10.2, 10.0), DoesNotHold);
        assert_eq!(sized(5.0, 0.0, 10.2, 10.0), DirectionOnly);
        assert_eq!(sized(5.2, 0.0, 10.2, 10.0), Holds);
        assert_eq!(sized(29.0, 0.0, 38.9, 10.0), Holds);
        assert_eq!(sized(-29.0, 0.0, -38.9, 10.0), Holds);
    }

    #[test]
    fn a_size_that_is_not_told_from_nothing_does_not_hold() {
        assert_eq!(sized(40.0, 60.0, 38.9, 10.0), CannotBeTold);
        assert_eq!(sized(3.6, 17.3, 44.6, 10.0), DoesNotHold);
        assert_eq!(sized(10.0, 30.0, 44.6, 10.0), CannotBeTold);
        assert_eq!(sized(-77.2, 1.9, 38.9, 10.0), DoesNotHold);
    }

    #[test]
    fn sizes_limits_and_directions() {
        let decide = |claimed, (mean, half), sized| {
            let seeds = 5;
            super::decide(claimed, Measured { mean, half, seeds }, sized)
        };
        // "Little improvement" (parameter-aware-io, 4.2): a loss of 8.75 % is none.
        let little = Claimed::Within(5.0);
        assert_eq!(decide(little, (-8.75, 0.0), true), DoesNotHold);
        assert_eq!(decide(little, (-4.0, 0.5), true), Holds);
        assert_eq!(decide(little, (4.8, 0.5), true), CannotBeTold);
        assert_eq!(little.words(" %"), "at most 5 % up or down");
        let about = Claimed::About {
            value: 15.0,
            within: 5.0,
        };
        assert_eq!(decide(about, (12.0, 1.0), true), Holds);
        assert_eq!(decide(about, (11.0, 2.0), true), CannotBeTold);
        assert_eq!(decide(about, (40.0, 2.0), true), DirectionOnly);
        assert_eq!(decide(about, (0.5, 0.1), true), DoesNotHold);
        assert_eq!(decide(about, (-12.0, 1.0), true), DoesNotHold);
        // A plain value is right or wrong and has no direction.
        assert_eq!(decide(about, (40.0, 2.0), false), DoesNotHold);
        // For `near` only the mean counts.
        let near = Claimed::Near {
            value: 15.0,
            within: 5.0,
        };
        assert_eq!(decide(near, (11.0, 2.0), true), Holds);
        assert_eq!(decide(near, (21.0, 2.0), true), DirectionOnly);
        assert_eq!(decide(Claimed::AtLeast(2.0), (3.0, 0.5), true), Holds);
        assert_eq!(decide(Claimed::AtMost(2.0), (2.2, 0.5), true), CannotBeTold);
        assert_eq!(decide(Claimed::Better, (1.5, 0.5), true), Holds);
        assert_eq!(decide(Claimed::Worse, (-1.5, 0.5), true), Holds);
        assert_eq!(decide(Claimed::Worse, (1.5, 0.5), true), DoesNotHold);
    }
}
