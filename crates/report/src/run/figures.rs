//! Which figures a run has, as plain data.

use super::{Axis, Figure, Line, RunPage, Scale, Stretch, drive, queue};

pub(super) const OVER_TIME: Axis = Axis {
    title: "time since the start of the run",
    scale: Scale::Time,
};
const RESPONSE: Axis = Axis {
    title: "response time",
    scale: Scale::LogNs,
};

/// The figures of a page; none without a point is among them.
pub(super) fn figures(page: &RunPage) -> Vec<Figure> {
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
    let drawn = |line: &Line| line.y.iter().any(Option::is_some);
    all.flatten()
        .map(|mut figure| {
            figure.lines.retain(drawn);
            figure
        })
        .filter(|figure| !figure.lines.is_empty())
        .collect()
}

/// Which colour a line has: its run's; on a page of one run, its own.
pub(super) fn colour(page: &RunPage, run: usize, line: usize) -> usize {
    if page.runs.len() > 1 { run } else { line }
}

/// A line of each run over time; the name is for a page of one.
pub(super) fn over_time(
    page: &RunPage,
    name: &str,
    dash: usize,
    of: impl Fn(&Stretch) -> Option<f64>,
) -> Vec<Line> {
    let several = page.runs.len() > 1;
    page.runs
        .iter()
        .enumerate()
        .map(|(run, lines)| Line {
            name: if several {
                lines.name.clone()
            } else {
                name.to_owned()
            },
            colour: colour(page, run, dash),
            dash,
            x: lines
                .stretches
                .iter()
                .map(|s| s.at_ns as f64 / 1e9)
                .collect(),
            y: lines.stretches.iter().map(&of).collect(),
        })
        .collect()
}

/// A line through its points alone: one point may speak for several stretches.
pub(super) fn without_gaps(line: Line) -> Line {
    let points = line.x.into_iter().zip(line.y);
    let (x, y) = points.filter(|(_, y)| y.is_some()).unzip();
    Line { x, y, ..line }
}

/// Nothing is on a logarithmic axis at or below zero.
fn above_zero(value: f64) -> Option<f64> {
    (value > 0.0 && value.is_finite()).then_some(value)
}

fn response(page: &RunPage) -> Option<Figure> {
    let mut lines = over_time(page, "mean", 0, |s| above_zero(s.mean_ns?));
    if page.runs.len() == 1 {
        lines.extend(max_lines(page, 1));
    }
    Some(Figure {
        id: "response",
        title: "Response time over the run",
        see: "How long accesses took, from when each was asked for until it was done, by when it was done. \
              A line that climbs is a drive that falls behind.",
        x: OVER_TIME,
        y: RESPONSE,
        lines,
    })
}

fn max_lines(page: &RunPage, dash: usize) -> Vec<Line> {
    over_time(page, "longest", dash, |s| above_zero(s.max_ns? as f64))
}

fn longest(page: &RunPage) -> Option<Figure> {
    (page.runs.len() > 1).then(|| Figure {
        id: "longest",
        title: "Longest response time over the run",
        see: "The slowest access of each stretch of the run: where a drive stalls.",
        x: OVER_TIME,
        y: RESPONSE,
        lines: max_lines(page, 0),
    })
}

fn throughput(page: &RunPage) -> Option<Figure> {
    Some(Figure {
        id: "throughput",
        title: "Throughput over the run",
        see: "Data read and written per second, by when it was done.",
        x: OVER_TIME,
        y: Axis {
            title: "throughput (MB/s)",
            scale: Scale::Linear,
        },
        lines: over_time(page, "reads and writes", 0, |s| {
            Some(s.bytes_per_second / 1e6)
        }),
    })
}

/// Of one run, reads and writes are in one figure; of several, each has its own.
fn distributions(page: &RunPage) -> [Option<Figure>; 2] {
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

fn distribution(id: &'static str, title: &'static str, lines: Vec<Line>) -> Figure {
    Figure {
        id,
        title,
        see: "The share of accesses that took no longer than the time below. The lower end is the slow tail: \
              at 99 %, one access in a hundred took longer.",
        x: RESPONSE,
        y: Axis {
            title: "share of accesses",
            scale: Scale::Tail,
        },
        lines,
    }
}

/// A line of each run and kind.
fn tails(page: &RunPage, of: impl Fn(&str) -> bool) -> Vec<Line> {
    let several = page.runs.len() > 1;
    let mut lines = Vec::new();
    for (run, of_run) in page.runs.iter().enumerate() {
        let kinds = of_run.distributions.iter();
        for (dash, kind) in kinds.filter(|kind| of(&kind.name)).enumerate() {
            // The longest of all has nothing above it, and no place on the axis.
            let points = kind
                .points
                .iter()
                .filter(|(share, ns)| *share < 1.0 && *ns > 0);
            let (x, y) = points
                .map(|&(share, ns)| (ns as f64, Some(1.0 - share)))
                .unzip();
            lines.push(Line {
                name: if several { &of_run.name } else { &kind.name }.clone(),
                colour: colour(page, run, dash),
                dash,
                x,
                y,
            });
        }
    }
    lines
}
