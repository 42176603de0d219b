//! What is drawn of a run, out of what was measured.

use fathom_block::DriveStats;
use fathom_report::run::{Distribution, Given, ProcessLine, RunLines, Stretch};
use fathom_run::RunRecord;
use fathom_run::{Bucket, Process, Quantile, Totals};
use std::collections::BTreeMap;

/// What the drive did, and what each process got, is told for so many stretches of a run: in shorter ones a buffer
/// hides the first, and the second is noise.
const COARSE_STRETCHES: usize = 48;

/// Everything of a run that is drawn.
pub(super) fn lines(name: &str, outcome: &RunRecord) -> RunLines {
    let totals = &outcome.totals;
    let kind = |name: &str, points: &[Quantile]| Distribution {
        name: name.to_owned(),
        points: points.iter().map(|q| (q.share, q.ns)).collect(),
    };
    let kinds = [
        kind("reads", &totals.distribution.reads),
        kind("writes", &totals.distribution.writes),
    ];
    RunLines {
        name: name.to_owned(),
        stretches: stretches(totals, outcome.work.is_some()),
        distributions: kinds
            .into_iter()
            .filter(|kind| !kind.points.is_empty())
            .collect(),
        processes: processes(totals),
        given: given(outcome),
    }
}

fn given(outcome: &RunRecord) -> Given {
    let Some(stats) = &outcome.queue else {
        return Given::default();
    };
    let bundles = stats.bundles.as_ref();
    Given {
        reads: stats.reads.by_len.clone(),
        writes: stats.writes.by_len.clone(),
        bundles: bundles.map_or_else(BTreeMap::new, |bundles| bundles.by_bytes.clone()),
    }
}

/// How many stretches of a timeline make a coarse one.
fn per_coarse(totals: &Totals) -> usize {
    totals.timeline.len().div_ceil(COARSE_STRETCHES).max(1)
}

fn stretches(totals: &Totals, drive_tells: bool) -> Vec<Stretch> {
    let width = totals.bucket.0;
    let per = per_coarse(totals);
    let known = known(&totals.timeline);
    let stretch = |(index, bucket): (usize, &Bucket)| {
        let some = bucket.count > 0;
        // Told once for each coarse stretch, at its middle; what the drive did in the last one is not known.
        let (from, to) = ((index / per * per).max(known), (index / per + 1) * per);
        let between = (drive_tells && index % per == per / 2 && from < to)
            .then(|| {
                Some((
                    &totals.timeline[from].drive,
                    &totals.timeline.get(to)?.drive,
                ))
            })
            .flatten();
        let seconds = (to.saturating_sub(from) as u64 * width).max(1) as f64 / 1e9;
        let waited = waited(&totals.timeline[index..]);
        // The last stretch ends with the run.
        let begin = index as u64 * width;
        let length = width.min(totals.duration.0.saturating_sub(begin)).max(1);
        Stretch {
            at_ns: begin + length / 2,
            mean_ns: some.then(|| bucket.response_ns as f64 / bucket.count as f64),
            max_ns: some.then_some(bucket.max_ns),
            bytes_per_second: bucket.bytes as f64 * 1e9 / length as f64,
            write_amplification: between.and_then(|(a, b)| amplification(a, b)),
            not_done: waited.map(|(not_done, _)| not_done),
            at_drive: waited.map(|(_, at_drive)| at_drive),
            merges_per_second: between.map(|(a, b)| merges(a, b).map(|n| n as f64 / seconds)),
            erases_per_second: between
                .map(|(a, b)| b.erases.saturating_sub(a.erases) as f64 / seconds),
        }
    };
    totals.timeline.iter().enumerate().map(stretch).collect()
}

/// From which stretch on it is known what the drive had done: nothing is told before the first access is done, whatever
/// was done before the run.
fn known(timeline: &[Bucket]) -> usize {
    let nothing = DriveStats::default();
    let known = timeline.iter().position(|bucket| bucket.drive != nothing);
    known.unwrap_or(0)
}

/// What was not done, and at the drive, on average from the first of these stretches on. Those in which nothing was done
/// tell no moment of their own: what lies between two moments is spread over them.
fn waited(timeline: &[Bucket]) -> Option<(f64, f64)> {
    let (first, later) = timeline.split_first()?;
    let from = first.queue?;
    later.iter().find_map(|bucket| from.until(&bucket.queue?))
}

fn amplification(a: &DriveStats, b: &DriveStats) -> Option<f64> {
    let written = b.host_bytes_written.checked_sub(a.host_bytes_written)?;
    let programmed = b
        .flash_bytes_programmed
        .checked_sub(a.flash_bytes_programmed)?;
    (written > 0).then(|| programmed as f64 / written as f64)
}

