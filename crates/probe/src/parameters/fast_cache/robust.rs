//! The size of the fast cache: the bytes of a fill in sequence after which its speed drops, on an empty drive.
//!
//! A drop alone is no cache. Each piece ends with a flush, so a write buffer of megabytes makes no piece faster; where memory
//! may be protected, the first 64 MiB do not count. The drive is trimmed first, so collection has nothing to move. The drop
//! must come again after as many bytes once the drive has rested, also from another address on. Heat and a limit of bytes in
//! front of a volume drop as well, and also slow down reads; if reads of the slow pieces are faster after a pause, the drive
//! is trimmed and filled again at once: a cache is then empty, and a hot drive still hot.
//!
//! The second signal: one bit per cell is read faster than several. A drive whose memory is smaller than a page programs pages
//! in part, uses up its erased blocks after a part of its capacity, and collects from then on: its speed drops after as many
//! bytes again and again, but what was written before the drop is read no faster than other data. And a map of which memory
//! holds a part slows writes down once it has to be written back: then what was written after the drop is in the cache, too.

use super::curve::{Drop, Piece, drop, recovery};
use super::load;
use super::measure::{
    EMPTY_STEP, Layout, PARAMETER, SHORT_STEP, again, again_step, filled, first, inside, seconds,
    short,
};
use super::series::{
    AFTER, AGAIN, EMPTY, HALF, NEARLY, READ_COOL, READ_FAST, READ_FULL, READ_HEAD, READ_HOT,
    READ_TAIL,
};
use crate::robust::limits;
use crate::robust::samples::{of_step, times};
use crate::robust::size::{size, time};
use crate::{Answers, Estimate, Level, Probe, Record, Series, Session, Space, Stop, Value};
use fathom_stats::separate::{Decision, separate};

/// The confidence and the relative difference from which reads count as faster after a pause.
const CONFIDENCE: f64 = 0.99;
const FASTER: f64 = 0.1;
/// The relative difference from which small reads of the cache count as faster.
const READ_FASTER: f64 = 0.02;
/// The share of the drive that the region has at least for *absent*.
const WHOLE: f64 = 0.9;

pub(crate) struct FastCache;

fn pieces(record: &Record, step: &str, series: Series) -> Vec<Piece> {
    let samples = of_step(record, PARAMETER, step).into_iter().flatten();
    let of = samples.filter(|s| s.series == series);
    of.map(|s| Piece {
        bytes: s.bytes as f64,
        ns: s.ns as f64,
    })
    .collect()
}

fn found(record: &Record, layout: &Layout) -> Option<Drop> {
    drop(&pieces(record, EMPTY_STEP, EMPTY), layout.memory as f64)
}

/// Returns true if reads of the slow pieces are faster after a pause.
fn reads_recover(record: &Record) -> bool {
    let of = |series| times(record, PARAMETER, EMPTY_STEP, series);
    let compared = separate(&of(READ_HOT), &of(READ_COOL), CONFIDENCE, FASTER);
    compared.is_some_and(|c| c.decision == Decision::Greater && c.ratio > 1.0 + FASTER)
}

/// Returns true if small reads of a series take no longer than those of what lies in the cache.
fn like_cache(record: &Record, series: Series) -> bool {
    let of = |series| -> Vec<f64> {
        let samples = record.series(PARAMETER, series);
        samples.map(|s| s.ns as f64).collect()
    };
    let compared = separate(&of(series), &of(READ_FAST), CONFIDENCE, READ_FASTER);
    compared.is_some_and(|c| c.decision != Decision::Greater)
}

/// Returns how many of the fills that were made again dropped after as many bytes, and how many there are.
fn agreeing(record: &Record, layout: &Layout, found: &Drop) -> [usize; 2] {
    let fills = layout
        .pauses()
        .map(|pause| pieces(record, &again_step(pause), AGAIN));
    let made: Vec<Vec<Piece>> = fills.filter(|fill| !fill.is_empty()).collect();
    let same = |fill: &&Vec<Piece>| {
        drop(fill, layout.memory as f64).is_some_and(|other| found.comes_again(&other))
    };
    [made.iter().filter(same).count(), made.len()]
}

