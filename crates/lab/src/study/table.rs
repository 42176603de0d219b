//! Summarises the runs of a study in rows: one for each workload and point, over its seeds.

use super::Finished;
use fathom_run::Interval;
use fathom_run::compare::Row;

/// Returns one row for each combination, in the order of the study.
pub fn rows(finished: &[Finished]) -> Vec<Row> {
    let same = |a: &Finished, b: &Finished| {
        a.run.workload == b.run.workload && a.run.points == b.run.points
    };
    finished.chunk_by(same).filter_map(row).collect()
}

fn row(runs: &[Finished]) -> Option<Row> {
    let first = runs.first()?;
    let mean = |values: Vec<f64>| {
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let sides: Vec<_> = runs.iter().filter_map(|r| r.record.totals.all).collect();
    let works: Vec<_> = runs.iter().filter_map(|r| r.record.work).collect();
    let totals = runs.iter().map(|r| r.record.totals.accesses_per_second());
    Some(Row {
        workload: first.run.workload.clone(),
        points: first.run.points.clone(),
        seeds: runs.len(),
        response_ns: match sides.as_slice() {
            [one] => Some(one.response_ns),
            many => over_seeds(&many.iter().map(|s| s.response_ns.mean).collect::<Vec<_>>()),
        },
        p99_ns: mean(sides.iter().map(|s| s.p99_ns as f64).collect()),
        accesses_per_second: mean(totals.collect())?,
        write_amplification: mean(
            works
                .iter()
                .filter_map(|w| w.write_amplification())
                .collect(),
        ),
        erases: mean(works.iter().map(|w| w.erases as f64).collect()).unwrap_or(0.0),
    })
}

/// Returns the mean over seeds with its 95 % interval. Runs with different seeds are independent.
fn over_seeds(means: &[f64]) -> Option<Interval> {
    let mean = means.iter().sum::<f64>() / means.len().max(1) as f64;
    let half = fathom_run::half_width(means, 2);
    (!means.is_empty()).then(|| Interval {
        mean,
        low: half.map(|half| mean - half),
        high: half.map(|half| mean + half),
    })
}
