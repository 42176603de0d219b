//! Prepares a paper for its runs: selects the studies and workloads, and notes what is left out.

use super::expected::{Panel, Statements};
use super::traces::{Known, Traces};
use super::{File, Paper};
use crate::study::{self, Run, Study, StudyError};
use fathom_report::reproduce::{Figure, Found, PanelFound, Reproduced, Source};
use fathom_workload::step::Step;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Divisor for the accesses of generators in a quick reproduction, unless the paper's data give a number of writes.
const QUICK: u64 = 4;

/// Options of a reproduction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Runs only a part that takes less than a minute.
    pub quick: bool,
    /// Maximum number of writes of a workload. If a quick reproduction has a limit too, the lower one applies.
    pub writes: Option<u64>,
    /// Directory of the user's traces.
    pub traces: Option<PathBuf>,
}

/// A paper that is ready to run.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(super) statements: Statements,
    /// The workloads that stand for its traces.
    pub(super) sources: Vec<Source>,
    /// Messages for the user: what was found, what is missing and what was left out.
    pub(super) notes: Vec<String>,
    pub(super) studies: Vec<Planned>,
}

/// A study and its runs.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub study: Study,
    pub runs: Vec<Run>,
    /// True if the study has one seed by design, so that intervals come from within the runs.
    pub one_seed: bool,
}

impl Prepared {
    /// Returns the number of runs.
    pub fn runs(&self) -> usize {
        self.studies.iter().map(|planned| planned.runs.len()).sum()
    }

    /// Returns what is shown of the paper with these results.
    pub fn shown<'a>(&'a self, paper: &Paper, found: &'a Found) -> Reproduced<'a> {
        let statements = &self.statements;
        let panels = statements.figures.iter().zip(&found.panels);
        let figure = |(panel, found): (&'a Panel, &'a PanelFound)| Figure {
            title: &panel.title,
            says: &panel.says,
            finding: &panel.found,
            found,
        };
        let remarks = statements.remarks.iter();
        let again = statements.again.values().flatten();
        Reproduced {
            name: paper.name,
            title: paper.title,
            notes: &self.notes,
            remarks: remarks.map(|remark| remark.text.as_str()).collect(),
            again: again.map(String::as_str).collect(),
            figures: panels.map(figure).collect(),
            sources: &found.sources,
        }
    }
}

pub(super) fn parsed<T>(
    (text, place): File,
    parse: impl Fn(&str) -> Result<T, (Option<usize>, String)>,
) -> Result<T, StudyError> {
    parse(text).map_err(|(line, detail)| StudyError::Syntax {
        path: place.into(),
        line,
        detail,
    })
}

/// Parses what a paper says of its traces.
///
/// # Errors
/// [`StudyError::Syntax`].
pub(super) fn known(file: File) -> Result<Known, StudyError> {
    parsed(file, crate::parse::from_toml)
}

/// Resolves everything that can fail before the first run.
///
/// # Errors
/// [`StudyError`], for example for a directory of traces or a trace that cannot be read.
pub fn prepare(paper: &Paper, options: &Options) -> Result<Prepared, StudyError> {
    let statements = parsed(paper.expected, Statements::from_toml)?;
    let of_quick = statements.quick.writes.filter(|_| options.quick);
    let writes = of_quick.into_iter().chain(options.writes).min();
    let known = paper.traces.map(known).transpose()?;
    let mut notes = Vec::new();
    let mut sources = Vec::new();
    let mut found = Traces::new();
    if let Some(known) = &known {
        sources = known.generators();
        found = traces(known, options, writes, &mut notes)?;
        sources.extend(found.iter().map(|(source, _)| source.clone()));
    }
    notes.extend(writes.map(|writes| format!("At most {writes} writes of each workload.")));
    let studies = paper
        .studies
        .iter()
        .map(|file| parsed(*file, Study::from_toml));
    let mut studies = studies.collect::<Result<Vec<_>, _>>()?;
    let one_seed: Vec<String> = (studies.iter())
        .filter(|study| study.seeds.len() == 1)
        .map(|study| study.name.clone())
        .collect();
    if options.quick {
        quick(&mut studies, &statements, &mut notes);
    }
    let planned = studies.into_iter().map(|mut study| {
        let on_traces = known.as_ref().map_or(&[] as &[String], |k| &k.studies);
        if on_traces.contains(&study.name) {
            let workloads = found.iter().map(|(_, workload)| workload.clone());
            study.workloads.extend(workloads);
        }
        if let Some(writes) = writes {
            cut(&mut study, writes);
        }
        Ok(Planned {
            runs: study::plan(&study)?,
            one_seed: one_seed.contains(&study.name),
            study,
        })
    });
    let studies = planned.collect::<Result<_, StudyError>>()?;
    Ok(Prepared {
        statements,
        sources,
        notes,
        studies,
    })
}

/// Finds the paper's traces in the user's directory.
fn traces(
    known: &Known,
    options: &Options,
    writes: Option<u64>,
    notes: &mut Vec<String>,
) -> Result<Traces, StudyError> {
    let Some(dir) = &options.traces else {
        notes.push(
            "No directory of traces was given (--traces): only generators ran, which are like the paper's traces in \
             published figures and in nothing else."
                .into(),
        );
        return Ok(Traces::new());
    };
    let (found, absent) = known.found(dir, writes)?;
    if !absent.is_empty() {
        notes.push(format!("Not in {}: {}.", dir.display(), absent.join("; ")));
    }
    Ok(found)
}

/// Reduces the studies to their quick part, and adds notes about the omissions.
fn quick(studies: &mut Vec<Study>, statements: &Statements, notes: &mut Vec<String>) {
    let quick = &statements.quick;
    if quick.writes.is_none() {
        notes.push(format!(
            "Quick: one seed, so that nothing has an interval, and 1/{QUICK} of the accesses. What it says is not what the \
             whole reproduction says."
        ));
    }
    let runs = |study: &Study| quick.studies.is_empty() || quick.studies.contains(&study.name);
    let out = studies.iter().filter(|study| !runs(study));
    let out: Vec<String> = out.map(|study| format!("`{}`", study.name)).collect();
    if !out.is_empty() {
        notes.push(format!("Quick: without the studies {}.", out.join(", ")));
    }
    studies.retain(runs);
    for study in studies {
        study.seeds.truncate(1);
        if quick.writes.is_none() {
            let workloads = study.workloads.iter_mut();
            workloads.for_each(|workload| workload.shorten(QUICK));
        }
        if let Some(kept) = quick.keep.get(&study.name) {
            notes.push(keep(study, kept));
        }
    }
}

/// Limits each `first` step to that many accesses. They are writes if the step follows `writes-only`.
fn cut(study: &mut Study, writes: u64) {
    let steps = study.workloads.iter_mut().flat_map(|w| &mut w.steps);
    for step in steps {
        if let Step::First(first) = step {
            first.accesses = first.accesses.min(writes);
        }
    }
}

/// Keeps only the given points of the named axes, and returns a note about it.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::PAPERS;

    /// A misspelt study, axis or point would silently omit a whole study.
    #[test]
    fn what_a_quick_reproduction_keeps_is_in_its_study() {
        for paper in PAPERS {
            let statements = parsed(paper.expected, Statements::from_toml).unwrap();
            let mut kept = statements.quick.keep.clone();
            let mut run = statements.quick.studies.clone();
            for file in paper.studies {
                let mut study = parsed(*file, Study::from_toml).unwrap();
                run.retain(|name| *name != study.name);
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
            assert!(run.is_empty(), "{}: no study {run:?}", paper.name);
        }
    }
}
