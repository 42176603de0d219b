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
        (None, Level::Quick) => (1_000, Dur::ms(15_000)),
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
        let began = io.now();
        let mut took: Vec<u64> = Vec::new();
        for rep in 0..batches {
            let elapsed = io.now().since(began);
            let mark = io.mark(space.region.start);
            let asks: Vec<Ask> = (0..kind.batch).map(|_| any(io, &space, kind)).collect();
            io.serve(&asks, DEPTH)?;
            io.sample_since(&mark, Timed::Read, series, elapsed.0, rep);
            took.push(io.now().since(began).0 - elapsed.0);
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

fn any(io: &mut Io<'_>, space: &Space, kind: Kind) -> Ask {
    let longest = io.info().max_request_bytes;
    let len = kind.read.min(longest).max(space.block_bytes);
    let len = len / space.block_bytes * space.block_bytes;
    let slots = (space.span() / len).max(1);
    Ask::read(space.region.start + io.rng.below(slots) * len, len)
}
