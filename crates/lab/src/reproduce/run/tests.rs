//! Checks that every study, axis, point and trace named in the papers' data exists.

use super::super::expected::Statements;
use super::super::prepare::{known, parsed};
use super::super::statement::Test;
use super::super::{PAPERS, Paper};
use super::*;
use crate::reproduce::statement::{ANY, Claimed, Selector};
use crate::study::Study;
use std::collections::{BTreeMap, BTreeSet};

type Runs = Vec<BTreeMap<String, String>>;

/// Returns the points of every run of a study by axis. Unlike a plan, it builds no drives.
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

/// The data of a paper, with the runs of its studies.
struct Data {
    name: &'static str,
    statements: Statements,
    studies: BTreeMap<String, Runs>,
    sources: Vec<Source>,
}

impl Data {
    fn of(paper: &Paper) -> Data {
        let studies = paper.studies.iter();
        let studies = studies.map(|file| parsed(*file, Study::from_toml).unwrap());
        let known = paper.traces.map(|file| known(file).unwrap());
        Data {
            name: paper.name,
            statements: parsed(paper.expected, Statements::from_toml).unwrap(),
            studies: studies
                .map(|study| (study.name.clone(), combinations(&study)))
                .collect(),
            sources: known.map_or_else(Vec::new, |known| known.generators()),
        }
    }

    fn runs(&self, study: &str) -> &Runs {
        let found = self.studies.get(study);
        found.unwrap_or_else(|| panic!("{}: no study {study}", self.name))
    }

    /// Asserts that a study has a run that matches all selectors.
    fn some(&self, study: &str, selectors: &[&Selector]) {
        let here = self.runs(study).iter().any(|run| {
            let is = |(axis, point): (&String, &String)| run.get(axis) == Some(point);
            selectors.iter().all(|selector| selector.iter().all(is))
        });
        assert!(here, "{}: {study} has no run {selectors:?}", self.name);
    }

    /// Asserts that a study has the axis, or all points of the row, together with the other selectors.
    fn walks(&self, study: &str, name: &str, beside: &[&Selector]) {
        let Some(row) = self.statements.rows.iter().find(|row| row.name == name) else {
            let known = self.runs(study)[0].contains_key(name);
            return assert!(known, "{}: {study} has no axis {name}", self.name);
        };
        for point in row.points.keys() {
            let point = at(&row.axis, point);
            self.some(study, &[beside, &[&point]].concat());
        }
    }

    /// Asserts that a workload of the study stands for the trace.
    fn stands(&self, study: &str, trace: Option<&String>) {
        let Some(trace) = trace else { return };
        let sources = self.sources.iter().filter(|s| stands_for(s, trace));
        let names: BTreeSet<&String> = sources.map(|s| &s.name).collect();
        let runs = self.runs(study).iter();
        let here = runs.filter_map(|run| run.get("workload"));
        let here = here.filter(|name| names.contains(name)).count();
        assert!(
            here > 0,
            "{}: nothing in {study} stands for {trace}",
            self.name
        );
    }
}

/// A misspelt point would give a claim that can never be told.
#[test]
fn whatever_a_statement_or_a_chart_is_about_is_in_its_study() {
    for paper in PAPERS {
        let data = Data::of(paper);
        for (study, more) in &data.statements.again {
            let studies = [study].into_iter().chain(more);
            studies.for_each(|study| assert!(!data.runs(study).is_empty()));
        }
        for row in &data.statements.rows {
            let named = |runs: &Runs| runs[0].contains_key(&row.name);
            assert!(
                !data.studies.values().any(named),
                "an axis is a row: {row:?}"
            );
        }
        for panel in &data.statements.figures {
            for drawing in &panel.charts {
                data.some(&drawing.study, &[&drawing.at]);
                data.walks(&drawing.study, &drawing.x, &[&drawing.at]);
                data.walks(&drawing.study, &drawing.lines, &[]);
                data.stands(&drawing.study, drawing.trace.as_ref());
                for printed in &drawing.paper {
                    let line = at(&drawing.lines, &printed.line);
                    let row = data.statements.rows.iter().find(|r| r.name == drawing.x);
                    let axis = row.map_or(&drawing.x, |row| &row.axis);
                    data.some(
                        &drawing.study,
                        &[&drawing.at, &line, &at(axis, &printed.at)],
                    );
                    data.stands(&drawing.study, printed.trace.as_ref());
                }
            }
            for sequence in &panel.sequences {
                data.walks(&sequence.study, &sequence.lines, &[]);
                for point in &sequence.among {
                    let one = at(&sequence.lines, point);
                    data.some(&sequence.study, &[&sequence.at, &one]);
                }
            }
            for timeline in &panel.timelines {
                data.some(&timeline.study, &[&timeline.at]);
            }
            for claim in &panel.claims {
                let studies = data.statements.again.get(&claim.study);
                let studies = studies.into_iter().flatten().chain([&claim.study]);
                studies.for_each(|study| tested(&data, study, claim));
            }
        }
    }
}

fn tested(data: &Data, study: &str, claim: &Tested) {
    data.stands(study, claim.trace.as_ref());
    let assuming = claim.assuming.iter();
    assuming.for_each(|assumed| data.walks(study, assumed, &[]));
    match &claim.test {
        Test::Gain(test) | Test::Change(test) | Test::Ratio(test) => {
            for one in [&test.of].into_iter().chain(&test.than) {
                data.some(study, &[&claim.at, one]);
                let over = test.over.iter();
                over.for_each(|over| data.walks(study, over, &[&claim.at, one]));
            }
        }
        Test::Drift(test) => {
            let each = test.of.iter();
            each.for_each(|of| data.walks(study, &test.over, &[&claim.at, of]));
        }
        Test::Spread(test) => {
            data.walks(study, &test.over, &[]);
            for point in &test.among {
                data.some(study, &[&claim.at, &at(&test.over, point)]);
            }
        }
        Test::Value(test) => test
            .of
            .iter()
            .for_each(|of| data.some(study, &[&claim.at, of])),
    }
}

/// Each trace of a paper has statements, a tolerance is at most half of the claimed size, and claims with a label are in
/// percent.
#[test]
fn tolerances_are_small_and_every_stand_in_is_needed() {
    for paper in PAPERS {
        let data = Data::of(paper);
        let claims = data.statements.figures.iter().flat_map(|p| &p.claims);
        let mut traces = BTreeSet::new();
        for claim in claims {
            traces.extend(claim.trace.clone());
            let sized = matches!(claim.test, Test::Gain(_) | Test::Change(_));
            assert!(claim.label.is_none() || sized, "{}: {claim:?}", paper.name);
            if let (Claimed::Near { value, within }, _) = claim.test.claimed() {
                assert!(within <= 0.5 * value.abs(), "{}: {claim:?}", paper.name);
            }
        }
        for source in &data.sources {
            let named = traces.contains(&source.of);
            assert!(named && source.of != ANY, "{}: {source:?}", paper.name);
        }
    }
}
