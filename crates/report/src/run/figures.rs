//! Which figures a run has, as charts.

use super::{RunPage, Stretch, drive, queue};
use crate::chart::{Axis, Chart, Scale, Series, Unit};

/// A chart by its place in the page, with its heading and what there is to see.
pub(super) fn chart(
    id: &str,
    title: &str,
    see: &str,
    [x, y]: [Axis; 2],
    series: Vec<Series>,
) -> Chart {
    Chart {
        id: id.to_owned(),
        title: title.to_owned(),
        see: see.to_owned(),
        x,
        y,
        series,
        ..Chart::default()
    }
}

/// Over the run, a height from zero.
pub(super) fn over_run(title: &str, unit: Unit) -> [Axis; 2] {
    let time = Axis::new("time since the start of the run", Unit::Ns, Scale::Zero);
    [time, Axis::new(title, unit, Scale::Zero)]
}

fn response_over_run() -> [Axis; 2] {
    let [time, _] = over_run("", Unit::Ns);
    [time, response_time()]
}

fn response_time() -> Axis {
    Axis::new("response time", Unit::Ns, Scale::Log)
}

/// The figures of a page; none without a point is among them.
pub(super) fn figures(page: &RunPage) -> Vec<Chart> {
    let all = [
        response(page),
        longest(page),
        throughput(page),
        queue::waiting(page),
        queue::at_drive(page),
        queue::processes(page),
    ];
    let all = all
        .into_iter()
        .chain(distributions(page))
        .chain(queue::sizes(page))
        .chain(drive::figures(page));
    let drawn = |line: &Series| line.y.iter().any(Option::is_some);
    all.flatten()
        .map(|mut chart| {
            chart.series.retain(drawn);
            chart
        })
        .filter(|chart| !chart.series.is_empty())
        .collect()
}

/// Which look a line has: its run's; on a page of one run, its own.
pub(super) fn look(page: &RunPage, run: usize, line: usize) -> usize {
    if page.runs.len() > 1 { run } else { line }
}

/// A line of each run over time; the name is for a page of one.
pub(super) fn over_time(
    page: &RunPage,
    name: &str,
    line: usize,
    of: impl Fn(&Stretch) -> Option<f64>,
) -> Vec<Series> {
    let several = page.runs.len() > 1;
    page.runs
        .iter()
        .enumerate()
        .map(|(run, lines)| Series {
            name: if several {
                lines.name.clone()
            } else {
                name.to_owned()
            },
            look: look(page, run, line),
            x: lines.stretches.iter().map(|s| s.at_ns as f64).collect(),
            y: lines.stretches.iter().map(&of).collect(),
            ..Series::default()
        })
        .collect()
}

/// A line through its points alone: one point may speak for several stretches.
pub(super) fn without_gaps(line: Series) -> Series {
    let points = line.x.into_iter().zip(line.y);
    let (x, y) = points.filter(|(_, y)| y.is_some()).unzip();
    Series { x, y, ..line }
}

/// Nothing is on a logarithmic axis at or below zero.
fn above_zero(value: f64) -> Option<f64> {
    (value > 0.0 && value.is_finite()).then_some(value)
}

fn response(page: &RunPage) -> Option<Chart> {
    let mut lines = over_time(page, "mean", 0, |s| above_zero(s.mean_ns?));
    if page.runs.len() == 1 {
        lines.extend(max_lines(page, 1));
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

fn max_lines(page: &RunPage, line: usize) -> Vec<Series> {
    over_time(page, "longest", line, |s| above_zero(s.max_ns? as f64))
}

fn longest(page: &RunPage) -> Option<Chart> {
    (page.runs.len() > 1).then(|| {
        chart(
            "longest",
            "Longest response time over the run",
            "The slowest access of each stretch of the run: where a drive stalls.",
            response_over_run(),
            max_lines(page, 0),
        )
    })
}

fn throughput(page: &RunPage) -> Option<Chart> {
    Some(chart(
        "throughput",
        "Throughput over the run",
        "Data read and written per second, by when it was done.",
        over_run("throughput", Unit::Rate),
        over_time(page, "reads and writes", 0, |s| Some(s.bytes_per_second)),
    ))
}

/// Of one run, reads and writes are in one figure; of several, each has its own.
fn distributions(page: &RunPage) -> [Option<Chart>; 2] {
    if page.runs.len() == 1 {
        let title = "Distribution of response times";
        let both = tails(page, |_| true);
        return [Some(distribution("distribution", title, both)), None];
    }
    [
        Some(distribution(
            "distribution-reads",
            "Distribution of response times of reads",
            tails(page, |kind| kind == "reads"),
        )),
        Some(distribution(
            "distribution-writes",
            "Distribution of response times of writes",
            tails(page, |kind| kind == "writes"),
        )),
    ]
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

/// A line of each run and kind.
fn tails(page: &RunPage, of: impl Fn(&str) -> bool) -> Vec<Series> {
    let several = page.runs.len() > 1;
    let mut lines = Vec::new();
    for (run, of_run) in page.runs.iter().enumerate() {
        let kinds = of_run.distributions.iter();
        for (line, kind) in kinds.filter(|kind| of(&kind.name)).enumerate() {
            // The longest of all has nothing above it, and no place on the axis.
            let points = kind
                .points
                .iter()
                .filter(|(share, ns)| *share < 1.0 && *ns > 0);
            let (x, y) = points
                .map(|&(share, ns)| (ns as f64, Some(1.0 - share)))
                .unzip();
            lines.push(Series {
                name: if several { &of_run.name } else { &kind.name }.clone(),
                look: look(page, run, line),
                x,
                y,
                ..Series::default()
            });
        }
    }
    lines
}
