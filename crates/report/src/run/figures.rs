//! Builds the charts of a run's page.

use super::drawn::{Drawn, chart, line, over_run, over_time};
use super::{block_layer, drive};
use crate::chart::{Axis, Chart, Scale, Series, Unit};
use fathom_run::{Quantile, Totals};

fn response_over_run() -> [Axis; 2] {
    let [time, _] = over_run("", Unit::Ns);
    [time, response_time()]
}

fn response_time() -> Axis {
    Axis::new("response time", Unit::Ns, Scale::Log)
}

/// Returns the figures of a page, without empty ones.
pub(super) fn figures(runs: &[Drawn<'_>]) -> Vec<Chart> {
    let all = [
        response(runs),
        longest(runs),
        throughput(runs),
        block_layer::waiting(runs),
        block_layer::at_drive(runs),
        block_layer::processes(runs),
    ];
    let all = all
        .into_iter()
        .chain(distributions(runs))
        .chain(block_layer::sizes(runs))
        .chain(drive::figures(runs));
    let drawn = |line: &Series| line.y.iter().any(Option::is_some);
    all.flatten()
        .map(|mut chart| {
            chart.series.retain(drawn);
            chart
        })
        .filter(|chart| !chart.series.is_empty())
        .collect()
}

/// A logarithmic axis cannot show values at or below zero.
fn above_zero(value: f64) -> Option<f64> {
    (value > 0.0 && value.is_finite()).then_some(value)
}

fn response(runs: &[Drawn<'_>]) -> Option<Chart> {
    let mut lines = over_time(runs, "mean", 0, |s| above_zero(s.mean_ns()?));
    if runs.len() == 1 {
        lines.extend(max_lines(runs, 1));
    }
    Some(chart(
        "response",
        "Response time over the run",
        "How long accesses took, from when each was asked for until it was done, by when it was done. A line that \
         climbs is a drive that falls behind.",
        response_over_run(),
        lines,
    ))
}

fn max_lines(runs: &[Drawn<'_>], line: usize) -> Vec<Series> {
    over_time(runs, "longest", line, |s| above_zero(s.max_ns()? as f64))
}

fn longest(runs: &[Drawn<'_>]) -> Option<Chart> {
    (runs.len() > 1).then(|| {
        chart(
            "longest",
            "Longest response time over the run",
            "The slowest access of each stretch of the run: where a drive stalls.",
            response_over_run(),
            max_lines(runs, 0),
        )
    })
}

fn throughput(runs: &[Drawn<'_>]) -> Option<Chart> {
    Some(chart(
        "throughput",
        "Throughput over the run",
        "Data read and written per second, by when it was done.",
        over_run("throughput", Unit::Rate),
        over_time(runs, "reads and writes", 0, |s| Some(s.bytes_per_second())),
    ))
}

type Kind = fn(&Totals) -> &[Quantile];

const READS: (&str, Kind) = ("reads", |totals| &totals.distribution.reads);
const WRITES: (&str, Kind) = ("writes", |totals| &totals.distribution.writes);

/// Returns the distribution of response times of one run: the figure at the top of its page.
pub(super) fn response_times(runs: &[Drawn<'_>]) -> Chart {
    let lines = tails(runs, &[READS, WRITES]);
    distribution("distribution", "Distribution of response times", lines)
}

/// Returns the distributions for several runs, a figure each for reads and for writes.
fn distributions(runs: &[Drawn<'_>]) -> Vec<Option<Chart>> {
    if runs.len() == 1 {
        return Vec::new();
    }
    let figure = |kind: (&str, Kind)| {
        let (id, title) = (
            format!("distribution-{}", kind.0),
            format!("Distribution of response times of {}", kind.0),
        );
        Some(distribution(&id, &title, tails(runs, &[kind])))
    };
    [READS, WRITES].map(figure).into()
}

fn distribution(id: &str, title: &str, lines: Vec<Series>) -> Chart {
    chart(
        id,
        title,
        "The share of accesses that took at most so long. The slow tail is at the top: at 99 %, one access in a hundred \
         took longer.",
        [
            response_time(),
            Axis::new("share of accesses", Unit::Above, Scale::Tail),
        ],
        lines,
    )
}

/// Returns a line for each run and kind that had such accesses.
fn tails(runs: &[Drawn<'_>], kinds: &[(&str, Kind)]) -> Vec<Series> {
    let mut lines = Vec::new();
    for (run, drawn) in runs.iter().enumerate() {
        let kinds = kinds
            .iter()
            .map(|(name, of)| (*name, of(&drawn.run.totals)));
        let some = kinds.filter(|(_, points)| !points.is_empty()).enumerate();
        lines.extend(some.map(|(number, (name, points))| {
            // The longest access of all has nothing above it, so it has no place on the logarithmic axis.
            let drawn = points.iter().filter(|q| q.share < 1.0 && q.ns > 0);
            let points = drawn.map(|q| (q.ns as f64, Some(1.0 - q.share)));
            line(runs, run, name, number, points)
        }));
    }
    lines
}
