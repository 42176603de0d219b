//! A paper about schedulers, run again: its studies, and what it says of each figure beside what was measured.
//!
//! A paper of this kind is data alone: study files, and `expected.toml` with its figures, what the paper says of each and
//! how that is tested. Adding one takes no code.

mod assume;
mod expected;
mod judge;
mod metric;

pub use assume::Assumed;
pub use expected::{
    Claimed, Drawing, Panel, Selector, Sequence, Statements, Take, Test, Tested, Timeline,
};
pub use judge::{Judged, Measured};
pub use metric::Metric;

use super::Files;
use super::epo::parsed;
use crate::study::{self, Finished, Run, Study, StudyError, Watcher};
use fathom_run::Totals;
use judge::{judge, mean, points_of, selected};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// A quick reproduction has a generator's accesses divided by this, and one seed.
const QUICK: u64 = 4;

/// A paper that is ready to run.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// What the paper says.
    pub statements: Statements,
    /// What was left out, in sentences.
    pub notes: Vec<String>,
    studies: Vec<(Study, Vec<Run>)>,
}

/// What came of a paper.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Found {
    /// Its figures, in order.
    pub panels: Vec<PanelFound>,
}

/// What came of a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PanelFound {
    /// Its number.
    pub id: String,
    /// What is drawn.
    pub charts: Vec<ChartFound>,
    /// What processes got over time.
    pub timelines: Vec<TimelineFound>,
    /// Response times over the sequence of accesses.
    pub sequences: Vec<SequenceFound>,
    /// Its claims, in order.
    pub judged: Vec<Judged>,
}

/// Response times over the sequence of accesses.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SequenceFound {
    /// The lines.
    pub lines: Vec<SequenceLine>,
}

/// A line of it: the accesses of a run in the order in which they were done, some at a time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SequenceLine {
    /// What it is called.
    pub name: String,
    /// How many were done before the middle of these.
    pub accesses: Vec<f64>,
    /// Their mean response time, in seconds.
    pub response_s: Vec<f64>,
}

/// What each process of a run got over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TimelineFound {
    /// The middle of each stretch, in seconds since the start.
    pub at_s: Vec<f64>,
    /// For each process, MB a second in each stretch.
    pub processes: Vec<Vec<f64>>,
}

/// A chart with its values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChartFound {
    /// What stands side by side.
    pub points: Vec<String>,
    /// The lines.
    pub lines: Vec<LineFound>,
}

/// A line of a chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineFound {
    /// What it is called.
    pub name: String,
    /// A value for each point; `None` where there is no such run, or it has no such figure.
    pub values: Vec<Option<Measured>>,
}

/// Resolves everything before the first run.
///
/// # Errors
/// [`StudyError`].
pub fn prepare(files: &Files, quick: bool) -> Result<Prepared, StudyError> {
    let statements = parsed(files.expected, Statements::from_toml)?;
    let mut notes = Vec::new();
    if quick {
        notes.push(format!(
            "Quick: one seed, so that nothing has an interval, and 1/{QUICK} of the accesses. What it says is not what the \
             whole reproduction says."
        ));
    }
    let planned = files.studies.iter().map(|file| {
        let mut study = parsed(*file, Study::from_toml)?;
        if quick {
            shorten(&mut study);
            if let Some(kept) = statements.quick.get(&study.name) {
                notes.push(keep(&mut study, kept));
            }
        }
        let runs = study::plan(&study)?;
        Ok((study, runs))
    });
    let studies = planned.collect::<Result<_, StudyError>>()?;
    Ok(Prepared {
        studies,
        statements,
        notes,
    })
}

fn shorten(study: &mut Study) {
    study.seeds.truncate(1);
    for workload in &mut study.workloads {
        workload.shorten(QUICK);
    }
}

/// Leaves out all but these points of the axes that are named, and says so.
fn keep(study: &mut Study, kept: &BTreeMap<String, Vec<String>>) -> String {
    for axis in &mut study.axes {
        if let Some(points) = kept.get(&axis.name) {
            axis.points.retain(|point| points.contains(&point.name));
        }
    }
    let words = kept
        .iter()
        .map(|(axis, points)| format!("{axis} {}", points.join(", ")));
    format!(
        "Quick: of the study `{}` only {}.",
        study.name,
        words.collect::<Vec<_>>().join("; ")
    )
}

impl Prepared {
    /// How many runs it has.
    pub fn runs(&self) -> usize {
        self.studies.iter().map(|(_, runs)| runs.len()).sum()
    }
}

