//! The steps that take the samples of the stalls.

use crate::record::{Level, Timed};
use crate::robust::samples::of_step;
use crate::session::{Ask, Served};
use crate::{Io, Parameter, Record, Sample, Series, Session, Space, Stop};
use fathom_base::{Dur, Time};

/// Waits for the host's own timer, beyond the time asked for.
pub(super) const TIMER: Series = Series::new("timer");
/// Single reads one after another.
pub(super) const ALONE: Series = Series::new("alone");
/// The median read of a window, with nothing else going on.
pub(super) const TYPICAL: Series = Series::new("typical");
/// The slowest reads of a window.
pub(super) const SLOWEST: Series = Series::new("slowest");
/// The median read of a window, during writes.
pub(super) const TYPICAL_WRITING: Series = Series::new("typical_writing");
/// The slowest reads of a window, during writes.
pub(super) const SLOWEST_WRITING: Series = Series::new("slowest_writing");
/// Slow reads of a window that are not among the slowest, with the number of slower ones; and those during writes.
pub(super) const TAIL: Series = Series::new("tail");
pub(super) const TAIL_WRITING: Series = Series::new("tail_writing");
/// The last reads of a window that were answered one after another, each later than it was due, with the time that this took.
pub(super) const BEHIND: Series = Series::new("behind");

pub(super) const PARAMETER: Parameter = Parameter::Stalls;
pub(super) const TIMER_STEP: &str = "timer";
pub(super) const ALONE_STEP: &str = "alone";
/// The length of a read, in bytes, if the logical block is not longer.
const READ: u64 = 4096;
/// The reads one after another, and the waits for the timer.
const SINGLE: u32 = 512;
const WAITS: u32 = 256;
const WAIT: Dur = Dur::us(200);
/// The interval between two reads is this many times the latency of a read, and at least so long: most reads find the drive
/// idle, so what delays them is the drive's own work.
const APART: u64 = 4;
const APART_MIN: Dur = Dur::us(200);
/// The reads at the end of a window that all waited, from which on the window is taken to have asked for too many; the next one
/// asks for a read in so many times what an answer took.
const BEHIND_MIN: usize = 32;
const SLOWER: u64 = 2;
/// The largest number of reads in flight: those that a stall holds back.
const DEPTH: u32 = 64;
/// Of each window, one read in so many is kept, the slowest ones; and at least the second number.
const KEPT: (usize, usize) = (1000, 16);
/// Of a window without writes all stalled reads are kept, up to so many.
const STALLED_KEPT: usize = 2000;
/// Of the other slow reads of a window, one in so many, so many are kept, evenly over the logarithm of their rank.
const TAIL_SHARE: usize = 20;
const TAIL_KEPT: usize = 48;
/// The length of a write, in bytes, and the rate of writes, in bytes per second.
const WRITE: u64 = 64 << 10;
const WRITES_PER_SECOND: u64 = 16 << 20;

/// The typical read, and the latencies from which one is slow and from which it counts as stalled, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Levels {
    pub(super) typical: f64,
    pub(super) slow: f64,
    pub(super) stalled: f64,
}

/// The lengths of a measurement: its windows of reads, those of reads with writes, and the length of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lengths {
    pub(super) quiet: u32,
    pub(super) writing: u32,
    pub(super) window: Dur,
}

impl Lengths {
    pub(super) fn of(space: &Space) -> Self {
        let (quiet, writing, seconds) = match space.level {
            Level::Quick => (8, 4, 1),
            Level::Full => (60, 12, 10),
        };
        Self {
            quiet,
            writing,
            window: Dur::ms(1000 * seconds),
        }
    }

    /// Returns the bytes that a window writes.
    fn written(&self) -> u64 {
        let bytes = u128::from(WRITES_PER_SECOND) * u128::from(self.window.0) / 1_000_000_000;
        (bytes as u64).next_multiple_of(WRITE)
    }

    /// Returns the most that all windows write, in bytes.
    pub(super) fn bound(&self) -> u64 {
        u64::from(self.writing) * (self.written() + WRITE)
    }
}

/// Measures how late the host's own timer is: a read cannot be seen earlier than the host runs.
pub(super) fn timer(session: &mut Session<'_>) -> Result<(), Stop> {
    session.step(PARAMETER, TIMER_STEP, |io| {
        for rep in 0..WAITS {
            let mark = io.mark(0);
            io.idle(WAIT)?;
            io.sample_since(&mark, Timed::Idle, TIMER, WAIT.0, rep);
        }
        Ok(())
    })
}

