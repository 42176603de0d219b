//! Up to which size a second pass is served.

use super::manner::{Manner, Pass, of, trial};
use super::measure::PASSES;
use crate::robust::samples::of_step;
use crate::robust::written;
use crate::{Parameter, Record, Series};
use fathom_stats::place;

const PARAMETER: Parameter = Parameter::ReadBuffer;

/// How far a record has come.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stage {
    Try(Manner),
    Unmapped(Manner),
    Make(Pass, u32),
    /// Reads within so many bytes, which a second pass is served from.
    Within(Pass),
    /// Memory serves the first size and not the second.
    Found(u64, u64),
    /// Every size up to this one is served.
    Larger(u64),
    /// The second read saves a look-up only.
    Map,
    /// Perhaps it does: a read of what is kept depends on its place.
    Flash,
    Nothing,
    Unsettled(u64),
}

const PASSES_MAX: u32 = 15;
/// So large a share of them must agree.
const AGREE: f64 = 0.8;
/// Reads of a pass, from which on longer reads are taken where they show it nearly as well.
const READS: u64 = 512;
/// Sizes closer than this share of the capacity are not told apart.
const RESOLUTION: u64 = 1024;
/// A capacity that the shortest buffered read does not tell to a share of this is not settled.
const COARSEST: u64 = 4;
/// Below this place between a pass that is served and one that is not it is served. Less than half: where the map is read
/// from flash, a second pass that is not served saves that.
const SERVED: f64 = 0.3;
/// A first pass takes at least so many times as long as one that is served.
const FIRST_MIN: f64 = 1.005;
/// Their place matters with this p-value.
const P_PLACE: f64 = 0.01;

/// A pass over so many bytes, by the reads that suit it.
fn pass(good: &[Manner], bytes: u64, best: Manner) -> Pass {
    let long = good.iter().rev().find(|m| m.read * READS <= bytes).copied();
    Pass {
        manner: long.unwrap_or(best),
        bytes,
        again: false,
    }
}

/// Whether the second pass is served; `Err` with what is to be made.
fn served(record: &Record, pass: &Pass) -> Result<Option<bool>, Stage> {
    let Some((_, hit, _)) = trial(record, pass.manner) else {
        return Ok(None);
    };
    let all_hit = hit / pass.manner.group as f64 * pass.count() as f64;
    // From a pass that is served, 0, to one that is like the first, 1; nowhere if the first is served as well.
    let place = |first: f64, second: f64| match first > FIRST_MIN * all_hit {
        true => (second - all_hit) / (first - all_hit),
        false => f64::NAN,
    };
    let mut places: Vec<f64> = Vec::new();
    for round in 0..PASSES_MAX / PASSES {
        let name = pass.name(round);
        let [first, second] = [Series::MISS, Series::HIT].map(|s| of(record, &name, s));
        if first.is_empty() {
            return Err(Stage::Make(*pass, round));
        }
        places.extend(
            first
                .iter()
                .zip(&second)
                .map(|(first, second)| place(*first, *second)),
        );
        let yes = places.iter().filter(|place| **place < SERVED).count() as f64;
        let no = places.iter().filter(|place| **place >= SERVED).count() as f64;
        let all = places.len() as f64;
        if yes >= AGREE * all {
            return Ok(Some(true));
        }
        if no >= AGREE * all {
            return Ok(Some(false));
        }
    }
    Ok(None)
}

pub(crate) fn search(
    record: &Record,
    most: u64,
    shortest: u64,
    good: &[Manner],
    best: Manner,
) -> Stage {
    let (mut low, mut high) = (0, None);
    let mut bytes = best.read * best.group;
    // A size that is not settled between two that are says nothing; two in a row that are not served are the end.
    let (mut beyond, mut unsettled) = (0, false);
    while bytes <= most && beyond < 2 {
        let pass = pass(good, bytes, best);
        match served(record, &pass) {
            Err(stage) => return stage,
            Ok(None) => unsettled = true,
            Ok(Some(true)) => (low, high, beyond, unsettled) = (pass.bytes, None, 0, false),
            Ok(Some(false)) => {
                high = high.or(Some(pass.bytes));
                beyond += 1;
            }
        }
        bytes = if bytes < most {
            (2 * bytes).min(most)
        } else {
            most + 1
        };
    }
    let Some(mut high) = high else {
        return match unsettled {
            true => Stage::Unsettled(low),
            false => Stage::Larger(low),
        };
    };
    if low == 0 {
        return Stage::Unsettled(high);
    }
    let finest = |low: u64| (low / RESOLUTION).max(1).next_multiple_of(shortest);
    while high - low > finest(low) {
        let middle = low + ((high - low) / 2 / shortest).max(1) * shortest;
        match served(record, &pass(good, middle, best)) {
            Err(stage) => return stage,
            Ok(None) => return Stage::Unsettled(middle),
            Ok(Some(true)) => low = middle,
            Ok(Some(false)) => high = middle,
        }
    }
    for (bytes, wanted) in [(low, true), (high, false)] {
        let again = Pass {
            again: true,
            ..pass(good, bytes, best)
        };
        match served(record, &again) {
            Err(stage) => return stage,
            Ok(Some(is)) if is == wanted => {}
            Ok(_) => return Stage::Unsettled(bytes),
        }
    }
    if high - low > low / COARSEST {
        return Stage::Unsettled(low);
    }
    if record.meta.read_only {
        let within = pass(good, (low / 2).next_multiple_of(shortest), best);
        match from_memory(record, &within) {
            None => return Stage::Within(within),
            Some(false) => return Stage::Flash,
            Some(true) => {}
        }
    }
    Stage::Found(low, high)
}

/// Whether reads of what a pass has read take as long everywhere; `None` where they were not made.
fn from_memory(record: &Record, pass: &Pass) -> Option<bool> {
    let samples: Vec<_> = of_step(record, PARAMETER, &pass.manner.name("within"))?.collect();
    Some(!place::matters(
        &written::rounds(&samples, Series::HIT),
        P_PLACE,
    ))
}