/// Switch, partial and full ones.
fn merges(a: &DriveStats, b: &DriveStats) -> [u64; 3] {
    [
        b.switch_merges.saturating_sub(a.switch_merges),
        b.partial_merges.saturating_sub(a.partial_merges),
        b.full_merges.saturating_sub(a.full_merges),
    ]
}

fn processes(totals: &Totals) -> Vec<ProcessLine> {
    let per = per_coarse(totals);
    let width = totals.bucket.0 * per as u64;
    let processes = (0..).zip(&totals.processes);
    let drawn = processes.filter(|(_, process)| !process.timeline.is_empty());
    drawn
        .map(|(number, process)| ProcessLine {
            name: format!("process {number}"),
            points: rates(process, per, width),
        })
        .collect()
}

/// Bytes per second in stretches of that width, each of `per` of the timeline's.
fn rates(process: &Process, per: usize, width: u64) -> Vec<(u64, f64)> {
    let stretches = (0..).zip(process.timeline.chunks(per));
    let rate = |(index, chunk): (u64, &[u64])| {
        let begin = index * width;
        let length = width.min(process.finished.0.saturating_sub(begin));
        // The last one ends with the process. A short rest of a stretch says nothing but that.
        let told = index == 0 || 2 * length >= width;
        let bytes: u64 = chunk.iter().sum();
        told.then(|| {
            (
                begin + length / 2,
                bytes as f64 * 1e9 / length.max(1) as f64,
            )
        })
    };
    stretches.filter_map(rate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::{Dur, Time};
    use fathom_run::Waiting;

    fn bucket(at: u64, held_ns: u64, in_flight_ns: u64, erases: u64) -> Bucket {
        Bucket {
            count: 1,
            bytes: 1000,
            drive: DriveStats {
                erases,
                full_merges: 2 * erases,
                host_bytes_written: 100 * erases,
                flash_bytes_programmed: 300 * erases,
                ..DriveStats::default()
            },
            queue: Some(Waiting {
                at: Time(at),
                held_ns,
                in_flight_ns,
            }),
            ..Bucket::default()
        }
    }

    #[test]
    fn what_waits_and_what_the_drive_does_is_between_two_moments() {
        let totals = Totals {
            timeline: vec![
                bucket(0, 0, 0, 7),
                bucket(1_000, 5_000, 2_000, 10),
                // Nothing was done in it: the moment is the one before.
                bucket(1_000, 5_000, 2_000, 10),
                bucket(3_000, 11_000, 4_000, 10),
            ],
            bucket: Dur(1_000),
            duration: Dur(4_000),
            ..Totals::default()
        };
        let of = |tells| stretches(&totals, tells);
        let told: Vec<_> = of(true).iter().map(|s| (s.not_done, s.at_drive)).collect();
        let both = |a, b| (Some(a), Some(b));
        assert_eq!(
            told,
            [both(5.0, 2.0), both(3.0, 1.0), both(3.0, 1.0), (None, None)]
        );
        let first = of(true)[0];
        // 3 blocks and 6 merges in a microsecond.
        assert_eq!(first.erases_per_second, Some(3e6));
        assert_eq!(first.merges_per_second, Some([0.0, 0.0, 6e6]));
        assert_eq!(first.write_amplification, Some(3.0));
        assert_eq!(of(true)[1].erases_per_second, Some(0.0));
        assert_eq!(of(true)[3].erases_per_second, None);
        assert_eq!(of(false)[0].erases_per_second, None);
    }

    #[test]
    fn what_was_done_before_a_run_is_not_taken_for_its_beginning() {
        // The first access ends in the second stretch of two hundred.
        let mut timeline = vec![bucket(0, 0, 0, 0)];
        timeline.extend((1..200).map(|i| bucket(i, 0, 0, 100_000 + i)));
        let totals = Totals {
            timeline,
            bucket: Dur(1_000_000_000),
            duration: Dur(200_000_000_000),
            ..Totals::default()
        };
        let told: Vec<f64> = stretches(&totals, true)
            .iter()
            .filter_map(|stretch| stretch.erases_per_second)
            .collect();
        // A block a second, in all of the coarse stretches of five but the last, of which the end is not known.
        assert_eq!(told, [1.0; 39]);
    }

    #[test]
    fn a_process_is_drawn_until_it_is_done() {
        let process = Process {
            timeline: vec![10, 20, 30, 40, 50],
            finished: Dur(4_500),
            ..Process::default()
        };
        // Two of 1000 ns each, then 500 ns of 2000: too little to tell.
        let expected = [(1_000, 30.0 * 1e9 / 2e3), (3_000, 70.0 * 1e9 / 2e3)];
        assert_eq!(rates(&process, 2, 2_000), expected);
        let longer = Process {
            finished: Dur(5_000),
            ..process
        };
        assert_eq!(rates(&longer, 2, 2_000)[2], (4_500, 50.0 * 1e9 / 1e3));
    }
}
