//! Counts of the answers of a campaign by their outcome, and the promise of the robust method.

use super::campaign::Family;
use fathom_probe::{Method, Parameter};
use serde::Serialize;
use std::collections::BTreeMap;

/// Promise of the robust method: the minimum share of the identifiable parameters that it finds.
pub(super) const RECALL_MIN: f64 = 0.97;
/// The same on drives of today.
const MODERN_RECALL_MIN: f64 = 0.95;
/// Promise of the robust method: the maximum share of wrong values among its identifications.
pub(super) const WRONG_MAX: f64 = 0.01;
/// Promise of the robust method: the maximum share of identifications among its answers on targets of noise alone.
pub(super) const INVENTED_MAX: f64 = 0.005;

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
    /// Returns the share of the identifiable parameters that was found; `None` if there is none.
    pub fn recall(&self) -> Option<f64> {
        share(self.found, self.identifiable)
    }

    /// Returns the share of wrong values among the identifications; `None` if nothing was identified.
    pub(super) fn wrong_of_identified(&self) -> Option<f64> {
        share(self.wrong, self.identified)
    }

    /// Returns true if the counts keep the promise of the robust method for targets of this family.
    pub fn keeps_promise(&self, family: Family) -> bool {
        let at_most = |share: Option<f64>, most| share.is_none_or(|share| share <= most);
        match family {
            Family::Wide | Family::Narrow | Family::Modern => {
                self.recall()
                    .is_none_or(|share| share >= recall_min(family))
                    && at_most(self.wrong_of_identified(), WRONG_MAX)
            }
            Family::Noise => at_most(share(self.identified, self.answers), INVENTED_MAX),
        }
    }
}

/// Returns the promised recall for targets of a family.
pub(super) fn recall_min(family: Family) -> f64 {
    match family {
        Family::Modern => MODERN_RECALL_MIN,
        _ => RECALL_MIN,
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

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(campaign(300, 100).recall(), Some(300.0 / 600.0));
        assert_eq!(campaign(300, 100).wrong_of_identified(), Some(0.25));
        assert_eq!(Tally::default().recall(), None);
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
