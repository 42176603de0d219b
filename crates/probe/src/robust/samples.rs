//! Selects samples of a record by step, series and size.

use crate::{Parameter, Record, Sample, Series};

/// Returns the samples of a step, or `None` if it was not made.
pub(crate) fn of_step<'r>(
    record: &'r Record,
    parameter: Parameter,
    name: &str,
) -> Option<impl Iterator<Item = &'r Sample> + use<'r>> {
    let mut steps = record.steps.iter();
    let step = steps.position(|s| s.parameter == parameter && s.name == name)? as u32;
    // Samples lie in the order of their steps.
    let samples = &record.samples;
    let first = samples.partition_point(|s| s.step < step);
    let beyond = samples.partition_point(|s| s.step <= step);
    Some(samples.get(first..beyond).unwrap_or_default().iter())
}

/// Returns the latencies of one series of a step, in nanoseconds; empty if the step was not made.
pub(crate) fn times(record: &Record, parameter: Parameter, name: &str, series: Series) -> Vec<f64> {
    let samples = of_step(record, parameter, name).into_iter().flatten();
    let chosen = samples.filter(|s| s.series == series);
    chosen.map(|s| s.ns as f64).collect()
}

/// Returns the latencies of a series at one size, in nanoseconds.
pub(crate) fn at(record: &Record, parameter: Parameter, series: Series, x: u64) -> Vec<f64> {
    let samples = record.series(parameter, series).filter(|s| s.x == x);
    samples.map(|s| s.ns as f64).collect()
}

/// Returns the sizes at which a series has samples, ascending.
pub(crate) fn sizes(record: &Record, parameter: Parameter, series: Series) -> Vec<u64> {
    let mut sizes: Vec<u64> = record.series(parameter, series).map(|s| s.x).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}
