//! Runs of workloads as what their page shows.

use super::{compare, outcome, queue};
use fathom_iosched::{QueueConfig, QueueStats};
use fathom_lab::compare::{Compared, Comparison};
use fathom_lab::replay::{Bucket, Outcome, Quantile, Totals};
use fathom_report::run::{Distribution, RunLines, RunPage, Stretch, Table, render};
use fathom_report::text::human_duration;

/// Write amplification is told for so many stretches of a run: in shorter ones a buffer hides it.
const AMPLIFIED_STRETCHES: usize = 48;

/// The page of one run.
pub(super) fn of_run(outcome: &Outcome) -> String {
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
    let mut rows = outcome::times(outcome);
    let head = rows.remove(0);
    let table = Table {
        title: "Response times".into(),
        note: "From when an access was asked for until it was done. The interval holds the true mean in 95 of \
               100 cases (batch means)."
            .into(),
        head,
        rows,
    };
    let through = outcome.plan.queue.as_ref().zip(outcome.queue.as_ref());
    let queued = through.map(|(config, stats)| given(config, stats));
    let each = outcome
        .totals
        .fairness()
        .map(|fairness| each(outcome, fairness));
    let details = outcome.drive.iter();
    render(&RunPage {
        title: format!("{} on {}", outcome.plan.workload.name, outcome.plan.target),
        about: String::new(),
        facts: named(facts),
        warnings: outcome::warning(outcome).into_iter().collect(),
        tables: [Some(table), queued, each].into_iter().flatten().collect(),
        runs: vec![lines("", outcome)],
        notes: outcome.notes.clone(),
        details: details
            .map(|toml| ("The modelled drive, resolved".into(), toml.clone()))
            .collect(),
    })
}

/// What the block layer gave the drive.
fn given(config: &QueueConfig, stats: &QueueStats) -> Table {
    let mut rows = queue::given(config, stats);
    Table {
        title: format!("Block layer: {}", queue::name(config)),
        note: queue::through(stats),
        head: rows.remove(0),
        rows,
    }
}

/// What each process got.
fn each(outcome: &Outcome, fairness: f64) -> Table {
    let mut rows = outcome::processes(outcome);
    Table {
        title: "Processes".into(),
        note: format!(
            "Jain's index of fairness is {fairness:.3}: 1 where all got the same, 1/n where one of n got everything."
        ),
        head: rows.remove(0),
        rows,
    }
}

/// The page of runs over one another.
pub(super) fn of_comparison(comparison: &Comparison, outcomes: &[&Outcome]) -> String {
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
        tables: tables(comparison),
        runs: runs.map(|(name, outcome)| lines(name, outcome)).collect(),
        ..RunPage::default()
    })
}

/// Runs over one another, under tables.
pub(super) fn side_by_side(
    title: String,
    tables: Vec<Table>,
    names: &[&str],
    outcomes: &[&Outcome],
) -> String {
    let runs = names.iter().zip(outcomes);
    render(&RunPage {
        title,
        tables,
        runs: runs.map(|(name, outcome)| lines(name, outcome)).collect(),
        ..RunPage::default()
    })
}

fn tables(comparison: &Comparison) -> Vec<Table> {
    let mut tables = Vec::new();
    let rows: Vec<Vec<String>> = comparison.runs.iter().flat_map(changed).collect();
    if !rows.is_empty() {
        tables.push(Table {
            title: "What differs".into(),
            head: ["run", "key", "base", "this run"].map(str::to_owned).into(),
            rows,
            ..Table::default()
        });
    }
    let with_head = |title: &str, note: &str, mut rows: Vec<Vec<String>>| Table {
        title: title.to_owned(),
        note: note.to_owned(),
        head: rows.remove(0),
        rows,
    };
    for side in compare::SIDES {
        if let Some(rows) = compare::side_rows(comparison, side) {
            let title = compare::side_title(side);
            tables.push(with_head(&title, compare::HOW_TO_READ, rows));
        }
    }
    tables.push(with_head("Whole run", "", compare::whole_rows(comparison)));
    tables
}

fn changed(run: &Compared) -> Vec<Vec<String>> {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "(absent)".into());
    let changes = run.changes.iter();
    changes
        .map(|c| {
            vec![
                run.name.clone(),
                c.key.clone(),
                value(&c.base),
                value(&c.run),
            ]
        })
        .collect()
}

fn named(facts: Vec<(&str, String)>) -> Vec<(String, String)> {
    let facts = facts.into_iter();
    facts
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn lines(name: &str, outcome: &Outcome) -> RunLines {
    let totals = &outcome.totals;
    let kind = |name: &str, points: &[Quantile]| Distribution {
        name: name.to_owned(),
        points: points.iter().map(|q| (q.share, q.ns)).collect(),
    };
    let kinds = [
        kind("reads", &totals.distribution.reads),
        kind("writes", &totals.distribution.writes),
    ];
    RunLines {
        name: name.to_owned(),
        stretches: stretches(totals),
        distributions: kinds
            .into_iter()
            .filter(|kind| !kind.points.is_empty())
            .collect(),
    }
}

fn stretches(totals: &Totals) -> Vec<Stretch> {
    let width = totals.bucket.0;
    let per = totals.timeline.len().div_ceil(AMPLIFIED_STRETCHES).max(1);
    let begins: Vec<&Bucket> = totals.timeline.iter().step_by(per).collect();
    let stretch = |(index, bucket): (usize, &Bucket)| {
        let some = bucket.count > 0;
        // Told once for each group, at its middle; what the last group did is not known.
        let amplified = (index % per == per / 2)
            .then(|| amplification(begins[index / per], begins.get(index / per + 1)?))
            .flatten();
        // The last stretch ends with the run.
        let begin = index as u64 * width;
        let length = width.min(totals.duration.0.saturating_sub(begin)).max(1);
        Stretch {
            at_ns: begin + length / 2,
            mean_ns: some.then(|| bucket.response_ns as f64 / bucket.count as f64),
            max_ns: some.then_some(bucket.max_ns),
            bytes_per_second: bucket.bytes as f64 * 1e9 / length as f64,
            write_amplification: amplified,
        }
    };
    totals.timeline.iter().enumerate().map(stretch).collect()
}

/// Between the beginnings of two stretches.
fn amplification(begin: &Bucket, end: &Bucket) -> Option<f64> {
    let (a, b) = (&begin.drive, &end.drive);
    let written = b.host_bytes_written.checked_sub(a.host_bytes_written)?;
    let programmed = b
        .flash_bytes_programmed
        .checked_sub(a.flash_bytes_programmed)?;
    (written > 0).then(|| programmed as f64 / written as f64)
}
