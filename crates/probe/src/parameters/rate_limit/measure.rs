//! The steps that take the samples of the limits.

use crate::record::{Level, Timed};
use crate::session::Ask;
use crate::{Io, Parameter, Series, Session, Space, Stop};
use fathom_base::Dur;

/// Reads at full speed, in batches.
pub(super) const BATCH: Series = Series::new("batch");
/// The same after a short and after a long pause.
pub(super) const AFTER_SHORT: Series = Series::new("after_short");
pub(super) const AFTER_LONG: Series = Series::new("after_long");
/// As many reads at once as `x` says, after a pause, and reads at this depth without one.
pub(super) const RESTED: Series = Series::new("rested_group");
pub(super) const STEADY: Series = Series::new("steady");

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) parameter: Parameter,
    /// The length of a read, in bytes.
    pub(crate) read: u64,
    /// The reads of a batch.
    pub(crate) batch: u64,
    /// Whether bytes are counted and not requests.
    pub(crate) bytes: bool,
}

/// The reads in flight.
const DEPTH: u32 = 32;
/// The time of a batch from which on it is shorter, and the part of the reads that it has then.
const SLOW_BATCH: Dur = Dur::ms(500);
const SHORTER: u64 = 32;
/// The groups of a depth, at each level, the least pause before each, and the longest.
const GROUPS: [u32; 2] = [12, 32];
const PAUSE: [Dur; 2] = [Dur::ms(100), Dur::ms(2_000)];
/// The batches without a pause before any counts, and those that count: for so many seconds, at each level, and at most so many.
const EMPTIED: u64 = 2;
const STEADY_S: [f64; 2] = [1.0, 4.0];
const STEADY_MAX: u64 = 128;
/// The pauses that refill a bucket.
pub(super) const PAUSES: [(Series, Dur); 2] =
    [(AFTER_SHORT, Dur::ms(2_000)), (AFTER_LONG, Dur::ms(6_000))];
/// The batches after a pause.
const BATCHES_AFTER: u32 = 400;
/// A run of batches ends when the level has been this low for so many batches: the bucket is empty.
const ENDS: (f64, usize) = (0.7, 24);
/// The pause before the first run, at each level: what was read before has emptied the buckets.
const REST: [Dur; 2] = [Dur::ms(6_000), Dur::ms(40_000)];
/// The time for which the first run goes on after a drop, at each level: a second limit with a larger bucket may follow.
const ON: [Dur; 2] = [Dur::ms(2_000), Dur::ms(20_000)];

pub(super) fn name(series: Series) -> String {
    format!("run {series}")
}

/// Reads at full speed until the level drops, or until the time or the number of batches is over.
pub(super) fn run(session: &mut Session<'_>, kind: Kind, series: Series) -> Result<(), Stop> {
    let space = session.space();
    let pause = PAUSES.iter().find(|(of, _)| *of == series);
    let (batches, time) = match (pause, space.level) {
        (Some(_), _) => (BATCHES_AFTER, Dur::ms(20_000)),
        (None, Level::Quick) => (1_000, Dur::ms(10_000)),
        (None, Level::Full) => (2_000, Dur::ms(120_000)),
    };
    session.step(kind.parameter, &name(series), |io| {
        let level = usize::from(space.level == Level::Full);
        io.idle(pause.map_or(REST[level], |(_, pause)| *pause))?;
        let on = if pause.is_some() {
            Dur::ZERO
        } else {
            ON[level]
        };
        let mut ends = time;
        // A few reads tell how slow they are.
        let first = io.now();
        serve(io, &space, kind, DEPTH, shorter(kind), None)?;
        let began = io.now();
        let (mut took, mut reads): (Vec<u64>, u64) =
            (Vec::new(), next(kind, began.since(first).0 / shorter(kind)));
        for rep in 0..batches {
            let elapsed = io.now().since(began);
            let mark = io.mark(space.region.start);
            let asks: Vec<Ask> = (0..reads).map(|_| any(io, &space, kind)).collect();
            io.serve(&asks, DEPTH)?;
            io.sample_since(&mark, Timed::Read, series, elapsed.0, rep);
            let ns = io.now().since(began).0 - elapsed.0;
            took.push(ns / reads);
            reads = next(kind, ns / reads);
            if ends == time && dropped(&took) {
                ends = time.min(elapsed + on);
            }
            if elapsed >= ends {
                break;
            }
        }
        Ok(())
    })
}

