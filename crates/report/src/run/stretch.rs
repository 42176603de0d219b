//! Derives the drawn data of a run from its timeline, interval by interval ("stretch").

use fathom_block::DriveStats;
use fathom_run::{Bucket, Process, RunRecord, Totals};

/// Number of coarse stretches for which the drive's work and the throughput per process are drawn. In shorter ones, a buffer
/// hides the former and the latter is noise.
const COARSE_STRETCHES: usize = 48;

/// Returns the number of timeline buckets per coarse stretch.
fn per_coarse(totals: &Totals) -> usize {
    totals.timeline.len().div_ceil(COARSE_STRETCHES).max(1)
}

/// A bucket of a run's timeline.
pub(super) struct Stretch<'a> {
    totals: &'a Totals,
    drive_tells: bool,
    index: usize,
}

/// Returns the stretches of a run, one per bucket.
pub(super) fn stretches(run: &RunRecord) -> impl Iterator<Item = Stretch<'_>> {
    let totals = &run.totals;
    (0..totals.timeline.len()).map(move |index| Stretch {
        totals,
        drive_tells: run.work.is_some(),
        index,
    })
}

impl Stretch<'_> {
    fn bucket(&self) -> &Bucket {
        &self.totals.timeline[self.index]
    }

    /// Returns the start and the length, in nanoseconds. The last stretch ends with the run.
    fn span(&self) -> (u64, u64) {
        let width = self.totals.bucket.0;
        let begin = self.index as u64 * width;
        let rest = self.totals.duration.0.saturating_sub(begin);
        (begin, width.min(rest).max(1))
    }

    /// Returns the middle, in nanoseconds since the start of the run.
    pub(super) fn at_ns(&self) -> u64 {
        let (begin, length) = self.span();
        begin + length / 2
    }

    /// Returns the mean response time in nanoseconds of the accesses that ended in it; `None` if there were none.
    pub(super) fn mean_ns(&self) -> Option<f64> {
        let bucket = self.bucket();
        (bucket.count > 0).then(|| bucket.response_ns as f64 / bucket.count as f64)
    }

    /// Returns the longest response time in nanoseconds of these accesses.
    pub(super) fn max_ns(&self) -> Option<u64> {
        let bucket = self.bucket();
        (bucket.count > 0).then_some(bucket.max_ns)
    }

    /// Returns the bytes read and written per second.
    pub(super) fn bytes_per_second(&self) -> f64 {
        self.bucket().bytes as f64 * 1e9 / self.span().1 as f64
    }

    /// Returns the mean number of requests not yet done; `None` without a block layer.
    pub(super) fn not_done(&self) -> Option<f64> {
        Some(self.waited()?.0)
    }

    /// Returns the mean number of requests at the drive.
    pub(super) fn at_drive(&self) -> Option<f64> {
        Some(self.waited()?.1)
    }

    /// Returns both means. A stretch in which nothing was done has no counters of its own; the difference between two known
    /// moments is spread evenly over such stretches.
    fn waited(&self) -> Option<(f64, f64)> {
        let (first, later) = self.totals.timeline[self.index..].split_first()?;
        let from = first.queue?;
        later.iter().find_map(|bucket| from.until(&bucket.queue?))
    }

    /// Returns the drive's counters at the start and at the end of the coarse stretch around this one, and its length in
    /// seconds. Returns them only for the middle of each coarse stretch. The end of the last one is unknown.
    fn drive(&self) -> Option<(&DriveStats, &DriveStats, f64)> {
        let per = per_coarse(self.totals);
        let coarse = self.index / per * per;
        if !self.drive_tells || self.index % per != per / 2 {
            return None;
        }
        let seconds = (per as u64 * self.totals.bucket.0).max(1) as f64 / 1e9;
        let timeline = &self.totals.timeline;
        let end = &timeline.get(coarse + per)?.drive;
        Some((&timeline[coarse].drive, end, seconds))
    }

    /// Returns the bytes programmed per byte written by the host; `None` if the host wrote nothing or the drive reports no
    /// counters.
    pub(super) fn write_amplification(&self) -> Option<f64> {
        let (a, b, _) = self.drive()?;
        let written = b.host_bytes_written.checked_sub(a.host_bytes_written)?;
        let programmed = b
            .flash_bytes_programmed
            .checked_sub(a.flash_bytes_programmed)?;
        (written > 0).then(|| programmed as f64 / written as f64)
    }

    /// Returns a counter's rate per second; `None` if unknown.
    pub(super) fn per_second(&self, of: impl Fn(&DriveStats) -> u64) -> Option<f64> {
        let (a, b, seconds) = self.drive()?;
        Some(of(b).saturating_sub(of(a)) as f64 / seconds)
    }
}

