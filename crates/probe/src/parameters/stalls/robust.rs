//! Stalls: reads at even intervals in an open loop, each timed from when it was due.
//!
//! A read counts as stalled if it takes three times as long as the median and lies far outside of the spread of single reads
//! (eight robust standard deviations of the logarithm). Stalled reads of the same moment are one stall. Stalls count only if
//! they come in both halves of the time, and more often than the host's own timer is as late, which is measured first.
//!
//! A limit in front of the drive answers only so many reads a second once its burst is gone. Reads that are due more often wait
//! for each other, longer and longer until the window ends, while answers come all the time. Such a window does not count, and
//! the next ones ask for half of what was answered.
//!
//! A second part writes at a steady rate, so that stalls by bytes written (collection, merges, folding) can be distinguished from those
//! that come by themselves. A third part writes and then only reads, to see when the drive programs what its memory holds.

use super::after::{Rounds, after, programmed_ns};
use super::measure::{
    ALONE, ALONE_STEP, Lengths, Levels, PARAMETER, SLOWEST, SLOWEST_WRITING, TIMER, TIMER_STEP,
    TYPICAL, TYPICAL_WRITING, alone, behind_of, name, timer, window,
};
use crate::robust::prepare::prepare;
use crate::robust::samples::{of_step, times};
use crate::robust::size::time;
use crate::{Answers, Estimate, Probe, Record, Series, Session, Space, Stop, Value};
use fathom_base::Dur;
use fathom_stats::location::{mad, median, median_interval};

/// A stalled read takes at least so many times the median, and lies so many robust standard deviations above it.
const TIMES: f64 = 3.0;
const DEVIATIONS: f64 = 8.0;
/// The same of a read that waits for a program.
const SLOW_TIMES: f64 = 1.1;
const SLOW_DEVIATIONS: f64 = 4.0;
/// The median absolute deviation of a normal distribution, as a share of its standard deviation.
const MAD_OF_NORMAL: f64 = 0.6745;
/// The stalls below which there is no typical one.
const STALLS_MIN: usize = 6;
/// The share of stalled reads below which none matter: one in a hundred thousand.
const SHARE_MIN: f64 = 1e-5;
/// The reads that must be made before *absent* is said.
const READS_MIN: u64 = 20_000;
/// Nothing is named if more than one window in so many has more stalled reads than are kept.
const CUT_PART: u32 = 10;
/// The time in seconds that must be watched before *absent* is said: stalls of a drive's own work come some times a minute.
const SECONDS_MIN: f64 = 60.0;
/// Stalled reads closer than this, or than the stall is long, are one stall.
const SAME: Dur = Dur::ms(2);

pub(crate) struct Stalls;

fn levels(record: &Record) -> Option<Levels> {
    let alone = times(record, PARAMETER, ALONE_STEP, ALONE);
    let typical = median(&alone)?.max(1.0);
    let logs: Vec<f64> = alone.iter().map(|ns| ns.max(1.0).ln()).collect();
    let deviation = mad(&logs)? / MAD_OF_NORMAL;
    let from = |times: f64, deviations: f64| typical * times.max((deviations * deviation).exp());
    Some(Levels {
        typical,
        slow: from(SLOW_TIMES, SLOW_DEVIATIONS),
        stalled: from(TIMES, DEVIATIONS),
    })
}

/// What a part of the measurement has seen.
#[derive(Debug, Default)]
struct Seen {
    /// The windows that count.
    windows: u32,
    /// Those of them whose kept reads have all stalled: there were more.
    cut: u32,
    reads: u64,
    stalled: u64,
    worst: f64,
    /// The longest wait of each stall, beyond the typical read, and whether it was in the first half of the windows.
    stalls: Vec<(f64, bool)>,
}

fn seen(record: &Record, levels: Levels, windows: u32, writing: bool) -> Seen {
    let series: [Series; 2] = match writing {
        false => [TYPICAL, SLOWEST],
        true => [TYPICAL_WRITING, SLOWEST_WRITING],
    };
    let mut all = Seen::default();
    for number in 0..windows {
        let Some(samples) = of_step(record, PARAMETER, &name(writing, number)) else {
            continue;
        };
        if !writing && behind_of(record, number).is_some() {
            continue;
        }
        all.windows += 1;
        let mut last: Option<(u64, usize)> = None;
        let mut none_missing = false;
        for sample in samples {
            let ns = sample.ns as f64;
            if sample.series == series[0] {
                all.reads += u64::from(sample.rep);
            }
            if sample.series != series[1] || ns < levels.stalled {
                none_missing |= sample.series == series[1];
                continue;
            }
            all.stalled += 1;
            all.worst = all.worst.max(ns);
            let wait = ns - levels.typical;
            let ends = sample.at_ns + sample.ns;
            match last {
                Some((end, stall)) if sample.at_ns <= end + SAME.0 => {
                    all.stalls[stall].0 = all.stalls[stall].0.max(wait);
                    last = Some((end.max(ends), stall));
                }
                _ => {
                    all.stalls.push((wait, number < windows / 2));
                    last = Some((ends, all.stalls.len() - 1));
                }
            }
        }
        all.cut += u32::from(!none_missing);
    }
    all
}

