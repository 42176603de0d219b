//! How much the flash has taken out of memory while it was filled.
//!
//! A drive that programs as soon as something is in its memory empties it while it is filled: the first write that waits
//! comes at the capacity and what left until then. The flash programs no faster then than when memory is full, so that the
//! rate of the writes that wait bounds what left, and room is free only when a program ends: the longest of these waits is
//! the least time of one. A drive that programs only when its memory is full, or after a pause, is not of this sort: filled more slowly
//! its memory takes as much.

use super::filling::Pass;
use super::steps::Kind;
use crate::robust::samples::of_step;
use crate::robust::size::{SEEN, size};
use crate::{Estimate, Parameter, Record, Series, Value};
use fathom_base::Dur;
use fathom_stats::location::{mean, median, quantile};

const PARAMETER: Parameter = Parameter::WriteBuffer;
/// The wait that counts as the longest, as a share of them.
const LONGEST: f64 = 0.95;
/// The most that may have left memory meanwhile, as a share of what it took: more leaves the capacity open by over a quarter.
const GONE_MAX: f64 = 0.2;

/// What memory holds, if the flash empties it while it is filled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Drained {
    /// The likely capacity, in bytes.
    pub(super) value: u64,
    /// The least one, if the flash wrote all the time.
    pub(super) least: u64,
}

impl Drained {
    /// Returns the answer; `seen` is where the first write waits, in bytes.
    pub(super) fn answer(&self, seen: u64) -> Estimate {
        let Drained { value, least } = *self;
        let answer = match (seen - least) as f64 <= GONE_MAX * seen as f64 {
            true => {
                let reason = format!(
                    "the first write waits after {}, and filled more slowly memory takes more: the flash empties it meanwhile, by \
                     up to {} at the rate of the writes that wait",
                    size(seen),
                    size(seen - least)
                );
                let answer = Estimate::identified(Value::Bytes(value), reason);
                answer.between(Value::Bytes(least), Value::Bytes(seen))
            }
            false => Estimate::inconclusive(format!(
                "the first write waits after {}, and filled more slowly memory takes more: the flash empties it meanwhile, so fast that \
                 it may hold no more than {}",
                size(seen),
                size(least)
            )),
        };
        answer.figure(SEEN, seen as f64)
    }
}

/// A pass that saw a place.
pub(super) struct Seen<'a> {
    pub(super) pass: &'a Pass,
    pub(super) kind: Kind,
}

/// The times of the pieces of one step.
struct Pieces {
    /// Of those that fit and of those beyond, in nanoseconds.
    fitting: Vec<f64>,
    waiting: Vec<f64>,
    piece: f64,
}

impl Pieces {
    fn of(record: &Record, seen: &Seen<'_>, place: (u64, u64)) -> Option<Self> {
        let name = seen.kind.name(seen.pass);
        let samples = of_step(record, PARAMETER, &name)?.filter(|s| s.series == Series::FILLING);
        let (mut fitting, mut waiting) = (Vec::new(), Vec::new());
        for sample in samples {
            match sample.x {
                x if x <= place.0 => fitting.push(sample.ns as f64),
                x if x > place.1 => waiting.push(sample.ns as f64),
                _ => {}
            }
        }
        let piece = seen.pass.piece as f64;
        Some(Self {
            fitting,
            waiting,
            piece,
        })
    }

    /// Returns the time of memory and of the flash for a byte, in nanoseconds.
    fn each(&self) -> Option<(f64, f64)> {
        Some((
            median(&self.fitting)? / self.piece,
            mean(&self.waiting)? / self.piece,
        ))
    }
}

/// Returns the time in which the flash takes so many bytes, by the writes that waited for it in a pass that saw a place.
pub(super) fn time(record: &Record, seen: &Seen<'_>, place: (u64, u64), bytes: u64) -> Option<Dur> {
    let (_, flash) = Pieces::of(record, seen, place)?.each()?;
    Some(Dur((flash * bytes as f64) as u64))
}

/// Returns what memory holds if it is emptied while it is filled: `wide` is the pass that saw `place`, and `again` the one
/// that saw it again.
pub(super) fn drained(
    record: &Record,
    wide: &Seen<'_>,
    again: &Seen<'_>,
    place: (u64, u64),
    block: u64,
) -> Option<Drained> {
    let first = Pieces::of(record, wide, place)?;
    let again = Pieces::of(record, again, place)?;
    let (memory, slow) = first.each()?;
    let flash = again.each().map_or(slow, |(_, flash)| flash.min(slow));
    let edge = place.0 as f64;
    let lag = quantile(&again.waiting, LONGEST).unwrap_or(0.0);
    let gone = edge * memory / flash;
    let held = |gone: f64| ((edge - gone).max(0.0) / block as f64).round() as u64 * block;
    Some(Drained {
        value: held((gone - lag / flash).max(0.0)),
        least: held(gone),
    })
}
