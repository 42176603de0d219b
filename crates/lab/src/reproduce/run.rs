//! Runs a paper's studies, computes the drawings of its figures and judges its statements.

use super::assume::judge;
use super::draw::{chart, in_sequence, over_time};
use super::expected::{Drawing, Panel};
use super::look::{Look, at};
use super::prepare::Prepared;
use super::statement::Tested;
use super::traces::stands_for;
use crate::study::{self, Finished, StudyError, Watcher};
use fathom_report::reproduce::{ChartFound, Found, Judged, PanelFound, Source};
use std::path::Path;

/// Runs the studies, except for runs that `dir` already holds, and judges every statement.
///
/// # Errors
/// Those of [`study::run`].
pub fn run(
    prepared: &Prepared,
    dir: &Path,
    watcher: &dyn Watcher,
    stop: fn() -> bool,
) -> Result<Found, StudyError> {
    let mut all: Vec<(&str, bool, Vec<Finished>)> = Vec::new();
    for planned in &prepared.studies {
        let study = &planned.study;
        let dir = dir.join(&study.name);
        let finished = study::run(study, &planned.runs, &dir, watcher, stop)?;
        all.push((&study.name, planned.one_seed, finished));
    }
    let look = |study: &str| {
        let found = all.iter().find(|(name, ..)| *name == study);
        Look {
            runs: found.map_or_else(Vec::new, |(.., runs)| runs.iter().collect()),
            rows: &prepared.statements.rows,
            within: found.is_some_and(|(_, one_seed, _)| *one_seed),
        }
    };
    let panels = prepared.statements.figures.iter();
    let panels = panels.map(|panel| panel_found(prepared, panel, &look));
    Ok(Found {
        sources: prepared.sources.clone(),
        panels: panels.collect(),
    })
}

fn panel_found<'a>(
    prepared: &'a Prepared,
    panel: &'a Panel,
    look: &dyn Fn(&str) -> Look<'a>,
) -> PanelFound {
    let sources = &prepared.sources;
    let charts = panel.charts.iter();
    let timelines = panel.timelines.iter();
    let sequences = panel.sequences.iter();
    let again = &prepared.statements.again;
    let judged = panel.claims.iter().flat_map(|claim| {
        let more = again.get(&claim.study).into_iter().flatten();
        let more = more.filter(|study| !claim.ours && !look(study).runs.is_empty());
        let studies = [&claim.study].into_iter().chain(more);
        let each = studies.flat_map(|study| statement(claim, study, &look(study), sources));
        each.collect::<Vec<_>>()
    });
    PanelFound {
        id: panel.id.clone(),
        charts: charts
            .flat_map(|drawing| drawn(&panel.title, drawing, &look(&drawing.study), sources))
            .collect(),
        timelines: timelines
            .map(|timeline| over_time(timeline, &look(&timeline.study)))
            .collect(),
        sequences: sequences
            .map(|sequence| in_sequence(sequence, &look(&sequence.study)))
            .collect(),
        judged: judged.collect(),
    }
}

/// Returns the workloads that stand for a trace and have runs in the selection, each with its runs.
fn standing<'a>(
    trace: &str,
    runs: &Look<'a>,
    sources: &'a [Source],
) -> Vec<(&'a Source, Look<'a>)> {
    let of_trace = sources.iter().filter(|source| stands_for(source, trace));
    let with_runs = of_trace.map(|source| (source, runs.only(&at("workload", &source.name))));
    with_runs
        .filter(|(_, look)| !look.runs.is_empty())
        .collect()
}

/// Judges a statement on its study: once, or on each workload that stands for its trace.
fn statement<'a>(
    claim: &'a Tested,
    study: &str,
    runs: &Look<'a>,
    sources: &'a [Source],
) -> Vec<Judged> {
    let on = |source: Option<&Source>, runs: &Look<'a>| Judged {
        study: study.to_owned(),
        on: source.map(|source| source.name.clone()),
        ..judge(claim, runs)
    };
    match &claim.trace {
        // If the whole study was left out, there is one answer, which says so.
        Some(trace) if !runs.runs.is_empty() => standing(trace, runs, sources)
            .iter()
            .map(|(source, runs)| on(Some(source), runs))
            .collect(),
        _ => vec![on(None, runs)],
    }
}

/// Draws a chart of its study: once, or for each workload that stands for its trace and has more than one line.
fn drawn<'a>(
    title: &str,
    drawing: &'a Drawing,
    runs: &Look<'a>,
    sources: &'a [Source],
) -> Vec<ChartFound> {
    match &drawing.trace {
        Some(trace) if !runs.runs.is_empty() => standing(trace, runs, sources)
            .iter()
            .map(|(source, runs)| chart(title, drawing, runs, Some(&source.name), Some(&source.of)))
            .filter(|chart| chart.lines.len() > 1)
            .collect(),
        _ => vec![chart(title, drawing, runs, None, None)],
    }
}

#[cfg(test)]
mod tests;
