//! A run over its time, stretch by stretch: what is drawn of it, out of what was measured.

use fathom_block::DriveStats;
use fathom_run::{Bucket, Process, RunRecord, Totals};

/// What the drive did, and what each process got, is told for so many stretches of a run: in shorter ones a buffer
/// hides the first, and the second is noise.
const COARSE_STRETCHES: usize = 48;

/// How many stretches of a timeline make a coarse one.
fn per_coarse(totals: &Totals) -> usize {
    totals.timeline.len().div_ceil(COARSE_STRETCHES).max(1)
}

/// A stretch of a run.
pub(super) struct Stretch<'a> {
    totals: &'a Totals,
    drive_tells: bool,
    /// From this stretch on it is known what the drive had done.
    known: usize,
    index: usize,
}

/// Every stretch of a run.
pub(super) fn stretches(run: &RunRecord) -> impl Iterator<Item = Stretch<'_>> {
    let totals = &run.totals;
    let known = known(&totals.timeline);
    (0..totals.timeline.len()).map(move |index| Stretch {
        totals,
        drive_tells: run.work.is_some(),
        known,
        index,
    })
}

/// Nothing is told before the first access is done, whatever was done before the run.
fn known(timeline: &[Bucket]) -> usize {
    let nothing = DriveStats::default();
    let known = timeline.iter().position(|bucket| bucket.drive != nothing);
    known.unwrap_or(0)
}

impl Stretch<'_> {
    fn bucket(&self) -> &Bucket {
        &self.totals.timeline[self.index]
    }

    /// Its beginning and its length. The last stretch ends with the run.
    fn span(&self) -> (u64, u64) {
        let width = self.totals.bucket.0;
        let begin = self.index as u64 * width;
        let rest = self.totals.duration.0.saturating_sub(begin);
        (begin, width.min(rest).max(1))
    }

    /// Its middle, in nanoseconds since the start of the run.
    pub(super) fn at_ns(&self) -> u64 {
        let (begin, length) = self.span();
        begin + length / 2
    }

    /// Mean response time of the accesses that ended in it; `None` where none did.
    pub(super) fn mean_ns(&self) -> Option<f64> {
        let bucket = self.bucket();
        (bucket.count > 0).then(|| bucket.response_ns as f64 / bucket.count as f64)
    }

    /// The longest of them.
    pub(super) fn max_ns(&self) -> Option<u64> {
        let bucket = self.bucket();
        (bucket.count > 0).then_some(bucket.max_ns)
    }

    /// Bytes read and written per second.
    pub(super) fn bytes_per_second(&self) -> f64 {
        self.bucket().bytes as f64 * 1e9 / self.span().1 as f64
    }

    /// Requests that were not done, on average; `None` without a block layer.
    pub(super) fn not_done(&self) -> Option<f64> {
        Some(self.waited()?.0)
    }

    /// Requests that the drive had, on average.
    pub(super) fn at_drive(&self) -> Option<f64> {
        Some(self.waited()?.1)
    }

    /// Both. Stretches in which nothing was done tell no moment of their own: what lies between two moments is spread over
    /// them.
    fn waited(&self) -> Option<(f64, f64)> {
        let (first, later) = self.totals.timeline[self.index..].split_first()?;
        let from = first.queue?;
        later.iter().find_map(|bucket| from.until(&bucket.queue?))
    }

    /// What the drive had done when the coarse stretch around this one began and when it ended, and how many seconds that is.
    /// It is told once for each of them, at its middle; what the drive did in the last one is not known.
    fn drive(&self) -> Option<(&DriveStats, &DriveStats, f64)> {
        let per = per_coarse(self.totals);
        let coarse = self.index / per * per;
        let (from, to) = (coarse.max(self.known), coarse + per);
        if !self.drive_tells || self.index % per != per / 2 || from >= to {
            return None;
        }
        let seconds = ((to - from) as u64 * self.totals.bucket.0).max(1) as f64 / 1e9;
        let timeline = &self.totals.timeline;
        Some((&timeline[from].drive, &timeline.get(to)?.drive, seconds))
    }

    /// Bytes programmed for each byte that the host wrote; `None` where it wrote none or the drive cannot tell.
    pub(super) fn write_amplification(&self) -> Option<f64> {
        let (a, b, _) = self.drive()?;
        let written = b.host_bytes_written.checked_sub(a.host_bytes_written)?;
        let programmed = b
            .flash_bytes_programmed
            .checked_sub(a.flash_bytes_programmed)?;
        (written > 0).then(|| programmed as f64 / written as f64)
    }

    /// How much of something the drive did per second; `None` where it is not told.
    pub(super) fn per_second(&self, of: impl Fn(&DriveStats) -> u64) -> Option<f64> {
        let (a, b, seconds) = self.drive()?;
        Some(of(b).saturating_sub(of(a)) as f64 / seconds)
    }
}

/// Nanoseconds since the start of the run, and bytes per second that a process got around then, over coarse stretches.
pub(super) fn rates(totals: &Totals, process: &Process) -> Vec<(u64, f64)> {
    let per = per_coarse(totals);
    let width = totals.bucket.0 * per as u64;
    let stretches = (0..).zip(process.timeline.chunks(per));
    let rate = |(index, chunk): (u64, &[u64])| {
        let begin = index * width;
        let length = width.min(process.finished.0.saturating_sub(begin));
        // The last one ends with the process. A short rest of a stretch says nothing but that.
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
                // Nothing was done in it: the moment is the one before.
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
        // The first access ends in the second stretch of two hundred.
        let mut timeline = vec![bucket(0, 0, 0, 0)];
        timeline.extend((1..200).map(|i| bucket(i, 0, 0, 100_000 + i)));
        let totals = Totals {
            timeline,
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
        let mut totals = Totals {
            bucket: Dur(1_000),
            timeline: vec![Bucket::default(); COARSE_STRETCHES + 1],
            ..Totals::default()
        };
        // Two of 1000 ns each, then 500 ns of 2000: too little to tell.
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
