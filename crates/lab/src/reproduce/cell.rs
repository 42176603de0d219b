//! One run of a reproduction, in the figures that claims are about.

use super::claim::Metric;
use crate::study::Finished;
use fathom_run::{Interval, Reshaped, RunRecord};
use serde::Serialize;

/// Elements at work on average in a stretch of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Busy {
    /// The middle of the stretch, in seconds since the start.
    pub at_s: f64,
    /// Elements.
    pub elements: f64,
}

/// One run: a workload at one point of every axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// The workload.
    pub workload: String,
    /// The point of each axis.
    pub points: Vec<(String, String)>,
    /// Requests that reached the drive; none where the buffer never was full.
    pub requests: u64,
    /// Their mean response time with its 95 % interval.
    pub mean_ns: Option<Interval>,
    /// The mean response time of reads alone, in nanoseconds.
    pub reads_ns: Option<f64>,
    /// That of writes alone.
    pub writes_ns: Option<f64>,
    /// Accesses a second.
    pub accesses_per_second: f64,
    /// Bytes of the workload, those that stay in the buffer included, a second until the last request is done.
    pub bytes_per_second: f64,
    /// Elements at work on average; `None` where the drive does not count it.
    pub busy: Option<f64>,
    /// The same over time.
    pub busy_over_time: Vec<Busy>,
    /// Bytes that the host wrote for each byte of the workload that did not stay in the buffer.
    pub padded: Option<f64>,
    /// Bytes programmed for each byte that the host wrote.
    pub write_amplification: Option<f64>,
    /// What the host waits for room, or without a buffer for the drive, on average over all original writes, in nanoseconds;
    /// hits, and what finds room, count as 0 ([`crate::source::Rooms`]). `None` in a closed loop.
    pub host_wait_ns: Option<f64>,
    /// Pages that left the buffer, without what pads blocks, for each second that the drive had at least one request.
    pub pages_per_busy_second: Option<f64>,
    /// What went through the write buffer.
    pub reshaped: Reshaped,
}

impl Cell {
    /// Of a run.
    pub fn of(finished: &Finished) -> Cell {
        let outcome = &finished.record;
        let reshape = finished.run.plan.workload.reshape.clone();
        let page = reshape.map_or(0, |reshape| reshape.page.0) as f64;
        let reshaped = outcome.reshaped.clone().unwrap_or_default();
        let totals = &outcome.totals;
        let seconds = totals.duration.0 as f64 / 1e9;
        let counted = outcome.work.filter(|work| work.busy.0 > 0 && seconds > 0.0);
        let left = reshaped.left();
        let at_work = totals.busy.0 as f64 / 1e9;
        Cell {
            workload: finished.run.workload.clone(),
            points: finished.run.points.clone(),
            requests: totals.all.map_or(0, |all| all.count),
            mean_ns: totals.all.map(|all| all.response_ns),
            reads_ns: totals.reads.map(|side| side.response_ns.mean),
            writes_ns: totals.writes.map(|side| side.response_ns.mean),
            accesses_per_second: totals.accesses_per_second(),
            bytes_per_second: match seconds > 0.0 {
                true => reshaped.pages as f64 * page / seconds,
                false => 0.0,
            },
            busy: counted.map(|work| work.busy.0 as f64 / 1e9 / seconds),
            busy_over_time: counted.map_or_else(Vec::new, |_| over_time(outcome)),
            padded: (left > 0).then(|| reshaped.pages_written as f64 / left as f64),
            host_wait_ns: reshaped.host_wait_ns(),
            pages_per_busy_second: (left > 0 && at_work > 0.0).then(|| left as f64 / at_work),
            write_amplification: outcome.work.and_then(|work| work.write_amplification()),
            reshaped,
        }
    }

    /// The point of an axis.
    pub fn point(&self, axis: &str) -> Option<&str> {
        let found = self.points.iter().find(|(name, _)| name == axis);
        found.map(|(_, point)| point.as_str())
    }

    /// A figure with half of its 95 % interval; `None` where nothing reached the drive.
    pub fn metric(&self, metric: Metric) -> Option<(f64, f64)> {
        let mean = self.mean_ns?;
        let half = mean.high.map_or(0.0, |high| high - mean.mean);
        Some(match metric {
            Metric::MeanResponse => (mean.mean, half),
            Metric::Throughput => (self.bytes_per_second, 0.0),
            // To first order the relative error of a reciprocal is that of the value.
            Metric::Reciprocal => (1e9 / mean.mean, 1e9 / mean.mean * (half / mean.mean)),
        })
    }
}

/// Elements at work from one stretch of the timeline to the next.
fn over_time(outcome: &RunRecord) -> Vec<Busy> {
    let width = outcome.totals.bucket.0 as f64;
    let stretch = |(index, pair): (usize, &[fathom_run::Bucket])| Busy {
        at_s: (index as f64 + 0.5) * width / 1e9,
        elements: pair[1].drive.busy.0.saturating_sub(pair[0].drive.busy.0) as f64 / width,
    };
    let timeline = &outcome.totals.timeline;
    timeline.windows(2).enumerate().map(stretch).collect()
}