/// Reads at random places, one at a time.
pub(super) fn alone(session: &mut Session<'_>) -> Result<(), Stop> {
    let space = session.space();
    session.step(PARAMETER, ALONE_STEP, |io| {
        for rep in 0..SINGLE {
            let ask = any(io, &space);
            io.read(ask.offset, ask.len)?;
            io.sample(ALONE, ask.len, rep);
        }
        Ok(())
    })
}

pub(super) fn name(writing: bool, window: u32) -> String {
    let what = if writing { "writing" } else { "quiet" };
    format!("{what} {window}")
}

/// Returns the sample of a window that ended behind.
pub(super) fn behind_of(record: &Record, number: u32) -> Option<&Sample> {
    let samples = of_step(record, PARAMETER, &name(false, number));
    samples.into_iter().flatten().find(|s| s.series == BEHIND)
}

/// Returns the interval between two reads after `before` windows: longer after each that ended behind.
fn apart(record: &Record, typical_ns: u64, before: u32) -> Dur {
    let mut apart = (APART * typical_ns).max(APART_MIN.0);
    let len = READ.next_multiple_of(Space::of(record).block_bytes);
    for behind in (0..before).filter_map(|number| behind_of(record, number)) {
        let answer = behind.ns / (behind.bytes / len).max(1);
        apart = SLOWER * apart.max(answer);
    }
    Dur(apart)
}

/// Reads at even intervals for the time of a window, with or without writes in between.
pub(super) fn window(
    session: &mut Session<'_>,
    levels: Levels,
    writing: bool,
    number: u32,
) -> Result<(), Stop> {
    let space = session.space();
    let lengths = Lengths::of(&space);
    let before = if writing { lengths.quiet } else { number };
    let apart = apart(session.record(), levels.typical as u64, before);
    session.step(PARAMETER, &name(writing, number), |io| {
        let mut asks: Vec<Ask> = (0..lengths.window.0 / apart.0)
            .map(|i| any(io, &space).at(Dur(i * apart.0)))
            .collect();
        if writing {
            asks.extend(writes(&space, &lengths, number));
            asks.sort_by_key(|ask| ask.due);
        }
        let served = io.serve(&asks, DEPTH)?;
        let before = u64::from(number) * lengths.written();
        match writing {
            false => {
                let x = |done: &Served| {
                    u64::from(number) * lengths.window.0 + done.ask.due.unwrap_or_default().0
                };
                let stalled = Some(levels.stalled);
                keep(io, &served, [TYPICAL, SLOWEST, TAIL], stalled, x);
                if let Some(behind) = behind(&served, levels.stalled) {
                    io.sample_rate(BEHIND, x(&behind[0]), number, behind, 1);
                }
            }
            true => {
                let series = [TYPICAL_WRITING, SLOWEST_WRITING, TAIL_WRITING];
                keep(io, &served, series, None, |done| {
                    let due = u128::from(done.ask.due.unwrap_or_default().0);
                    before + (due * u128::from(WRITES_PER_SECOND) / 1_000_000_000) as u64
                });
            }
        }
        Ok(())
    })
}

/// Returns the last reads of a window if they waited for each other: all waited, and answers came all the time. In a stall
/// answers stop, and once it is over no read waits.
fn behind(served: &[Served], stalled: f64) -> Option<&[Served]> {
    let late = |done: &&Served| done.took().0 as f64 >= stalled;
    let count = served.iter().rev().take_while(late).count();
    let last = &served[served.len() - count..];
    let (first, longest) = (last.first()?, last.iter().map(Served::took).max()?);
    let mut ends: Vec<Time> = last.iter().map(|done| done.to).collect();
    ends.push(first.from);
    ends.sort_unstable();
    let pause = ends.windows(2).map(|pair| pair[1].since(pair[0])).max()?;
    (count >= BEHIND_MIN && SLOWER * pause.0 < longest.0).then_some(last)
}

fn any(io: &mut Io<'_>, space: &Space) -> Ask {
    let len = READ.next_multiple_of(space.block_bytes);
    let slots = (space.span() / len).max(1);
    Ask::read(space.region.start + io.rng.below(slots) * len, len)
}

/// Returns the writes of a window: in order over the prepared span, from where the last window ended.
fn writes(space: &Space, lengths: &Lengths, number: u32) -> impl Iterator<Item = Ask> {
    let len = WRITE.next_multiple_of(space.block_bytes);
    let slots = (space.span() / len).max(1);
    let count = lengths.written() / WRITE;
    let (start, apart) = (space.region.start, lengths.window.0 / count.max(1));
    let first = u64::from(number) * count;
    (0..count).map(move |i| {
        let slot = (first + i) % slots;
        Ask::write(start + slot * len, len).at(Dur(i * apart))
    })
}

