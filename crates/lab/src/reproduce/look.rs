//! Selects runs of a study for charts and statements, by the points of axes.

use super::expected::Row;
use super::measured::Number;
use super::metric::Metric;
use super::statement::Selector;
use crate::study::Finished;

/// Reason why there is no number.
pub(super) type Missing = &'static str;

const LEFT_OUT: Missing = "a run that it needs was left out";
const NOTHING_REACHED: Missing =
    "nothing reached the drive in one of the runs: its buffer never was full";
const NO_SUCH_FIGURE: Missing = "a run that it needs has no such figure";

/// A selection of a study's runs.
#[derive(Clone, Debug)]
pub(super) struct Look<'a> {
    /// The runs.
    pub runs: Vec<&'a Finished>,
    /// The rows of the paper.
    pub rows: &'a [Row],
    /// True if a number has an interval from within its run, because the study has one seed by design.
    pub within: bool,
}

/// The points that a chart or a statement goes through.
#[derive(Clone, Debug)]
pub(super) struct Walked<'a> {
    /// The axis of the study, or `workload`.
    pub axis: &'a str,
    /// Its points, from left to right.
    pub points: Vec<&'a str>,
    /// The row, if the points come from one.
    pub row: Option<&'a Row>,
}

/// Returns the point of a run on an axis, or its workload.
pub(super) fn point<'a>(run: &'a Finished, axis: &str) -> Option<&'a str> {
    if axis == "workload" {
        return Some(&run.run.workload);
    }
    let found = run.run.points.iter().find(|(name, _)| name == axis);
    found.map(|(_, point)| point.as_str())
}

/// Selects one point of an axis.
pub(super) fn at(axis: &str, point: &str) -> Selector {
    Selector::from([(axis.to_owned(), point.to_owned())])
}

impl<'a> Look<'a> {
    /// Returns the runs that match a selector.
    pub(super) fn only(&self, selector: &Selector) -> Look<'a> {
        let is =
            |run: &Finished, (axis, wanted): (&String, &String)| point(run, axis) == Some(wanted);
        let wanted = |run: &&&Finished| selector.iter().all(|pair| is(run, pair));
        Look {
            runs: self.runs.iter().filter(wanted).copied().collect(),
            ..self.clone()
        }
    }

    /// Returns the points of an axis among the runs, in their order.
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

    /// Returns the points of a row, with or without runs, or those of an axis among the runs.
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

    /// Returns one selection for each seed.
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

    /// Returns a metric of each run.
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

    /// Returns the mean of a metric over the runs.
    pub(super) fn number(&self, metric: Metric) -> Result<Number, Missing> {
        Number::mean(&self.each(metric)?).ok_or(LEFT_OUT)
    }
}
