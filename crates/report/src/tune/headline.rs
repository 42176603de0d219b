//! Where the reports of a drive contradict each other or what was measured.

use super::case::Case;
use super::compare::{self, Compared, Relation};
use super::measured::Measured;
use fathom_probe::Profile;

/// Compares what the drive reported when it was measured with the answers; empty for a modelled drive.
pub(crate) fn compared(profile: &Profile) -> Vec<Compared> {
    let Some(reported) = &profile.target.reported else {
        return Vec::new();
    };
    let measured = Measured::of(profile);
    compare::all(&Case {
        reported,
        measured: &measured,
    })
}

/// Returns each disagreement in a sentence: reports that the measurement refutes, then reports that refute each other.
pub(crate) fn headlines(profile: &Profile) -> Vec<String> {
    let refuted = compared(profile).into_iter();
    let refuted = refuted
        .filter(|one| one.relation == Relation::Differs)
        .map(|one| {
            let said = |text: &Option<String>| text.clone().unwrap_or_else(|| "nothing".to_owned());
            format!(
                "{}: the drive reports {}, and {} was measured: {}",
                one.property,
                said(&one.reported),
                said(&one.measured),
                one.meaning
            )
        });
    let reported = profile.target.reported.iter();
    let contradictions = reported.flat_map(|reported| &reported.contradictions);
    refuted
        .chain(contradictions.map(|found| found.text.clone()))
        .collect()
}
