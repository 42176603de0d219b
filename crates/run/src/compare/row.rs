//! A row of a table: runs of one workload on one drive with different seeds.

use crate::Interval;
use serde::Serialize;

/// The results of one combination of settings over its seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Name of the workload.
    pub workload: String,
    /// The point of each axis.
    pub points: Vec<(String, String)>,
    /// Number of runs with different seeds.
    pub seeds: usize,
    /// Mean response time. With one seed, the interval is by batch means; with several, it is that of the mean over
    /// seeds.
    pub response_ns: Option<Interval>,
    /// 99 % quantile of the response time, mean over seeds, in nanoseconds.
    pub p99_ns: Option<f64>,
    /// Accesses per second, mean over seeds.
    pub accesses_per_second: f64,
    /// Bytes programmed for each byte written, mean over seeds.
    pub write_amplification: Option<f64>,
    /// Blocks erased, mean over seeds.
    pub erases: f64,
}
