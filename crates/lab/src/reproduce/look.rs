//! Runs of a study as charts and statements look at them: by the points of axes.

use super::expected::Row;
use super::measured::Number;
use super::metric::Metric;
use super::statement::Selector;
use crate::study::Finished;

/// Why there is no number.
pub(super) type Missing = &'static str;

const LEFT_OUT: Missing = "a run that it needs was left out";
const NOTHING_REACHED: Missing =
    "nothing reached the drive in one of the runs: its buffer never was full";
const NO_SUCH_FIGURE: Missing = "a run that it needs has no such figure";

/// Some runs of a study.
#[derive(Clone, Debug)]
pub(super) struct Look<'a> {
    /// Which.
    pub runs: Vec<&'a Finished>,
    /// Rows of the paper.
    pub rows: &'a [Row],
    /// Whether a number has an interval within its run: where the study has one seed by design.
    pub within: bool,
}

/// What a chart or a statement walks through.
#[derive(Clone, Debug)]
pub(super) struct Walked<'a> {
    /// The axis of the study, or `workload`.
    pub axis: &'a str,
    /// Its points, from left to right.
    pub points: Vec<&'a str>,
    /// The row, where it is one.
    pub row: Option<&'a Row>,
}

/// The point of an axis, or the workload.
pub(super) fn point<'a>(run: &'a Finished, axis: &str) -> Option<&'a str> {
    if axis == "workload" {
        return Some(&run.run.workload);
    }
    let found = run.run.points.iter().find(|(name, _)| name == axis);
    found.map(|(_, point)| point.as_str())
}

/// One point of an axis.
pub(super) fn at(axis: &str, point: &str) -> Selector {
    Selector::from([(axis.to_owned(), point.to_owned())])
}

impl<'a> Look<'a> {
    /// Those of them that are meant.
    pub(super) fn only(&self, selector: &Selector) -> Look<'a> {
        let is =
            |run: &Finished, (axis, wanted): (&String, &String)| point(run, axis) == Some(wanted);
        let wanted = |run: &&&Finished| selector.iter().all(|pair| is(run, pair));
        Look {
            runs: self.runs.iter().filter(wanted).copied().collect(),
            ..self.clone()
        }
    }

    /// The points of an axis among them, in their order.
    pub(super) fn points(&self, axis: &str) -> Vec<&'a str> {
        let mut points = Vec::new();
        for run in &self.runs {
            if let Some(point) = point(run, axis)
                && !points.contains(&point)
            {
                points.push(point);
            }
        }
        points
    }

    /// The points of a row, whether there are runs or not, or those of an axis among the runs.
    pub(super) fn walk(&self, name: &'a str) -> Walked<'a> {
        match self.rows.iter().find(|row| row.name == name) {
            Some(row) => Walked {
                axis: &row.axis,
                points: row.in_order().into_iter().map(|(point, _)| point).collect(),
                row: Some(row),
            },
            None => Walked {
                axis: name,
                points: self.points(name),
                row: None,
            },
        }
    }

    /// Those of each seed.
    pub(super) fn seeds(&self) -> Vec<Look<'a>> {
        let mut seeds: Vec<u64> = self.runs.iter().map(|run| run.run.plan.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        let of = |seed: u64| {
            let mut look = self.clone();
            look.runs.retain(|run| run.run.plan.seed == seed);
            look
        };
        seeds.into_iter().map(of).collect()
    }

    /// A metric of each of them.
    pub(super) fn each(&self, metric: Metric) -> Result<Vec<Number>, Missing> {
        let of = |run: &&Finished| {
            let half = match self.within {
                true => metric.half(&run.record),
                false => 0.0,
            };
            let number = metric.of(&run.record).map(|value| Number { value, half });
            number.ok_or(match run.record.totals.all {
                None => NOTHING_REACHED,
                Some(_) => NO_SUCH_FIGURE,
            })
        };
        self.runs.iter().map(of).collect()
    }

    /// The mean of a metric over them.
    pub(super) fn number(&self, metric: Metric) -> Result<Number, Missing> {
        Number::mean(&self.each(metric)?).ok_or(LEFT_OUT)
    }
}
