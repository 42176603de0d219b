//! Judges whether a paper's statement about a figure holds on our runs.
//!
//! Each number is computed separately for each seed, from runs that saw the same workload. With several seeds a number has
//! a mean and a 95 % interval. A study with one seed by design uses the intervals of its runs (batch means). If a quick
//! reproduction leaves one seed of several there is no interval, and the verdict is that of this seed. The rules are in
//! [`rule`](super::rule).

use super::look::{Look, Missing};
use super::measured::{Number, over_seeds};
use super::numbers::{Comparison, numbers};
use super::rule::{all_of, decide};
use super::statement::{Test, Tested};
use fathom_report::reproduce::{Judged, Measured, Verdict};

/// Returns a statement before it is tested.
pub(super) fn untested(claim: &Tested) -> Judged {
    let (claimed, unit) = claim.test.claimed();
    Judged {
        text: claim.text.clone(),
        label: claim.label.clone().unwrap_or_default(),
        ours: claim.ours,
        claimed: claimed.words(unit),
        size: claimed.size(),
        assuming: claim.assuming.clone(),
        ..Judged::default()
    }
}

/// Judges a statement on these runs.
pub(super) fn judge_there<'a>(claim: &'a Tested, runs: &Look<'a>) -> Judged {
    let judged = untested(claim);
    let measured = match measure(claim, runs) {
        Ok(measured) => measured,
        Err(missing) => {
            return Judged {
                why: missing.into(),
                ..judged
            };
        }
    };
    let (claimed, unit) = claim.test.claimed();
    let sized = matches!(claim.test, Test::Gain(_) | Test::Change(_));
    let decided =
        |(what, measured): &(String, Measured)| (what.clone(), decide(claimed, *measured, sized));
    let verdicts: Vec<(String, Verdict)> = measured.iter().map(decided).collect();
    let verdict = match verdicts.as_slice() {
        [(_, verdict)] => *verdict,
        several => all_of(&several.iter().map(|(_, v)| *v).collect::<Vec<_>>()),
    };
    Judged {
        verdict,
        measured: words(&measured, &verdicts, unit),
        number: match measured.as_slice() {
            [(_, one)] => Some(*one),
            _ => None,
        },
        why: why(verdict, &verdicts),
        ..judged
    }
}

/// Returns each number of a statement over the seeds, with a description.
fn measure<'a>(claim: &'a Tested, runs: &Look<'a>) -> Result<Vec<(String, Measured)>, Missing> {
    if runs.runs.is_empty() {
        return Err("the runs that it needs were left out");
    }
    let seeds = runs.seeds();
    let of_seed = seeds
        .iter()
        .map(|runs| numbers(&claim.test, claim.metric, runs));
    let of_seed: Vec<Vec<Comparison>> = of_seed.collect::<Result<_, _>>()?;
    let each = of_seed[0].iter().enumerate().filter_map(|(index, first)| {
        let over: Vec<Number> = of_seed
            .iter()
            .filter_map(|numbers| Some(numbers.get(index)?.number))
            .collect();
        Some((first.what.clone(), over_seeds(&over)?))
    });
    Ok(each.collect())
}

/// Maximum number of comparisons listed; of more only the lowest and the highest are named.
const LISTED: usize = 3;

/// Describes the measurement: the number, or some of several and the number of comparisons for which the claim holds.
fn words(measured: &[(String, Measured)], verdicts: &[(String, Verdict)], unit: &str) -> String {
    let said = |(what, measured): &(String, Measured)| match what.is_empty() {
        true => measured.words(unit),
        false => format!("{} ({what})", measured.words(unit)),
    };
    if let [one] = measured {
        return one.1.words(unit);
    }
    let held = verdicts.iter().filter(|(_, v)| *v == Verdict::Holds);
    let count = format!("as claimed in {} of {}", held.count(), measured.len());
    if measured.len() <= LISTED {
        let all: Vec<String> = measured.iter().map(said).collect();
        return format!("{}; {count}", all.join(", "));
    }
    let by = |a: &&(String, Measured), b: &&(String, Measured)| a.1.mean.total_cmp(&b.1.mean);
    let (low, high) = (measured.iter().min_by(by), measured.iter().max_by(by));
    let ends: Vec<String> = low.into_iter().chain(high).map(said).collect();
    format!("{}; {count}", ends.join(" to "))
}

/// Gives the reason that the number does not show: an interval is too wide, or which of several comparisons fail.
fn why(verdict: Verdict, verdicts: &[(String, Verdict)]) -> String {
    let failed = verdicts.iter().filter(|(_, v)| *v == verdict);
    let failed: Vec<&str> = failed.map(|(what, _)| what.as_str()).collect();
    let open = verdict == Verdict::CannotBeTold;
    if verdict == Verdict::Holds || (verdicts.len() == 1 && !open) {
        return String::new();
    }
    let reason = match open {
        true => "the interval does not decide",
        false => "fails",
    };
    match failed.len() {
        _ if verdicts.len() == 1 => reason.into(),
        all if all == verdicts.len() => format!("{reason} everywhere"),
        some => {
            let more = match some.saturating_sub(LISTED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let named = failed[..some.min(LISTED)].join("; ");
            format!("{reason} for {named}{more}")
        }
    }
}

#[cfg(test)]
mod tests;
