//! Pairs of streams of small writes: one stream across multiples of a size, one elsewhere.

use crate::robust::samples::of_step;
use crate::{Parameter, Record, Series, Session, Stop};
use fathom_stats::location;
use std::collections::BTreeMap;

const PARAMETER: Parameter = Parameter::ClusteredPage;

/// The number of pairs of streams in a round.
pub(crate) const PAIRS: u32 = 6;
/// The number of parts in which a stream is timed: a garbage collection lengthens only one of them.
const PARTS: u64 = 16;
/// Scatters the places that are no multiples. A prime.
const SCATTER: u64 = 1_000_003;
/// The prefix of the step names.
const STREAMS: &str = "streams of ";

/// Streams at multiples of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stream {
    /// The size in bytes.
    pub(crate) size: u64,
    pub(crate) writes: u64,
    /// Whether this is the confirmation of a unit that was found.
    pub(crate) again: bool,
}

/// Returns the time that streams took, in nanoseconds.
pub(crate) fn spent_ns(record: &Record) -> u64 {
    let steps = record.steps.iter().filter(|s| s.name.starts_with(STREAMS));
    steps.map(|step| step.cost.device_ns).sum()
}

impl Stream {
    fn name(self, round: u32) -> String {
        let again = if self.again { "again " } else { "" };
        let Self { size, writes, .. } = self;
        format!("{STREAMS}{writes} at multiples of {size} {again}round {round}")
    }

    /// Returns how many rounds were measured.
    pub(crate) fn rounds(self, record: &Record) -> u32 {
        let measured = |round: &u32| of_step(record, PARAMETER, &self.name(*round)).is_some();
        (0..).take_while(measured).count() as u32
    }

    /// Returns the median time of the parts of each stream, in nanoseconds. The parts of one stream are not independent.
    pub(crate) fn times(self, record: &Record, series: Series) -> BTreeMap<u32, f64> {
        let mut parts = BTreeMap::<u32, Vec<f64>>::new();
        let rounds = (0..).map_while(|round| of_step(record, PARAMETER, &self.name(round)));
        for sample in rounds.flatten().filter(|s| s.series == series) {
            parts.entry(sample.rep).or_default().push(sample.ns as f64);
        }
        let typical = parts
            .iter()
            .filter_map(|(&pair, times)| Some((pair, location::median(times)?)));
        typical.collect()
    }

    /// Returns for every pair the logarithm of the ratio of its two streams.
    pub(crate) fn logs(self, record: &Record) -> Vec<f64> {
        let within = self.times(record, Series::STREAM_WITHIN);
        let across = self.times(record, Series::STREAM_ACROSS).into_iter();
        let logs =
            across.filter_map(|(pair, ns)| Some((ns.max(1.0) / within.get(&pair)?.max(1.0)).ln()));
        logs.collect()
    }

    pub(crate) fn measure(self, session: &mut Session<'_>) -> Result<(), Stop> {
        let space = session.space();
        let round = self.rounds(session.record());
        let (region, block) = (session.region().start, space.block_bytes);
        let first = (region + 1).next_multiple_of(self.size);
        let places = (region + space.span() - first) / self.size - 1;
        session.step(PARAMETER, &self.name(round), |io| {
            for pair in 0..PAIRS {
                let mut arms = [Series::STREAM_ACROSS, Series::STREAM_WITHIN];
                io.rng.shuffle(&mut arms);
                for series in arms {
                    let list = (0..2 * self.writes).map(|_| {
                        let place = io.rng.below(places);
                        let middle = first + self.middle(series, place, block);
                        (middle - block, 2 * block)
                    });
                    let list: Vec<(u64, u64)> = list.collect();
                    let (before, stream) = list.split_at(self.writes as usize);
                    io.write_queued(before, u32::MAX)?;
                    for part in stream.chunks(self.writes.div_ceil(PARTS) as usize) {
                        io.write_queued(part, u32::MAX)?;
                        io.sample(series, self.size, round * PAIRS + pair);
                    }
                }
            }
            Ok(())
        })
    }

    /// Returns the middle of a write, in bytes from the first multiple. There are as many different places within as across.
    fn middle(self, series: Series, multiple: u64, block: u64) -> u64 {
        let inside = match series {
            Series::STREAM_ACROSS => 0,
            _ => 1 + multiple.wrapping_mul(SCATTER) % (self.size / block - 1),
        };
        multiple * self.size + inside * block
    }
}