/// Runs what is not there yet in `dir`, and judges every claim.
///
/// # Errors
/// As [`study::run`].
pub fn run(
    prepared: &Prepared,
    dir: &Path,
    watcher: &dyn Watcher,
    stop: fn() -> bool,
) -> Result<Found, StudyError> {
    let mut all: Vec<(&str, Vec<Finished>)> = Vec::new();
    for (study, runs) in &prepared.studies {
        let finished = study::run(study, runs, &dir.join(&study.name), watcher, stop)?;
        all.push((&study.name, finished));
    }
    let of = |study: &str| {
        let found = all.iter().find(|(name, _)| *name == study);
        found.map_or(&[] as &[Finished], |(_, runs)| runs.as_slice())
    };
    let panels = prepared.statements.figures.iter().map(|panel| PanelFound {
        id: panel.id.clone(),
        charts: panel
            .charts
            .iter()
            .map(|drawing| chart(drawing, of(&drawing.study)))
            .collect(),
        timelines: panel
            .timelines
            .iter()
            .map(|timeline| over_time(timeline, of(&timeline.study)))
            .collect(),
        sequences: panel
            .sequences
            .iter()
            .map(|sequence| in_sequence(sequence, of(&sequence.study)))
            .collect(),
        judged: panel
            .claims
            .iter()
            .map(|claim| judge(claim, of(&claim.study)))
            .collect(),
    });
    Ok(Found {
        panels: panels.collect(),
    })
}

/// Stretches of a run are taken together until there are no more than that.
const STRETCHES_MAX: usize = 128;

fn over_time(timeline: &Timeline, runs: &[Finished]) -> TimelineFound {
    let Some(run) = runs.iter().find(|run| selected(run, &timeline.at)) else {
        return TimelineFound::default();
    };
    let totals = &run.record.totals;
    let per = totals.timeline.len().div_ceil(STRETCHES_MAX).max(1);
    let width = totals.bucket.as_secs_f64() * per as f64;
    let stretches = totals.timeline.len().div_ceil(per);
    let process = |bytes: &[u64]| -> Vec<f64> {
        let mut rates = bytes.chunks(per).map(|chunk| chunk.iter().sum::<u64>());
        let rate = |bytes: Option<u64>| bytes.unwrap_or(0) as f64 / 1e6 / width;
        (0..stretches).map(|_| rate(rates.next())).collect()
    };
    TimelineFound {
        at_s: (0..stretches).map(|i| (i as f64 + 0.5) * width).collect(),
        processes: totals
            .processes
            .iter()
            .map(|p| process(&p.timeline))
            .collect(),
    }
}

fn in_sequence(sequence: &Sequence, runs: &[Finished]) -> SequenceFound {
    let here = runs.iter().filter(|run| selected(run, &sequence.at));
    let here: Vec<&Finished> = here.collect();
    let named = |line: &&str| sequence.among.is_empty() || sequence.among.iter().any(|a| a == line);
    let lines = points_of(&here, &sequence.lines).into_iter().filter(named);
    let line = |name: &str| {
        let wanted = Selector::from([(sequence.lines.clone(), name.to_owned())]);
        let run = here.iter().find(|run| selected(run, &wanted))?;
        Some(sequence_of(name, &run.record.totals))
    };
    SequenceFound {
        lines: lines.filter_map(line).collect(),
    }
}

/// Stretches of the run that did something, taken together so that each has about as many accesses.
fn sequence_of(name: &str, totals: &Totals) -> SequenceLine {
    let all: u64 = totals.timeline.iter().map(|stretch| stretch.count).sum();
    let per = all.div_ceil(STRETCHES_MAX as u64).max(1);
    let (mut accesses, mut response_s) = (Vec::new(), Vec::new());
    let (mut done, mut count, mut ns) = (0, 0, 0);
    for (index, stretch) in totals.timeline.iter().enumerate() {
        (count, ns) = (count + stretch.count, ns + stretch.response_ns);
        if count >= per || (count > 0 && index + 1 == totals.timeline.len()) {
            accesses.push(done as f64 + count as f64 / 2.0);
            response_s.push(ns as f64 / 1e9 / count as f64);
            (done, count, ns) = (done + count, 0, 0);
        }
    }
    SequenceLine {
        name: name.to_owned(),
        accesses,
        response_s,
    }
}

