//! Runs of workloads as what their page shows.

use super::compare::{beside, columns};
use super::{compare, outcome, queue};
use fathom_report::run::{RunPage, Table, render};
use fathom_report::text::human_duration;
use fathom_run::RunRecord;
use fathom_run::compare::{Change, Compared, Comparison};
use lines::lines;
use std::collections::BTreeSet;

mod lines;

/// The page of one run.
pub(super) fn of_run(outcome: &RunRecord) -> String {
    let totals = &outcome.totals;
    let rate = format!("{:.0}", totals.accesses_per_second());
    let mut facts = vec![
        ("drive", outcome.plan.target.clone()),
        ("arrival", outcome::arrival(outcome)),
        ("drive before", outcome::before(outcome)),
        ("seed", outcome.plan.seed.to_string()),
        ("took", human_duration(totals.duration.0)),
        ("accesses a second", rate),
        ("throughput", compare::rate(totals.bytes_per_second())),
    ];
    if let Some(work) = &outcome.work {
        if let Some(waf) = work.write_amplification() {
            facts.push(("write amplification", format!("{waf:.3}")));
        }
        facts.push(("blocks erased", work.erases.to_string()));
    }
    if let Some(config) = &outcome.plan.queue {
        facts.push(("block layer", queue::name(config)));
    }
    facts.push(("Fathom", outcome.fathom.clone()));
    let times = with_head(
        "Response times",
        "From when an access was asked for until it was done. The interval holds the true mean in 95 of 100 cases \
         (batch means).",
        outcome::times(outcome),
    );
    let each = outcome
        .totals
        .fairness()
        .map(|fairness| each(outcome, fairness));
    let mut tables = vec![times];
    tables.extend(each);
    let details = outcome.drive.iter();
    render(&RunPage {
        title: format!(
            "{} on {}",
            outcome.plan.workload.name(),
            outcome.plan.target
        ),
        about: String::new(),
        facts: named(facts),
        warnings: outcome::warnings(outcome),
        tables,
        beneath: beneath(&["this run"], &[outcome]),
        runs: vec![lines("", outcome)],
        notes: outcome.notes.clone(),
        details: details
            .map(|toml| ("The modelled drive, resolved".into(), toml.clone()))
            .collect(),
    })
}

/// What each process got.
fn each(outcome: &RunRecord, fairness: f64) -> Table {
    let note = format!(
        "Jain's index of fairness is {fairness:.3}: 1 where all got the same, 1/n where one of n got everything."
    );
    with_head("Processes", &note, outcome::processes(outcome))
}

/// What the block layer, the drive and a program did, a column for each run.
fn beneath(names: &[&str], outcomes: &[&RunRecord]) -> Vec<Table> {
    let tables = beside::tables(names, outcomes).into_iter();
    tables
        .map(|beside| with_head(beside.title, beside.note, beside.rows))
        .collect()
}

/// The first row is the head.
fn with_head(title: &str, note: &str, mut rows: Vec<Vec<String>>) -> Table {
    Table {
        title: title.to_owned(),
        note: note.to_owned(),
        head: rows.remove(0),
        rows,
    }
}

/// The page of runs over one another.
pub(super) fn of_comparison(comparison: &Comparison, outcomes: &[&RunRecord]) -> String {
    let comparison = &renamed(comparison);
    let names: Vec<&str> = comparison.runs.iter().map(|r| r.name.as_str()).collect();
    let warnings = comparison.runs.iter().flat_map(|run| {
        let told = run.warnings.iter();
        told.map(|warning| format!("{}: {warning}.", run.name))
    });
    let runs = names.iter().zip(outcomes);
    render(&RunPage {
        title: format!("{} runs side by side", names.len()),
        about: format!("The base is {}.", names.first().unwrap_or(&"")),
        warnings: warnings.collect(),
        tables: tables(comparison, outcomes),
        beneath: beneath(&names, outcomes),
        runs: runs.map(|(name, outcome)| lines(name, outcome)).collect(),
        ..RunPage::default()
    })
}

/// The same with names for which there is room in a legend.
fn renamed(comparison: &Comparison) -> Comparison {
    let mut short = comparison.clone();
    let names = columns::short_names(comparison);
    for (run, name) in short.runs.iter_mut().zip(names) {
        run.name = name;
    }
    short
}

/// Runs over one another, under tables.
pub(super) fn side_by_side(
    title: String,
    tables: Vec<Table>,
    names: &[&str],
    outcomes: &[&RunRecord],
) -> String {
    let runs = names.iter().zip(outcomes);
    render(&RunPage {
        title,
        tables,
        beneath: beneath(names, outcomes),
        runs: runs.map(|(name, outcome)| lines(name, outcome)).collect(),
        ..RunPage::default()
    })
}

fn tables(comparison: &Comparison, outcomes: &[&RunRecord]) -> Vec<Table> {
    let mut tables = Vec::new();
    let changed = changed(comparison);
    if changed.len() > 1 {
        let note = "What is empty is as in the base.";
        tables.push(with_head("What differs", note, changed));
    }
    for side in compare::SIDES {
        if let Some(rows) = compare::side_rows(comparison, side) {
            let title = compare::side_title(side);
            tables.push(with_head(&title, compare::HOW_TO_READ, rows));
        }
    }
    tables.push(with_head(
        "Whole run",
        "",
        compare::whole_rows(comparison, outcomes),
    ));
    tables
}

/// What differs from the base: a row for each key, a column for each run.
fn changed(comparison: &Comparison) -> Vec<Vec<String>> {
    let names = comparison.runs.iter().map(|run| run.name.clone());
    let others = comparison.runs.get(1..).unwrap_or_default();
    let keys: BTreeSet<&str> = others
        .iter()
        .flat_map(|run| run.changes.iter().map(|change| change.key.as_str()))
        .collect();
    let head = std::iter::once("key".to_owned()).chain(names).collect();
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "(absent)".into());
    let row = |key: &&str| {
        let of = |run: &Compared| run.changes.iter().find(|c| c.key == *key).cloned();
        let changes: Vec<Option<Change>> = others.iter().map(of).collect();
        let base = changes.iter().flatten().next().map(|c| value(&c.base));
        let cells = changes
            .iter()
            .map(|change| change.as_ref().map(|c| value(&c.run)).unwrap_or_default());
        let name = std::iter::once((*key).to_owned());
        name.chain(base).chain(cells).collect()
    };
    let rows = keys.iter().map(row);
    std::iter::once(head).chain(rows).collect()
}

fn named(facts: Vec<(&str, String)>) -> Vec<(String, String)> {
    let facts = facts.into_iter();
    facts
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
