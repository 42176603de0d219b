//! The manner in which a drive is read: the length of the reads, their number in flight, and the places.

use crate::robust::samples::times;
use crate::{Io, Parameter, Record, Series, Space, Stop};
use fathom_stats::location;
use fathom_stats::separate::mann_whitney_p;

const PARAMETER: Parameter = Parameter::ReadBuffer;

/// The longest read, in bytes.
pub(crate) const READ_MAX: u64 = 1 << 20;
/// The p-value at which a saving counts, and its least share of the second time.
const P: f64 = 1e-5;
const SAVES: f64 = 0.05;
/// The number of neighbouring places of a trial: several, so that reads shorter than a line of the buffer do not look better
/// than they are, or else a single one, for reads of which no more fit in the buffer.
const GROUP: u64 = 4;

/// How places are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Manner {
    /// The bytes of a read.
    pub(crate) read: u64,
    /// Whether as many reads are in flight as the drive takes, instead of one.
    pub(crate) many: bool,
    /// The number of neighbouring places of a trial.
    pub(crate) group: u64,
}

impl Manner {
    pub(crate) fn name(self, what: &str) -> String {
        let how = if self.many { "many" } else { "one" };
        format!("{what} {} x {} {how} at a time", self.group, self.read)
    }

    /// Returns every manner, the shortest reads first.
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

    /// Returns a pass over the places of a trial.
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

/// Two passes over the same neighbouring places. If the bytes are not a multiple of a read, the last read is shorter.
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

    /// Returns the places from `offset` on, in descending order: that is no sequential stream, and the places of one line of
    /// the buffer follow one another.
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

/// Returns the median first and second times of the places of a trial, and whether the second is shorter; `None` if it was
/// not made.
pub(crate) fn trial(record: &Record, manner: Manner) -> Option<(f64, f64, bool)> {
    let arms = [Series::MISS, Series::HIT].map(|s| of(record, &manner.name("try"), s));
    let (miss, hit) = (location::median(&arms[0])?, location::median(&arms[1])?);
    let saves = miss > (1.0 + SAVES) * hit && mann_whitney_p(&arms[0], &arms[1])? < P;
    Some((miss, hit, saves))
}

/// Returns the rank of a manner. Several places show more than one. One read at a time shows more than many, which wait for
/// each other.
pub(crate) fn rank(manner: Manner, ratio: f64) -> (bool, bool, f64) {
    (manner.group > 1, !manner.many, ratio)
}