/// Returns the share of waits for the host's timer that were late enough to look like a stall.
fn host_share(record: &Record, levels: Levels) -> f64 {
    let timer = of_step(record, PARAMETER, TIMER_STEP);
    let samples = timer.into_iter().flatten().filter(|s| s.series == TIMER);
    let late: Vec<bool> = samples
        .map(|s| s.ns.saturating_sub(s.x) as f64 >= levels.stalled - levels.typical)
        .collect();
    late.iter().filter(|late| **late).count() as f64 / late.len().max(1) as f64
}

fn answer(seen: &Seen, writing: &Seen, levels: Levels, host: f64, lengths: Lengths) -> Estimate {
    let share = seen.stalled as f64 / seen.reads.max(1) as f64;
    let threshold = time(levels.stalled);
    if host > share / 3.0 && host > 0.0 {
        return Estimate::not_identifiable(format!(
            "the host's own timer is late by as much in {:.2} % of its waits, and {:.3} % of the reads are that slow: this \
             host hides the drive's stalls",
            100.0 * host,
            100.0 * share
        ));
    }
    if seen.windows == 0 {
        return Estimate::not_identifiable(
            "the drive, or a limit in front of it, answers fewer reads than are due, so that they wait for each other",
        );
    }
    let seconds = f64::from(seen.windows) * lengths.window.0 as f64 / 1e9;
    let halves = [true, false].map(|half| seen.stalls.iter().any(|stall| stall.1 == half));
    if share < SHARE_MIN {
        return match seen.reads >= READS_MIN {
            true if seconds < SECONDS_MIN => Estimate::inconclusive(format!(
                "of {} reads at even intervals in {seconds:.0} s {} took longer than {threshold}: too short a time for stalls that come \
                 a few times a minute",
                seen.reads, seen.stalled
            )),
            true => Estimate::absent(format!(
                "of {} reads at even intervals {} took longer than {threshold}",
                seen.reads, seen.stalled
            )),
            false => Estimate::inconclusive("too few reads were made to see rare stalls"),
        };
    }
    if CUT_PART * seen.cut > seen.windows {
        return Estimate::inconclusive(format!(
            "in {} of {} windows of {} so many reads took longer than {threshold} that not all were kept: neither their number nor \
             their length is known",
            seen.cut,
            seen.windows,
            time(lengths.window.0 as f64)
        ));
    }
    let waits: Vec<f64> = seen.stalls.iter().map(|stall| stall.0).collect();
    let (Some(typical), Some((low, high))) = (median(&waits), median_interval(&waits)) else {
        return Estimate::inconclusive(format!(
            "{} of {} reads took longer than {threshold}: too few to tell how long a stall is",
            seen.stalled, seen.reads
        ));
    };
    if seen.stalls.len() < STALLS_MIN || halves != [true; 2] {
        return Estimate::inconclusive(format!(
            "{} stalls, and not in both halves of the time: they may come from elsewhere",
            seen.stalls.len()
        ));
    }
    let per_hour = seen.stalls.len() as f64 / seconds * 3600.0;
    let reason = format!(
        "{} times in {seconds:.0} s reads waited in the drive, typically {}, at worst {}: for its own work, or because it \
         repeated them",
        seen.stalls.len(),
        time(typical),
        time(seen.worst - levels.typical)
    );
    let value = |ns: f64| Value::Nanoseconds(ns as u64);
    Estimate::identified(value(typical), reason)
        .between(value(low), value(high))
        .figure("per_hour", per_hour)
        .figure("worst_ns", seen.worst)
        .figure("slow_percent", 100.0 * share)
        .figure("writing_slow_percent", percent(writing))
        .figure("writing_worst_ns", writing.worst)
}

