//! The faults of a study, each with the key in the file, and those that are of no single run.

use super::{Fault, Study};
use crate::advice;
use crate::parse::line_of;
use std::error::Error;

/// A fault of a study that no run of it can have, and the key at fault in the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) path: Vec<String>,
    pub(super) detail: String,
    pub(super) help: Option<String>,
    /// The first run that has it.
    pub(super) run: Option<String>,
}

impl Found {
    pub(super) fn new(path: &[&dyn ToString], detail: impl ToString) -> Self {
        Self {
            path: path.iter().map(|part| part.to_string()).collect(),
            detail: detail.to_string(),
            help: None,
            run: None,
        }
    }

    pub(super) fn at_key(path: &[String], detail: impl ToString) -> Self {
        Self {
            path: path.to_vec(),
            ..Self::new(&[], detail)
        }
    }

    /// Adds the fault of a run to those of other runs.
    pub(super) fn add_to(self, found: &mut Vec<Self>, run: &str) {
        let same = |other: &Self| (&other.path, &other.detail) == (&self.path, &self.detail);
        if !found.iter().any(same) {
            let run = Some(run.to_owned());
            found.push(Self { run, ..self });
        }
    }

    /// Returns the fault with its line in the text.
    pub(super) fn at(self, text: &str) -> Fault {
        let run = self.run.map(|run| format!(" (run {run})"));
        Fault {
            line: line_of(text, &self.path),
            detail: self.detail + &run.unwrap_or_default(),
            help: self.help,
        }
    }
}

/// Returns the faults that are of no single run.
pub(super) fn of_the_whole(study: &Study) -> Vec<Found> {
    let mut found = Vec::new();
    if study.workloads.is_empty() || study.seeds.is_empty() {
        found.push(Found::new(&[&"seeds"], "it has no workload or no seed"));
    }
    for (later, seed) in study.seeds.iter().enumerate() {
        if study.seeds[..later].contains(seed) {
            let detail = format!("the seed {seed} is given twice: the runs would be the same");
            found.push(Found::new(&[&"seeds"], detail));
        }
    }
    for (later, axis) in study.axes.iter().enumerate() {
        for (index, value) in axis.values.iter().enumerate() {
            if axis.values[..index].contains(value) {
                let detail =
                    format!("the value {value} is given twice: the runs would be the same");
                found.push(Found::new(&[&"axis", &later, &"values"], detail));
            }
        }
        let mut earlier = study.axes[..later].iter();
        if let Some(first) = earlier.position(|other| other.name == axis.name) {
            let detail = format!(
                "axis {} and axis {}: both are called `{}`: give each a name of its own",
                first + 1,
                later + 1,
                axis.name
            );
            found.push(Found::new(&[&"axis", &later, &"name"], detail));
        }
    }
    for (number, workload) in study.workloads.iter().enumerate() {
        if let Err(error) = workload.check() {
            let help = Some(error.help_in(advice::Written::StudyFile));
            let path: [&dyn ToString; 3] = [&"workload", &number, &"trace"];
            found.push(Found {
                help,
                ..Found::new(&path, with_cause(&error))
            });
        }
    }
    found
}

/// Returns the message of an error with that of its last cause.
pub(super) fn with_cause(error: &dyn Error) -> String {
    match std::iter::successors(error.source(), |&cause| cause.source()).last() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
