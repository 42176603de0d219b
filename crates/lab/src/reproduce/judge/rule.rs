//! When a measured difference, in percent with half of its 95 % interval, bears out a claim.

use super::Verdict;

/// Less than this many percent is no difference: ours, not a paper's.
pub const NO_DIFFERENCE_PERCENT: f64 = 1.0;
/// The most of a claimed size that its tolerance may be: else a claim of 10 % would hold at 1 %.
const TOLERANCE_SHARE: f64 = 0.5;

/// Of a claim that something is above zero, by a difference.
pub(super) fn differs(measured: f64, half: f64) -> Verdict {
    if measured + half < NO_DIFFERENCE_PERCENT {
        Verdict::DoesNotHold
    } else if measured >= NO_DIFFERENCE_PERCENT && measured - half > 0.0 {
        Verdict::Holds
    } else {
        Verdict::CannotBeTold
    }
}

/// Of a claim that gives a size, whose sign is its direction, and by how many percentage points it may be off.
pub(super) fn sized(measured: f64, half: f64, claimed: f64, tolerance: f64) -> Verdict {
    let sign = claimed.signum();
    let (measured, claimed) = (measured * sign, claimed * sign);
    let tolerance = tolerance.min(claimed * TOLERANCE_SHARE);
    match differs(measured, half) {
        Verdict::Holds if (measured - claimed).abs() <= tolerance => Verdict::Holds,
        Verdict::Holds => Verdict::DirectionOnly,
        // The whole interval is below what was claimed, and the direction is open: the size does not hold.
        Verdict::CannotBeTold if measured + half < claimed - tolerance => Verdict::DoesNotHold,
        other => other,
    }
}

/// Of a claim that something is not below zero: how far a measurement is within a limit.
pub(in crate::reproduce) fn directed(measured: f64, half: f64) -> Verdict {
    if measured - half >= 0.0 {
        Verdict::Holds
    } else if measured + half < 0.0 {
        Verdict::DoesNotHold
    } else {
        Verdict::CannotBeTold
    }
}

/// Of a claim about several comparisons: the worst of them.
pub(super) fn all_of(verdicts: &[Verdict]) -> Verdict {
    let worst = [Verdict::DoesNotHold, Verdict::CannotBeTold];
    let found = worst.into_iter().find(|v| verdicts.contains(v));
    found.unwrap_or(Verdict::Holds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{CannotBeTold, DirectionOnly, DoesNotHold, Holds};

    #[test]
    fn less_than_one_percent_is_no_difference() {
        // Measured to the last digit, and still nothing.
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
        // 10.2 % with ten points of tolerance does not hold at 0.3 %, nor at 1 %: at 5.1 % and more.
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
}