fn chart(drawing: &Drawing, runs: &[Finished]) -> ChartFound {
    let here: Vec<&Finished> = runs.iter().filter(|r| selected(r, &drawing.at)).collect();
    let points = points_of(&here, &drawing.x);
    let value = |line: &str, at: &str| {
        let wanted = Selector::from([
            (drawing.lines.clone(), line.to_owned()),
            (drawing.x.clone(), at.to_owned()),
        ]);
        let runs = here.iter().copied().filter(|run| selected(run, &wanted));
        let values: Option<Vec<f64>> = runs.map(|run| mean(&[run], drawing.metric)).collect();
        Measured::of(&values?)
    };
    let lines = points_of(&here, &drawing.lines)
        .into_iter()
        .map(|line| LineFound {
            name: line.to_owned(),
            values: points.iter().map(|at| value(line, at)).collect(),
        });
    ChartFound {
        lines: lines.collect(),
        points: points.iter().map(|&point| point.to_owned()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::PAPERS;
    use fathom_run::Bucket;

    /// The points of every run of a study by axis, without the drives: what a plan of it names.
    fn combinations(study: &Study) -> Vec<BTreeMap<String, String>> {
        let workloads = study.workloads.iter();
        let first = workloads.map(|w| BTreeMap::from([("workload".to_owned(), w.name.clone())]));
        study.axes.iter().fold(first.collect(), |so_far, axis| {
            let points = axis.all_points().unwrap();
            let with = |run: &BTreeMap<String, String>, point: &str| {
                let mut run = run.clone();
                run.insert(axis.name.clone(), point.to_owned());
                run
            };
            let longer = so_far
                .iter()
                .flat_map(|run| points.iter().map(|point| with(run, &point.name)));
            longer.collect()
        })
    }

    #[test]
    fn a_sequence_counts_every_access_once_and_keeps_their_mean() {
        let stretch = |count: u64| Bucket {
            count,
            response_ns: count * 2_000_000_000,
            ..Bucket::default()
        };
        let totals = Totals {
            timeline: [300, 0, 5, 700, 1, 0].map(stretch).to_vec(),
            ..Totals::default()
        };
        let line = sequence_of("noop", &totals);
        // 1,006 accesses, at least eight at a time: 300, 5 and 700 together, and the last one.
        assert_eq!(line.accesses, [150.0, 300.0 + 352.5, 1005.5]);
        assert_eq!(line.response_s, [2.0; 3]);
    }

    /// A misspelt axis or point would leave the whole study out.
    #[test]
    fn what_a_quick_reproduction_keeps_is_in_its_study() {
        for paper in PAPERS {
            let Some(files) = &paper.files else { continue };
            let statements = parsed(files.expected, Statements::from_toml).unwrap();
            let mut kept = statements.quick.clone();
            for file in files.studies {
                let mut study = parsed(*file, Study::from_toml).unwrap();
                let Some(kept) = kept.remove(&study.name) else {
                    continue;
                };
                let said = keep(&mut study, &kept);
                assert!(said.contains(&study.name), "{said}");
                for (name, points) in &kept {
                    let axis = study.axes.iter().find(|axis| axis.name == *name).unwrap();
                    let left: Vec<&String> = axis.points.iter().map(|p| &p.name).collect();
                    assert_eq!(left, points.iter().collect::<Vec<_>>(), "{}", study.name);
                }
            }
            assert!(kept.is_empty(), "{}: no study {kept:?}", paper.name);
        }
    }

    /// A misspelt point would be a claim that can never be told.
    #[test]
    fn whatever_a_statement_or_a_chart_is_about_is_in_its_study() {
        for paper in PAPERS {
            let Some(files) = &paper.files else { continue };
            let statements = parsed(files.expected, Statements::from_toml).unwrap();
            let studies: BTreeMap<String, Vec<BTreeMap<String, String>>> = (files.studies.iter())
                .map(|file| parsed(*file, Study::from_toml).unwrap())
                .map(|study| (study.name.clone(), combinations(&study)))
                .collect();
            let some = |study: &str, selectors: &[&Selector]| {
                let found = studies.get(study);
                let runs = found.unwrap_or_else(|| panic!("{}: no study {study}", paper.name));
                let here = runs.iter().any(|run| {
                    let is = |(axis, point): (&String, &String)| run.get(axis) == Some(point);
                    selectors.iter().all(|selector| selector.iter().all(is))
                });
                assert!(here, "{}: {study} has no run {selectors:?}", paper.name);
            };
            let axis = |study: &str, axis: &str| {
                let known = studies
                    .get(study)
                    .is_some_and(|runs| runs[0].contains_key(axis));
                assert!(known, "{}: {study} has no axis {axis}", paper.name);
            };
            for panel in &statements.figures {
                for drawing in &panel.charts {
                    some(&drawing.study, &[&drawing.at]);
                    axis(&drawing.study, &drawing.x);
                    axis(&drawing.study, &drawing.lines);
                }
                for sequence in &panel.sequences {
                    axis(&sequence.study, &sequence.lines);
                    for point in &sequence.among {
                        let one = Selector::from([(sequence.lines.clone(), point.clone())]);
                        some(&sequence.study, &[&sequence.at, &one]);
                    }
                }
                for timeline in &panel.timelines {
                    some(&timeline.study, &[&timeline.at]);
                }
                for claim in &panel.claims {
                    let assuming = claim.assuming.iter();
                    assuming.for_each(|assumed| axis(&claim.study, assumed));
                    match &claim.test {
                        Test::Gain { of, than, over, .. } => {
                            some(&claim.study, &[&claim.at, of]);
                            than.iter()
                                .for_each(|t| some(&claim.study, &[&claim.at, t]));
                            over.iter().for_each(|over| axis(&claim.study, over));
                        }
                        Test::Ratio { of, than, .. } => {
                            some(&claim.study, &[&claim.at, of]);
                            some(&claim.study, &[&claim.at, than]);
                        }
                        Test::Spread { over, among, .. } => {
                            axis(&claim.study, over);
                            for point in among {
                                let one = Selector::from([(over.clone(), point.clone())]);
                                some(&claim.study, &[&claim.at, &one]);
                            }
                        }
                        Test::Value { of, .. } => some(&claim.study, &[&claim.at, of]),
                    }
                }
            }
        }
    }
}