/// Records the median read of a window with their number, the slowest ones, and some of the other slow ones. Of reads that stalled,
/// if their level is given, the slowest that did not is kept as well: it shows that none is missing.
fn keep(
    io: &mut Io<'_>,
    served: &[Served],
    series: [Series; 3],
    stalled: Option<f64>,
    x: impl Fn(&Served) -> u64,
) {
    let mut reads: Vec<&Served> = served
        .iter()
        .filter(|done| done.ask.op == fathom_block::Op::Read)
        .collect();
    reads.sort_by_key(|done| done.took());
    let count = reads.len();
    if let Some(median) = reads.get(count / 2) {
        io.sample_served(series[0], x(median), count as u32, median);
    }
    let stalled = stalled.map_or(0, |level| {
        let late = reads.iter().filter(|done| done.took().0 as f64 >= level);
        (late.count() + 1).min(STALLED_KEPT)
    });
    let kept = (count / KEPT.0).max(KEPT.1).max(stalled).min(count);
    for rank in tail(kept, count / TAIL_SHARE) {
        let done = reads[count - 1 - rank];
        io.sample_served(series[2], x(done), rank as u32, done);
    }
    let mut slowest = reads.split_off(count - kept);
    slowest.sort_by_key(|done| done.from);
    for (rep, done) in slowest.into_iter().enumerate() {
        io.sample_served(series[1], x(done), rep as u32, done);
    }
}

/// Returns ranks from one to before another, at most [`TAIL_KEPT`], evenly over their logarithm.
fn tail(from: usize, to: usize) -> Vec<usize> {
    if from == 0 || to <= from {
        return Vec::new();
    }
    let step = (to as f64 / from as f64).powf(1.0 / TAIL_KEPT as f64);
    let at = |i: usize| (from as f64 * step.powi(i as i32)) as usize;
    let mut ranks: Vec<usize> = (0..TAIL_KEPT).map(at).collect();
    ranks.dedup();
    ranks
}

#[cfg(test)]
mod tests {
    use super::{Ask, Served, TAIL_KEPT, behind, tail};
    use fathom_base::{Dur, Time};

    /// Returns reads every 200 us, the `i`-th answered at `to(i)` us.
    fn reads(count: u64, to: impl Fn(u64) -> u64) -> Vec<Served> {
        let one = |i| Served {
            ask: Ask::read(0, 4096).at(Dur::us(200 * i)),
            from: Time::ZERO + Dur::us(200 * i),
            to: Time::ZERO + Dur::us(to(i)),
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn reads_that_wait_for_each_other_are_behind_and_those_of_a_stall_are_not() {
        let behind = |reads: &[Served]| behind(reads, 300_000.0).map(<[Served]>::len);
        assert_eq!(behind(&reads(1000, |i| 200 * i + 100)), None);
        // One answer in 300 us from read 500 on.
        let limited = reads(1000, |i| 200 * i + 100 + 100 * i.saturating_sub(500));
        assert_eq!(behind(&limited), Some(498));
        // Nothing is answered from 150 ms on, until 220 ms, after the last read was due.
        let stalled = reads(1000, |i| match i {
            0..750 => 200 * i + 100,
            _ => 220_000 + i,
        });
        assert_eq!(behind(&stalled), None);
        // The same stall, and it is over.
        let over = reads(1000, |i| {
            (200 * i + 100).max(if i < 400 { 0 } else { 120_000 })
        });
        assert_eq!(behind(&over), None);
    }

    #[test]
    fn slow_reads_are_kept_evenly_over_the_logarithm_of_their_rank() {
        let ranks = tail(50, 2500);
        assert_eq!(ranks.len(), TAIL_KEPT);
        assert_eq!(ranks[0], 50);
        assert!(ranks.is_sorted_by(|a, b| a < b) && ranks.iter().all(|rank| *rank < 2500));
        // As many below the geometric mean as above it.
        let below = ranks.iter().filter(|rank| **rank < 353).count();
        assert!(below.abs_diff(TAIL_KEPT / 2) <= 1, "{below}");
        // None twice, and none where all slow ones are kept.
        assert!(tail(16, 20).is_sorted_by(|a, b| a < b));
        assert!(tail(16, 16).is_empty() && tail(0, 9).is_empty());
    }
}
