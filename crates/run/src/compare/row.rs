//! Runs of one workload on one drive that differ in their seeds, as a row of a table.

use crate::Interval;
use serde::Serialize;

/// The seeds of one combination together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The workload.
    pub workload: String,
    /// The point of each axis.
    pub points: Vec<(String, String)>,
    /// Runs with different seeds.
    pub seeds: usize,
    /// Mean response time. With one seed its interval by batch means; with several the interval of the mean over
    /// seeds.
    pub response_ns: Option<Interval>,
    /// 99 % quantile of the response time, the mean over seeds.
    pub p99_ns: Option<f64>,
    /// Accesses a second, the mean over seeds.
    pub accesses_per_second: f64,
    /// Bytes programmed for each byte written, the mean over seeds.
    pub write_amplification: Option<f64>,
    /// Blocks erased, the mean over seeds.
    pub erases: f64,
}
