//! Any text as a study file: refused with its place, or runs with names of their own.

use fathom_lab::study::{Study, plan};
use std::collections::BTreeSet;

/// More combinations than this are not resolved: a few lines can ask for millions.
const RUNS_MAX: usize = 1000;

/// Tries one input.
pub fn try_one(text: &str) {
    let Ok(study) = Study::from_toml(text) else {
        return;
    };
    let points = |axis: &fathom_lab::study::Axis| axis.values.len() + axis.points.len();
    let combinations = study
        .axes
        .iter()
        .map(points)
        .chain([study.seeds.len(), study.workloads.len()])
        .try_fold(1usize, usize::checked_mul);
    if combinations.is_none_or(|n| n > RUNS_MAX) {
        return;
    }
    match plan(&study) {
        Ok(runs) => {
            let names: BTreeSet<&str> = runs.iter().map(|run| run.name.as_str()).collect();
            assert_eq!(names.len(), runs.len());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
