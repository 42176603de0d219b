//! Judges claims on the runs of their study. A claim that depends on something the paper leaves open is judged under each
//! assumption; a single assumption is never picked to make it hold.

use super::judge::{judge_there, untested};
use super::look::{Look, point};
use super::statement::{Selector, Tested};
use fathom_report::reproduce::{Assumed, Judged, Verdict};

/// Judges a statement on the runs of its study.
pub(super) fn judge<'a>(claim: &'a Tested, runs: &Look<'a>) -> Judged {
    let here = runs.only(&claim.at);
    match claim.assuming.is_empty() || here.runs.is_empty() {
        true => judge_there(claim, &here),
        false => judge_each(claim, &here),
    }
}

/// Judges a claim under each of its assumptions, and combines the verdicts.
fn judge_each<'a>(claim: &'a Tested, runs: &Look<'a>) -> Judged {
    let mut places: Vec<Vec<&str>> = Vec::new();
    for run in &runs.runs {
        let place = claim.assuming.iter().filter_map(|axis| point(run, axis));
        let place = place.collect();
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let there = |place: Vec<&str>| {
        let points = place.iter().map(|&point| point.to_owned());
        let is: Selector = claim.assuming.iter().cloned().zip(points.clone()).collect();
        let judged = judge_there(claim, &runs.only(&is));
        Assumed {
            points: points.collect(),
            verdict: judged.verdict,
            measured: match judged.measured.is_empty() {
                true => judged.why,
                false => judged.measured,
            },
        }
    };
    let assumed: Vec<Assumed> = places.into_iter().map(there).collect();
    Judged {
        verdict: over_all(&assumed),
        measured: by_verdict(&assumed),
        assumed,
        ..untested(claim)
    }
}

/// Combines the verdicts under several assumptions. The claim holds only if it holds under all of them, and holds in part
/// if it holds under some.
fn over_all(assumed: &[Assumed]) -> Verdict {
    let all = |wanted: Verdict| assumed.iter().all(|a| a.verdict == wanted);
    let any = |wanted: Verdict| assumed.iter().any(|a| a.verdict == wanted);
    match () {
        () if assumed.is_empty() => Verdict::CannotBeTold,
        () if all(Verdict::Holds) => Verdict::Holds,
        () if any(Verdict::Holds) => Verdict::HoldsInPart,
        () if any(Verdict::CannotBeTold) => Verdict::CannotBeTold,
        () if any(Verdict::DoesNotHold) => Verdict::DoesNotHold,
        () => Verdict::DirectionOnly,
    }
}

/// Maximum number of assumptions that are named; of more only the number is given.
const NAMED: usize = 3;

/// Lists the assumptions by verdict: "holds with BAST, 8; does not hold with 11 of 12".
fn by_verdict(assumed: &[Assumed]) -> String {
    use Verdict::{CannotBeTold, DirectionOnly, DoesNotHold, Holds};
    let group = |verdict: Verdict| {
        let here = assumed.iter().filter(|a| a.verdict == verdict);
        let names: Vec<String> = here.map(|a| a.points.join(", ")).collect();
        let with = match names.len() {
            0 => return None,
            all if all == assumed.len() => format!("all {all}"),
            1..=NAMED => names.join(" and "),
            some => format!("{some} of {}", assumed.len()),
        };
        Some(format!("{} with {with}", verdict.words()))
    };
    let groups = [Holds, DirectionOnly, DoesNotHold, CannotBeTold];
    groups
        .into_iter()
        .filter_map(group)
        .collect::<Vec<_>>()
        .join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{CannotBeTold, DirectionOnly, DoesNotHold, Holds};

    #[test]
    fn a_claim_holds_in_part_where_it_holds_under_one_assumption_of_several() {
        let under = |verdicts: &[Verdict]| {
            let assumed = verdicts.iter().enumerate().map(|(i, verdict)| Assumed {
                points: vec![format!("kind {i}"), "8".into()],
                verdict: *verdict,
                measured: format!("{i} %"),
            });
            assumed.collect::<Vec<_>>()
        };
        assert_eq!(over_all(&under(&[Holds, Holds])), Holds);
        assert_eq!(
            over_all(&under(&[DoesNotHold, Holds])),
            Verdict::HoldsInPart
        );
        assert_eq!(over_all(&under(&[DirectionOnly, DoesNotHold])), DoesNotHold);
        assert_eq!(
            over_all(&under(&[DirectionOnly, DirectionOnly])),
            DirectionOnly
        );
        assert_eq!(over_all(&under(&[CannotBeTold, DoesNotHold])), CannotBeTold);
        assert_eq!(over_all(&[]), CannotBeTold);
        assert_eq!(
            by_verdict(&under(&[DoesNotHold, Holds, DoesNotHold])),
            "holds with kind 1, 8; does not hold with kind 0, 8 and kind 2, 8"
        );
        let mut many = under(&[DoesNotHold; 5]);
        assert_eq!(by_verdict(&many), "does not hold with all 5");
        many[3].verdict = CannotBeTold;
        assert_eq!(
            by_verdict(&many),
            "does not hold with 4 of 5; cannot be told with kind 3, 8"
        );
    }
}
