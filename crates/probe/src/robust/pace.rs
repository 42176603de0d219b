//! Slow reading behind a limit: a volume that has served its burst serves only so many requests a second, whatever they
//! ask for, and hides the drive.
//!
//! After a measurement, pairs of reads are made without a pause, then again after a pause. Pairs that are slower without it
//! waited for a limit. The measurement is then made a second time, with a pause before each request that leaves the limit
//! enough time; the samples before that do not count.

use crate::{Io, Parameter, Record, Series, Session, Stop};
use fathom_base::Dur;
use fathom_stats::location::median;
use fathom_stats::separate::{Decision, separate};
use std::ops::Range;

/// Two reads at once, without a pause before them, and after one.
const RUSHED: Series = Series::new("rushed");
const RESTED: Series = Series::new("rested");

const NAME: &str = "limit";
/// The pairs of a series. A limit of a few hundred requests a second serves the second series from what a pause refills.
const PAIRS: u32 = 48;
const REST: Dur = Dur::ms(500);
/// The pause before each pair of the second series, as a part of the one before all: a limit without a burst has no more saved.
const BETWEEN: u64 = 25;
/// The confidence and the relative difference from which pairs without a pause count as slower.
const CONFIDENCE: f64 = 0.99;
const SLOWER: f64 = 0.05;
/// The pause before a request, as a multiple of the time that the limit needs for one.
const PAUSE: f64 = 1.3;

/// Returns the time that a limit needs for a request, in nanoseconds; `None` if none was seen.
fn limit_ns(record: &Record, of: Parameter) -> Option<f64> {
    let times = |series| -> Vec<f64> { record.series(of, series).map(|s| s.ns as f64).collect() };
    let rushed = times(RUSHED);
    let compared = separate(&rushed, &times(RESTED), CONFIDENCE, SLOWER)?;
    match compared.decision {
        Decision::Greater => Some(median(&rushed)? / 2.0),
        _ => None,
    }
}

/// Returns the first step whose samples count.
pub(crate) fn since(record: &Record, of: Parameter) -> u32 {
    let mut steps = record.steps.iter();
    match steps.position(|step| step.parameter == of && step.name == NAME) {
        Some(step) if limit_ns(record, of).is_some() => step as u32 + 1,
        _ => 0,
    }
}

/// How fast requests may be made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pace {
    /// The pause before each request.
    pause: Dur,
}

impl Pace {
    /// Returns the pace that a parameter has found to be needed.
    pub(crate) fn of(record: &Record, of: Parameter) -> Self {
        let pause = limit_ns(record, of).map_or(0.0, |ns| PAUSE * ns);
        Self {
            pause: Dur(pause as u64),
        }
    }

    /// Returns true if requests need pauses.
    pub(crate) fn is_slow(self) -> bool {
        self.pause > Dur::ZERO
    }

    /// Pauses before so many requests.
    pub(crate) fn wait(self, io: &mut Io<'_>, requests: u64) -> Result<(), Stop> {
        match self.is_slow() {
            true => io.idle(Dur(self.pause.0 * requests)),
            false => Ok(()),
        }
    }

    /// Returns the name of a step at this pace.
    pub(crate) fn name(self, name: &str) -> String {
        match self.is_slow() {
            true => format!("{name}, slowly"),
            false => name.to_owned(),
        }
    }
}

/// Makes a measurement, and once more slowly if a limit disturbed it.
pub(crate) fn paced(
    session: &mut Session<'_>,
    of: Parameter,
    measure: impl Fn(&mut Session<'_>, Pace) -> Result<(), Stop>,
) -> Result<(), Stop> {
    measure(session, Pace::default())?;
    let space = session.space();
    look(
        session,
        of,
        space.region.start..space.region.start + space.span(),
    )?;
    match Pace::of(session.record(), of) {
        pace if pace.is_slow() => measure(session, pace),
        _ => Ok(()),
    }
}

fn look(session: &mut Session<'_>, of: Parameter, part: Range<u64>) -> Result<(), Stop> {
    let block = session.space().block_bytes;
    let slots = ((part.end - part.start) / block).max(1);
    session.step(of, NAME, |io| {
        for (series, rest) in [(RUSHED, Dur::ZERO), (RESTED, REST)] {
            io.idle(rest)?;
            for rep in 0..PAIRS {
                io.idle(Dur(rest.0 / BETWEEN))?;
                let places = [0; 2].map(|_| part.start + io.rng.below(slots) * block);
                io.read_queued(&places.map(|at| (at, block)), 2)?;
                io.sample(series, block, rep);
            }
        }
        Ok(())
    })
}