/// Returns true if the cache is there again right after everything was trimmed.
fn there_again(record: &Record, layout: &Layout, found: &Drop) -> bool {
    let fill = pieces(record, SHORT_STEP, AGAIN);
    drop(&fill, layout.memory as f64).is_some_and(|other| found.comes_again(&other))
}

/// Returns the shares of the cache that the pauses gave back, with their seconds.
fn given_back(record: &Record, layout: &Layout, found: &Drop) -> Vec<(f64, f64)> {
    layout
        .pauses()
        .filter_map(|pause| {
            let fill = pieces(record, &again_step(pause), AFTER[pause]);
            let (fast, share) = (
                found.fast_bytes(&fill),
                found.fast_bytes(&fill) / found.bytes,
            );
            let all: f64 = fill.iter().map(|piece| piece.bytes).sum();
            // A fill that ends while it is fast tells only the least.
            let told = fast < all || share >= 1.0;
            told.then(|| (seconds(pause), share.min(1.0)))
        })
        .collect()
}

fn celsius(record: &Record) -> Option<[f64; 2]> {
    let mut steps = record.steps.iter();
    let step = steps.find(|s| s.parameter == PARAMETER && s.name == EMPTY_STEP)?;
    let of = |log: Option<&fathom_block::DriveLog>| log.and_then(|log| log.temperature_celsius);
    let (before, after) = (of(step.logs.first())?, of(step.logs.get(1))?);
    Some([f64::from(before), f64::from(after)])
}

fn without_drop(record: &Record, layout: &Layout, limited: bool) -> Estimate {
    let written: f64 = (pieces(record, EMPTY_STEP, EMPTY).iter())
        .map(|piece| piece.bytes)
        .sum();
    if written == 0.0 {
        return Estimate::inconclusive("no fill was measured");
    }
    if let Some(early) = drop(&pieces(record, EMPTY_STEP, EMPTY), 0.0) {
        return Estimate::inconclusive(format!(
            "writes in sequence drop ({}), so early that memory which a flush does not empty explains it as well as a cache",
            speeds(&early)
        ));
    }
    let whole = record.meta.target.capacity_bytes as f64;
    let (said, all) = (
        size(written as u64),
        layout.region.end - layout.region.start,
    );
    match all as f64 >= WHOLE * whole {
        _ if limited => Estimate::not_identifiable(format!(
            "the speed does not drop while {said} are written in sequence, but a limit in front of the drive sets it: a cache is \
             not seen behind it"
        )),
        true => Estimate::absent(format!(
            "the speed does not drop while {said} are written in sequence: the drive has no fast cache, or its link is no \
             faster than the other blocks"
        )),
        false => Estimate::not_identifiable(format!(
            "the speed does not drop within the {said} of the region, which is a part of the drive: a larger cache is not seen"
        )),
    }
}

fn speeds(found: &Drop) -> String {
    format!(
        "{:.0} MB/s up to {}, then {:.0} MB/s",
        found.fast / 1e6,
        size(found.bytes as u64),
        found.slow / 1e6
    )
}

