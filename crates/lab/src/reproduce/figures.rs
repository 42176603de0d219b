//! Figures of a run that its record does not state directly.

use crate::source::Workload;
use fathom_block::DriveStats;
use fathom_iosched::Dispatched;
use fathom_platform::{HostWork, Layer};
use fathom_run::{Reshaped, RunRecord, Side, Totals};
use fathom_workload::step::Arrival;

pub(super) fn host(record: &RunRecord) -> Option<&HostWork> {
    record.host.as_ref()
}

/// Returns the clocks of a layer for an I/O.
pub(super) fn clocks(record: &RunRecord, layer: Layer) -> Option<f64> {
    let host = host(record).filter(|host| host.ios > 0)?;
    let clocks = host.clocks.get(&layer).copied().unwrap_or_default();
    Some(clocks as f64 / host.ios as f64)
}

/// Returns a figure of the buffer in front of the drive.
pub(super) fn buffer(record: &RunRecord, of: impl Fn(&Reshaped) -> Option<f64>) -> Option<f64> {
    of(record.reshaped.as_ref()?)
}

/// Returns the page size of that buffer, in bytes.
pub(super) fn page(record: &RunRecord) -> u64 {
    let workload: Option<Workload> = record.plan.workload.parse().ok();
    let reshape = workload.and_then(|workload| workload.reshape);
    reshape.map_or(0, |reshape| reshape.page.0)
}

pub(super) fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Returns the write rate from the middle of the timeline to the beginning of its last interval, in MB/s.
pub(super) fn written_through(totals: &Totals) -> Option<f64> {
    let half = totals.timeline.len() / 2;
    let (from, to) = (totals.timeline.get(half)?, totals.timeline.last()?);
    let stretches = totals.timeline.len() - 1 - half;
    let seconds = (stretches as u64 * totals.bucket.0) as f64 / 1e9;
    let bytes = to
        .drive
        .host_bytes_written
        .checked_sub(from.drive.host_bytes_written)?;
    (stretches >= 8).then(|| bytes as f64 / 1e6 / seconds)
}

pub(super) fn counted(record: &RunRecord, name: &str) -> Option<f64> {
    let mut counters = record.counters.iter();
    Some(counters.find(|counted| counted.name == name)?.value)
}

/// Returns the time that each outstanding request slot spent on one kind of access, in seconds.
pub(super) fn waited(record: &RunRecord, side: Side) -> Option<f64> {
    let waiting = match record.plan.arrival {
        Arrival::Open => return None,
        Arrival::Closed { outstanding } => u64::from(outstanding.get()),
        Arrival::Processes {
            processes,
            outstanding,
        } => u64::from(processes.get()) * u64::from(outstanding.get()),
    };
    Some(side.response_ns.mean * side.count as f64 / 1e9 / waiting as f64)
}

pub(super) fn first_to_last(record: &RunRecord) -> Option<f64> {
    let finished = record.totals.processes.iter().map(|p| p.finished.0);
    let first = finished.clone().min()?;
    let last = finished.max().filter(|last| *last > 0)?;
    Some(first as f64 / last as f64)
}

/// Returns the number of requests dispatched to the drive, and the counts for reads and for writes.
pub(super) fn given(record: &RunRecord) -> Option<(u64, [&Dispatched; 2])> {
    let queue = record.queue.as_ref()?;
    let sides = [&queue.reads, &queue.writes];
    let count = sides.iter().map(|side| side.count).sum();
    (count > 0).then_some((count, sides))
}

pub(super) fn share(record: &RunRecord, of: impl Fn(&Dispatched) -> u64) -> Option<f64> {
    let (count, sides) = given(record)?;
    let found: u64 = sides.into_iter().map(of).sum();
    Some(100.0 * found as f64 / count as f64)
}

pub(super) fn per_thousand(record: &RunRecord, of: u64) -> Option<f64> {
    let writes = record.totals.writes?.count;
    Some(1e3 * of as f64 / writes as f64)
}

pub(super) fn per_gib(work: DriveStats, of: impl Fn(&DriveStats) -> u64) -> Option<f64> {
    let gib = work.host_bytes_written as f64 / (1_u64 << 30) as f64;
    (gib > 0.0).then(|| of(&work) as f64 / gib)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Dur;
    use fathom_run::Bucket;

    /// A log block of 16 MiB written in order takes one switch merge (docs/ftls.md, BAST): 64 per GiB.
    #[test]
    fn merges_for_each_gib_do_not_depend_on_how_much_was_written() {
        for gib in [1, 3] {
            let work = DriveStats {
                host_bytes_written: gib << 30,
                switch_merges: gib * (1 << 30) / (16 << 20),
                ..DriveStats::default()
            };
            assert_eq!(per_gib(work, |work| work.switch_merges), Some(64.0));
            assert_eq!(per_gib(work, |work| work.full_merges), Some(0.0));
        }
        assert_eq!(per_gib(DriveStats::default(), |work| work.erases), None);
    }

    #[test]
    fn what_is_written_through_is_the_rate_of_the_second_half() {
        let bucket = |i: u64| {
            let mut bucket = Bucket::default();
            // 10 MB in each interval of the first half, 2 MB in each later one.
            bucket.drive.host_bytes_written =
                1_000_000 * (10 * i.min(10) + 2 * i.saturating_sub(10));
            bucket
        };
        let totals = |n: u64| Totals {
            bucket: Dur::ms(500),
            timeline: (0..n).map(bucket).collect(),
            ..Totals::default()
        };
        assert_eq!(written_through(&totals(20)), Some(4.0));
        assert_eq!(written_through(&totals(8)), None, "too short to say");
        assert_eq!(written_through(&Totals::default()), None);
    }
}