fn percent(seen: &Seen) -> f64 {
    100.0 * seen.stalled as f64 / seen.reads.max(1) as f64
}

impl Probe for Stalls {
    fn bound(&self, space: &Space) -> u64 {
        Lengths::of(space).bound() + Rounds::of(space).bytes(space)
    }

    fn reach(&self, space: &Space) -> u64 {
        space.bytes().min(256 << 20)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        prepare(session, PARAMETER)?;
        timer(session)?;
        alone(session)?;
        let Some(levels) = levels(session.record()) else {
            return Ok(());
        };
        let lengths = Lengths::of(&session.space());
        for number in 0..lengths.quiet {
            window(session, levels, false, number)?;
        }
        if session.read_only() {
            return Ok(());
        }
        for number in 0..lengths.writing {
            window(session, levels, true, number)?;
        }
        for number in 0..Rounds::of(&session.space()).steps {
            after(session, levels.slow, number)?;
        }
        Ok(())
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        let lengths = Lengths::of(&Space::of(record));
        let Some(levels) = levels(record) else {
            return Estimate::inconclusive("no single read was timed");
        };
        let quiet = seen(record, levels, lengths.quiet, false);
        let writing = seen(record, levels, lengths.writing, true);
        let host = host_share(record, levels);
        let answer = answer(&quiet, &writing, levels, host, lengths)
            .figure("typical_ns", levels.typical)
            .figure("reads", quiet.reads as f64);
        match programmed_ns(record) {
            Some(ns) => answer.figure("programmed_after_ns", ns),
            None => answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Lengths, Levels, Seen, answer};
    use crate::record::Level;
    use crate::{Space, Verdict};

    const LEVELS: Levels = Levels {
        typical: 80_000.0,
        slow: 90_000.0,
        stalled: 240_000.0,
    };

    fn lengths() -> Lengths {
        Lengths::of(&Space {
            region: 0..1 << 30,
            block_bytes: 512,
            thin: 1,
            level: Level::Full,
        })
    }

    fn stalls(count: usize) -> Seen {
        Seen {
            windows: lengths().quiet,
            reads: 1_000_000,
            stalled: 20 * count as u64,
            worst: 5e6,
            cut: 0,
            stalls: (0..count).map(|i| (3e6, i % 2 == 0)).collect(),
        }
    }

    #[test]
    fn a_late_host_is_no_stalling_drive() {
        let of = |host| answer(&stalls(50), &Seen::default(), LEVELS, host, lengths()).verdict;
        assert_eq!(of(0.0), Verdict::Identified);
        assert_eq!(of(0.01), Verdict::NotIdentifiable);
    }

    #[test]
    fn stalls_must_come_again() {
        let mut seen = stalls(50);
        seen.stalls.iter_mut().for_each(|stall| stall.1 = true);
        let once = answer(&seen, &Seen::default(), LEVELS, 0.0, lengths());
        assert_eq!(once.verdict, Verdict::Inconclusive);
        let none = answer(&stalls(0), &Seen::default(), LEVELS, 0.0, lengths());
        assert_eq!(none.verdict, Verdict::Absent);
        // Ten seconds without one say little of stalls that come a few times a minute.
        let brief = Seen {
            windows: 1,
            ..stalls(0)
        };
        let none = answer(&brief, &Seen::default(), LEVELS, 0.0, lengths());
        assert_eq!(none.verdict, Verdict::Inconclusive);
    }

    #[test]
    fn stalls_of_which_some_are_missing_have_no_length() {
        let of = |cut| {
            let seen = Seen { cut, ..stalls(50) };
            answer(&seen, &Seen::default(), LEVELS, 0.0, lengths()).verdict
        };
        assert_eq!(of(6), Verdict::Identified);
        assert_eq!(of(7), Verdict::Inconclusive);
    }

    #[test]
    fn a_stall_is_counted_by_the_hour() {
        let fifty = answer(&stalls(50), &Seen::default(), LEVELS, 0.0, lengths());
        // 50 in 600 s are 300 an hour; windows that ended behind do not count.
        assert!((fifty.evidence.figures["per_hour"] - 300.0).abs() < 1e-6);
        let of = |windows| {
            let seen = Seen {
                windows,
                ..stalls(50)
            };
            answer(&seen, &Seen::default(), LEVELS, 0.0, lengths())
        };
        assert!((of(30).evidence.figures["per_hour"] - 600.0).abs() < 1e-6);
        assert_eq!(of(0).verdict, Verdict::NotIdentifiable);
    }
}
