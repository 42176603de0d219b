//! When a measured number bears out what is claimed.
//!
//! - Less than 1 % is no difference, whatever the interval says. Throughput in an open arrival is set by the arrivals
//!   and comes out the same for every scheme, but for a last digit.
//! - A limit holds where the whole interval lies on its side, and a size where the whole interval lies within what it may be
//!   off; or, of claims that say `near`, where the mean does and the direction is told from no difference. A size that is off
//!   holds in its direction only, as long as that is told.
//! - Where the interval does not decide, a claim cannot be told.
//! - A claim about several comparisons does not hold if it does not hold for one of them.

use super::measured::Measured;
use super::statement::Claimed;
use serde::Serialize;

/// What comes of a claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// In direction and, where one is given, in size.
    Holds,
    /// It holds under some of the assumptions that the paper leaves open, and not under others.
    HoldsInPart,
    /// The direction holds, the size does not.
    DirectionOnly,
    /// It was measured otherwise.
    DoesNotHold,
    /// Too little was measured.
    #[default]
    CannotBeTold,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Holds,
        Self::HoldsInPart,
        Self::DirectionOnly,
        Self::DoesNotHold,
        Self::CannotBeTold,
    ];

    /// In words, of one claim.
    pub fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::HoldsInPart => "holds in part",
            Self::DirectionOnly => "holds in direction only",
            Self::DoesNotHold => "does not hold",
            Self::CannotBeTold => "cannot be told",
        }
    }

    /// In words, of several claims.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Holds => "hold",
            Self::HoldsInPart => "hold under some assumptions",
            Self::DirectionOnly => "hold in direction only",
            Self::DoesNotHold => "do not hold",
            Self::CannotBeTold => "cannot be told",
        }
    }
}

/// Less than this many percent is no difference: ours, not a paper's.
const NO_DIFFERENCE_PERCENT: f64 = 1.0;
/// The most of a claimed size that its tolerance may be: else a claim of 10 % would hold at 1 %.
const TOLERANCE_SHARE: f64 = 0.5;

/// Of a claim that something is above zero, by a difference.
fn differs(measured: f64, half: f64) -> Verdict {
    if measured + half < NO_DIFFERENCE_PERCENT {
        Verdict::DoesNotHold
    } else if measured >= NO_DIFFERENCE_PERCENT && measured - half > 0.0 {
        Verdict::Holds
    } else {
        Verdict::CannotBeTold
    }
}

/// Of a claim that gives a size, whose sign is its direction, and by how many percentage points it may be off.
fn sized(measured: f64, half: f64, claimed: f64, tolerance: f64) -> Verdict {
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
fn directed(measured: f64, half: f64) -> Verdict {
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

/// Of a claim, by what was measured. `directed_size` says whether a size has a direction: a value is right or wrong.
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
        // A value is right or wrong, and has no direction.
        assert_eq!(decide(about, (40.0, 2.0), false), DoesNotHold);
        // Of `near` the mean counts.
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
