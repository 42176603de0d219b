//! How a drive is read: by which reads, and over which places.

use crate::robust::samples::times;
use crate::{Io, Parameter, Record, Series, Space, Stop};
use fathom_stats::location;
use fathom_stats::separate::mann_whitney_p;

const PARAMETER: Parameter = Parameter::ReadBuffer;

/// The longest read, in bytes.
pub(crate) const READ_MAX: u64 = 1 << 20;
/// A saving counts with this p-value, and from this share of the second time on.
const P: f64 = 1e-5;
const SAVES: f64 = 0.05;
/// Neighbouring places of a trial: several, so that reads shorter than a line of the buffer do not look better than they are;
/// or a single one, of which more do not fit into it.
const GROUP: u64 = 4;

/// How places are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Manner {
    /// Bytes of a read.
    pub(crate) read: u64,
    /// As many at a time as the drive takes, or one.
    pub(crate) many: bool,
    /// Neighbouring places of a trial.
    pub(crate) group: u64,
}

impl Manner {
    pub(crate) fn name(self, what: &str) -> String {
        let how = if self.many { "many" } else { "one" };
        format!("{what} {} x {} {how} at a time", self.group, self.read)
    }

    /// Every manner, the shortest read first.
    pub(crate) fn all(space: &Space, longest: u64) -> Vec<Manner> {
        let most = READ_MAX.min(longest).min(space.span() / 64);
        let reads = std::iter::successors(Some(space.block_bytes), |read| Some(read * 2));
        reads
            .take_while(|read| *read <= most)
            .flat_map(|read| {
                let manners = [(false, GROUP), (true, GROUP), (false, 1)];
                manners.map(|(many, group)| Manner { read, many, group })
            })
            .collect()
    }

    /// A pass over the places of a trial.
    pub(crate) fn pass(self) -> Pass {
        Pass {
            manner: self,
            bytes: self.group * self.read,
            again: false,
        }
    }

    pub(crate) fn read(self, io: &mut Io<'_>, places: &[(u64, u64)]) -> Result<(), Stop> {
        let depth = if self.many { u32::MAX } else { 1 };
        io.read_queued(places, depth).map(|_| ())
    }
}

/// A pass over neighbouring places, twice; the last read is shorter where the whole is no multiple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pass {
    pub(crate) manner: Manner,
    pub(crate) bytes: u64,
    pub(crate) again: bool,
}

impl Pass {
    pub(crate) fn count(&self) -> u64 {
        self.bytes.div_ceil(self.manner.read)
    }

    pub(crate) fn name(&self, round: u32) -> String {
        let what = if self.again { "repeat" } else { "pass" };
        let how = if self.manner.many { "many" } else { "one" };
        let (bytes, read) = (self.bytes, self.manner.read);
        format!("{what} {bytes} by {read} {how} at a time, round {round}")
    }

    /// The places from `offset` on, downwards: that is no stream, and places of one line of the buffer come together.
    pub(crate) fn places(&self, offset: u64) -> Vec<(u64, u64)> {
        let read = self.manner.read;
        let down = (0..self.count()).rev().map(|i| i * read);
        down.map(|at| (offset + at, read.min(self.bytes - at)))
            .collect()
    }
}

pub(crate) fn of(record: &Record, name: &str, series: Series) -> Vec<f64> {
    times(record, PARAMETER, name, series)
}

/// First and second times of a trial's places, and whether the second is shorter; `None` where it was not made.
pub(crate) fn trial(record: &Record, manner: Manner) -> Option<(f64, f64, bool)> {
    let arms = [Series::MISS, Series::HIT].map(|s| of(record, &manner.name("try"), s));
    let (miss, hit) = (location::median(&arms[0])?, location::median(&arms[1])?);
    let saves = miss > (1.0 + SAVES) * hit && mann_whitney_p(&arms[0], &arms[1])? < P;
    Some((miss, hit, saves))
}

/// Several places tell more than one, and one at a time more than many, which wait for each other.
pub(crate) fn rank(manner: Manner, ratio: f64) -> (bool, bool, f64) {
    (manner.group > 1, !manner.many, ratio)
}
