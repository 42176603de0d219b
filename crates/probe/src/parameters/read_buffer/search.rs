//! Searches for the largest size of which a second pass is served by the buffer.

use super::manner::{Manner, Pass, of, trial};
use super::measure::PASSES;
use crate::robust::samples::of_step;
use crate::robust::written;
use crate::{Parameter, Record, Series};
use fathom_stats::place;

const PARAMETER: Parameter = Parameter::ReadBuffer;

/// The next step, or the result, computed from the record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stage {
    Try(Manner),
    Unmapped(Manner),
    Make(Pass, u32),
    /// Reads within the bytes that this pass serves a second time.
    Within(Pass),
    /// Memory serves the first size and not the second, in bytes.
    Found(u64, u64),
    /// Every size up to this one is served, in bytes.
    Larger(u64),
    /// The second read only saves a look-up in the map.
    Map,
    /// The second read possibly saves only a look-up: a read of what is kept depends on its place.
    Flash,
    Nothing,
    Unsettled(u64),
}

const PASSES_MAX: u32 = 15;
/// The share of the passes that must agree.
const AGREE: f64 = 0.8;
/// The least number of reads of a pass for which longer reads are used, if those show the buffer nearly as well.
const READS: u64 = 512;
/// The search ends when the sizes differ by less than the capacity divided by this.
const RESOLUTION: u64 = 1024;
/// The answer is not settled if the sizes differ by more than the capacity divided by this, because the shortest buffered
/// read is too long.
const COARSEST: u64 = 4;
/// A pass is served if its time lies below this fraction of the way from a served pass to an unserved one. Less than half:
/// if the map is read from flash, a second pass that is not served saves that read.
const SERVED: f64 = 0.3;
/// The least ratio of a first pass to a served one.
const FIRST_MIN: f64 = 1.005;
/// The p-value at which the place of reads matters.
const P_PLACE: f64 = 0.01;

/// Returns a pass over `bytes` with the longest suitable reads.
fn pass(good: &[Manner], bytes: u64, best: Manner) -> Pass {
    let long = good.iter().rev().find(|m| m.read * READS <= bytes).copied();
    Pass {
        manner: long.unwrap_or(best),
        bytes,
        again: false,
    }
}

/// Returns whether the second pass is served, `None` if that is not settled; `Err` is the stage that must be made first.
fn served(record: &Record, pass: &Pass) -> Result<Option<bool>, Stage> {
    let Some((_, hit, _)) = trial(record, pass.manner) else {
        return Ok(None);
    };
    let all_hit = hit / pass.manner.group as f64 * pass.count() as f64;
    // 0 for a pass that is served, 1 for one that takes as long as the first; not a number if the first one was also served.
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
    // An unsettled size between two settled ones is ignored. Two sizes in a row that are not served end the search.
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

/// Returns true if reads of what a pass has read take equally long everywhere; `None` if they were not made.
fn from_memory(record: &Record, pass: &Pass) -> Option<bool> {
    let samples: Vec<_> = of_step(record, PARAMETER, &pass.manner.name("within"))?.collect();
    Some(!place::matters(
        &written::rounds(&samples, Series::HIT),
        P_PLACE,
    ))
}
