//! Series of runs: one per run on a page of several runs, several of one run on its own page.

use super::stretch::{Stretch, stretches};
use crate::chart::{Axis, Chart, Mode, Scale, Series, Unit};
use fathom_run::RunRecord;

/// A run with its name in the legend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drawn<'a> {
    pub(crate) name: &'a str,
    pub(crate) run: &'a RunRecord,
}

/// Returns a chart with its id, heading and description.
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

/// Returns the axes of a figure over the time of the run, with heights from zero.
pub(super) fn over_run(title: &str, unit: Unit) -> [Axis; 2] {
    let time = Axis::new("time since the start of the run", Unit::Ns, Scale::Zero);
    [time, Axis::new(title, unit, Scale::Zero)]
}

/// Returns a line of a run through these points. `name` and `look` apply on a page of one run; on a page of several, name
/// and look are those of the run.
pub(super) fn line(
    runs: &[Drawn<'_>],
    run: usize,
    name: &str,
    look: usize,
    points: impl IntoIterator<Item = (f64, Option<f64>)>,
) -> Series {
    let several = runs.len() > 1;
    let (name, look) = if several {
        (runs[run].name, run)
    } else {
        (name, look)
    };
    Series::new(name, look, Mode::Line, points)
}

/// Returns a line per run over time, with a value or a gap for each stretch.
pub(super) fn over_time(
    runs: &[Drawn<'_>],
    name: &str,
    look: usize,
    of: impl Fn(&Stretch<'_>) -> Option<f64>,
) -> Vec<Series> {
    let of_run = |(run, drawn): (usize, &Drawn<'_>)| {
        let points = stretches(drawn.run).map(|s| (s.at_ns() as f64, of(&s)));
        line(runs, run, name, look, points)
    };
    runs.iter().enumerate().map(of_run).collect()
}

/// As [`over_time`], without gaps: one point may represent several stretches.
pub(super) fn through_points(
    runs: &[Drawn<'_>],
    name: &str,
    look: usize,
    of: impl Fn(&Stretch<'_>) -> Option<f64>,
) -> Vec<Series> {
    let lines = over_time(runs, name, look, of).into_iter();
    let points = |line: Series| {
        let points = line.x.into_iter().zip(line.y);
        let (x, y) = points.filter(|(_, y)| y.is_some()).unzip();
        Series { x, y, ..line }
    };
    lines.map(points).collect()
}