/// Returns (nanoseconds since the start of the run, bytes per second of the process) for coarse stretches.
pub(super) fn rates(totals: &Totals, process: &Process) -> Vec<(u64, f64)> {
    let per = per_coarse(totals);
    let width = totals.bucket.0 * per as u64;
    let stretches = (0..).zip(process.timeline.chunks(per));
    let rate = |(index, chunk): (u64, &[u64])| {
        let begin = index * width;
        let length = width.min(process.finished.0.saturating_sub(begin));
        // The last stretch ends with the process. If less than half of it remains, its rate is not meaningful.
        let told = index == 0 || 2 * length >= width;
        let bytes: u64 = chunk.iter().sum();
        let rate = bytes as f64 * 1e9 / length.max(1) as f64;
        told.then_some((begin + length / 2, rate))
    };
    stretches.filter_map(rate).collect()
}

#[cfg(test)]
mod tests {
    use super::super::sample::nothing;
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
                // Nothing was done in it: the moment is that of the previous bucket.
                bucket(1_000, 5_000, 2_000, 10),
                bucket(3_000, 11_000, 4_000, 10),
            ],
            bucket: Dur(1_000),
            duration: Dur(4_000),
            ..Totals::default()
        };
        let mut run = RunRecord {
            totals,
            ..nothing()
        };
        let told: Vec<_> = stretches(&run).map(|s| s.waited()).collect();
        assert_eq!(
            told,
            [Some((5.0, 2.0)), Some((3.0, 1.0)), Some((3.0, 1.0)), None]
        );
        let erases = |s: &Stretch<'_>| s.per_second(|work| work.erases);
        assert!(stretches(&run).all(|s| erases(&s).is_none()));
        run.work = Some(DriveStats::default());
        let all: Vec<_> = stretches(&run).collect();
        // 3 blocks and 6 merges in a microsecond.
        let told: Vec<_> = all.iter().map(erases).collect();
        assert_eq!(told, [Some(3e6), Some(0.0), Some(0.0), None]);
        assert_eq!(all[0].per_second(|work| work.full_merges), Some(6e6));
        assert_eq!(all[0].write_amplification(), Some(3.0));
    }

    #[test]
    fn what_was_done_before_a_run_is_not_taken_for_its_beginning() {
        // A run on a new drive, and one on a drive that has worked: the first bucket has what was done before.
        for before in [0, 100_000] {
            let totals = Totals {
                timeline: (0..200).map(|i| bucket(i, 0, 0, before + i)).collect(),
                bucket: Dur(1_000_000_000),
                duration: Dur(200_000_000_000),
                ..Totals::default()
            };
            let run = RunRecord {
                totals,
                work: Some(DriveStats::default()),
                ..nothing()
            };
            let told = stretches(&run).filter_map(|s| s.per_second(|work| work.erases));
            let told: Vec<f64> = told.collect();
            // A block a second in all coarse stretches of five, except for the last, whose end is unknown.
            assert_eq!(told, [1.0; 39]);
        }
    }

    #[test]
    fn a_process_is_drawn_until_it_is_done() {
        let process = Process {
            timeline: vec![10, 20, 30, 40, 50],
            finished: Dur(4_500),
            ..Process::default()
        };
        let mut totals = Totals {
            bucket: Dur(1_000),
            timeline: vec![Bucket::default(); COARSE_STRETCHES + 1],
            ..Totals::default()
        };
        // Two stretches of 1000 ns each, then 500 ns of 2000, which is too short.
        let expected = [(1_000, 30.0 * 1e9 / 2e3), (3_000, 70.0 * 1e9 / 2e3)];
        assert_eq!(rates(&totals, &process), expected);
        let longer = Process {
            finished: Dur(5_000),
            ..process
        };
        assert_eq!(rates(&totals, &longer)[2], (4_500, 50.0 * 1e9 / 1e3));
        totals.timeline.clear();
        assert_eq!(rates(&totals, &longer).len(), 5);
    }
}