/// Returns the reads of the next batch, where a read took so long.
fn next(kind: Kind, ns: u64) -> u64 {
    match ns * kind.batch > SLOW_BATCH.0 {
        true => shorter(kind),
        false => kind.batch,
    }
}

/// Returns the reads of a batch where those of usual length take long.
fn shorter(kind: Kind) -> u64 {
    (kind.batch / SHORTER).max(2)
}

/// Returns the depths at which a constant rate is looked at, ascending.
pub(super) fn depths(queue_depth: u32) -> Vec<u32> {
    let most = DEPTH.min(queue_depth);
    let mut depths = vec![1, (most / 2).max(1), most.max(1)];
    depths.dedup();
    depths
}

/// Returns the least and the largest depth.
fn ends(depths: &[u32]) -> impl Iterator<Item = &u32> {
    let (first, last) = (depths.first(), depths.last());
    first.into_iter().chain(last.filter(|_| depths.len() > 1))
}

/// Reads groups at once after pauses, then without pauses, at every depth. `rate` is that of the reads in the run before.
pub(super) fn gate(session: &mut Session<'_>, kind: Kind, rate: f64) -> Result<(), Stop> {
    let (space, depths) = (session.space(), depths(session.info().queue_depth));
    let level = usize::from(space.level == Level::Full);
    session.step(kind.parameter, "after pauses", |io| {
        for rep in 0..GROUPS[level] {
            for depth in ends(&depths) {
                let refill = Dur((2.0 * f64::from(*depth) / rate.max(1e-3) * 1e9) as u64);
                io.idle(refill.clamp(PAUSE[0], PAUSE[1]))?;
                let group = (RESTED, u64::from(*depth));
                serve(io, &space, kind, *depth, group.1, Some((group.0, rep)))?;
            }
        }
        Ok(())
    })?;
    let slow = kind.batch as f64 / rate.max(1e-3) > SLOW_BATCH.0 as f64 / 1e9;
    let kind = Kind {
        batch: if slow { shorter(kind) } else { kind.batch },
        ..kind
    };
    let batches = (STEADY_S[level] * rate / kind.batch as f64).ceil() as u64;
    let batches = batches.clamp(EMPTIED, STEADY_MAX);
    session.step(kind.parameter, "without pauses", |io| {
        for depth in &depths {
            serve(io, &space, kind, *depth, EMPTIED * kind.batch, None)?;
            for rep in 0..batches {
                let sampled = Some((STEADY, rep as u32));
                serve(io, &space, kind, *depth, kind.batch, sampled)?;
            }
        }
        Ok(())
    })
}

/// Serves random reads at a depth, as one sample if a series is given.
fn serve(
    io: &mut Io<'_>,
    space: &Space,
    kind: Kind,
    depth: u32,
    reads: u64,
    sampled: Option<(Series, u32)>,
) -> Result<(), Stop> {
    let asks: Vec<Ask> = (0..reads).map(|_| any(io, space, kind)).collect();
    let mark = io.mark(space.region.start);
    io.serve(&asks, depth)?;
    if let Some((series, rep)) = sampled {
        io.sample_since(&mark, Timed::Read, series, u64::from(depth), rep);
    }
    Ok(())
}

/// Returns true if the last batches all took clearly longer than the fastest quarter.
fn dropped(took: &[u64]) -> bool {
    let (share, count) = ENDS;
    let Some(last) = took.len().checked_sub(count) else {
        return false;
    };
    let mut sorted = took.to_vec();
    sorted.sort_unstable();
    let fast = sorted[sorted.len() / 20] as f64;
    took[last..].iter().all(|ns| share * *ns as f64 > fast)
}

/// Returns the length of a read, in bytes, on a drive that takes no longer requests than that.
pub(super) fn read_bytes(space: &Space, kind: Kind, longest: u64) -> u64 {
    let len = kind.read.min(longest).max(space.block_bytes);
    len / space.block_bytes * space.block_bytes
}

fn any(io: &mut Io<'_>, space: &Space, kind: Kind) -> Ask {
    let len = read_bytes(space, kind, io.info().max_request_bytes);
    let slots = (space.span() / len).max(1);
    Ask::read(space.region.start + io.rng.below(slots) * len, len)
}