fn with_drop(record: &Record, layout: &Layout, found: &Drop) -> Estimate {
    let speeds = speeds(found);
    let [same, made] = agreeing(record, layout, found);
    if reads_recover(record) && !there_again(record, layout, found) {
        return Estimate::not_identifiable(format!(
            "writes in sequence drop ({speeds}), but reads are slow as well, until a pause: heat or a limit explains it, and \
             hides a cache"
        ));
    }
    if made == 0 || 2 * same < made + 1 {
        return Estimate::inconclusive(format!(
            "writes in sequence drop ({speeds}), but only {same} of {made} fills after a rest drop after as many bytes"
        ));
    }
    if like_cache(record, READ_FULL) {
        return Estimate::not_identifiable(format!(
            "writes in sequence drop ({speeds}), but small reads of what was written before the drop take as long as others: it \
             lies in blocks of the same kind, and a drive that has used up its erased blocks slows down as well"
        ));
    }
    if like_cache(record, READ_HEAD) && like_cache(record, READ_TAIL) {
        return Estimate::inconclusive(format!(
            "writes in sequence drop ({speeds}), but small reads of what was written after the drop are as fast as of what was \
             written before: the cache holds both, and something else slows writes down, such as a map of which memory holds a part"
        ));
    }
    let back = given_back(record, layout, found);
    let again = match recovery(&back) {
        Some(seconds) => format!(
            "an idle drive has nine tenths of it back after {}",
            time(seconds * 1e9)
        ),
        None => "a pause alone gives none of it back".to_owned(),
    };
    let value = |bytes: f64| Value::Bytes(bytes as u64);
    let reason = format!("an empty drive takes {speeds}, in {same} of {made} fills again; {again}");
    Estimate::identified(value(found.bytes), reason).between(value(found.low), value(found.high))
}

/// Returns the size that a fill from half or nearly full on shows; `None` if all of it is fast.
fn size_of(record: &Record, series: Series, found: &Drop) -> Option<f64> {
    let fill = pieces(record, "filled", series);
    let fast = found.fast_bytes(&fill);
    let all: f64 = fill.iter().map(|piece| piece.bytes).sum();
    (fast < all).then_some(fast)
}

impl Probe for FastCache {
    fn bound(&self, space: &Space) -> u64 {
        Layout::of(space, true).map_or(0, |layout| layout.bound() + load::bound(&layout))
    }

    fn fruitless(&self, space: &Space) -> u64 {
        space.bytes()
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let volatile = session.info().volatile_cache;
        let Ok(layout) = Layout::of(&session.space(), volatile) else {
            return Ok(());
        };
        first(session, &layout)?;
        if let Some(drop) = found(session.record(), &layout) {
            for pause in layout.pauses() {
                again(session, &layout, drop.bytes as u64, pause)?;
            }
            if reads_recover(session.record()) {
                short(session, &layout, drop.bytes as u64)?;
            }
            inside(session, &layout, drop.bytes as u64)?;
            filled(session, &layout)?;
        }
        // Either way the region is full now.
        match layout.level {
            Level::Full => load::measure(session, &layout),
            Level::Quick => Ok(()),
        }
    }

    fn solve(&self, record: &Record, others: &Answers<'_>) -> Estimate {
        let layout = match Layout::of(&Space::of(record), record.meta.target.volatile_cache) {
            Ok(layout) => layout,
            Err(why) => return Estimate::inconclusive(why),
        };
        let Some(found) = found(record, &layout) else {
            return without_drop(record, &layout, limits::any(others));
        };
        if limits::any(others) {
            return Estimate::not_identifiable(format!(
                "writes in sequence drop ({}), but there is a limit in front of the drive: its burst ends like a cache",
                speeds(&found)
            ));
        }
        let back = given_back(record, &layout, &found);
        let [before, after] = celsius(record).map_or([None; 2], |c| c.map(Some));
        let figures = [
            ("fast_bytes_per_s", Some(found.fast)),
            ("slow_bytes_per_s", Some(found.slow)),
            ("size_half_full_bytes", size_of(record, HALF, &found)),
            ("size_nearly_full_bytes", size_of(record, NEARLY, &found)),
            ("recovery_s", recovery(&back)),
            ("before_celsius", before),
            ("after_celsius", after),
        ];
        let answer = with_drop(record, &layout, &found);
        figures
            .into_iter()
            .fold(answer, |answer, (name, figure)| match figure {
                Some(figure) => answer.figure(name, figure),
                None => answer,
            })
    }
}
