//! Lines of runs: one for each run where a page has several, and several of one run where it has one.

use super::stretch::{Stretch, stretches};
use crate::chart::{Axis, Chart, Scale, Series, Unit};
use fathom_run::RunRecord;

/// A run with what it is called in a legend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drawn<'a> {
    pub(crate) name: &'a str,
    pub(crate) run: &'a RunRecord,
}

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

/// A line of a run through these points. `name` and `look` are for a page of one run; on a page of several, the run has the name
/// and the look.
pub(super) fn line(
    runs: &[Drawn<'_>],
    run: usize,
    name: &str,
    look: usize,
    points: impl IntoIterator<Item = (f64, Option<f64>)>,
) -> Series {
    let several = runs.len() > 1;
    let (x, y) = points.into_iter().unzip();
    Series {
        name: if several { runs[run].name } else { name }.to_owned(),
        look: if several { run } else { look },
        x,
        y,
        ..Series::default()
    }
}

/// A line of each run over time.
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

/// The same through the points alone: one point may speak for several stretches.
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
