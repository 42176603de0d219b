//! `fathom compare`: runs of workloads side by side.

use super::page;
use super::table::table;
use crate::args::CompareArgs;
use crate::failure::{Exit, Failure};
use crate::{input, out};
use fathom_lab::store::{self, PROFILE_FILE, REPORT_FILE, RUN_FILE};
use fathom_report::screen::Screen;
use fathom_report::text::{human_bytes, human_duration};
use fathom_run::RunRecord;
use fathom_run::compare::{Basis, Ratio, Verdict};
use fathom_run::compare::{Change, Compared, ComparedSide, Comparison, Named, compare};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub(super) mod beside;
pub(super) mod columns;

/// The kinds of access, in the order shown.
pub(super) const SIDES: [&str; 3] = ["reads", "writes", "all"];

pub(super) const HOW_TO_READ: &str = "Ratio: the mean response time divided by the base's; below 1 is faster. \
    Intervals hold the true value in 95 of 100 cases.";

pub(super) fn run(args: &CompareArgs) -> Result<Exit, Failure> {
    let probed = |path: &Path| path.join(PROFILE_FILE).exists() && !path.join(RUN_FILE).exists();
    if let Some(path) = args.runs.iter().find(|path| probed(path)) {
        return Err(instead(path, ("probe", "replay"), "diff", &args.runs));
    }
    let runs: Vec<Named> = args
        .runs
        .iter()
        .map(|path| named(path))
        .collect::<Result<_, _>>()?;
    let comparison = compare(&runs);
    for run in &comparison.runs {
        for warning in &run.warnings {
            out::note(&format!("warning: {}: {warning}", run.name));
        }
    }
    let outcomes: Vec<&RunRecord> = runs.iter().map(|run| &run.run).collect();
    if let Some(dir) = &args.out {
        store::check_output(dir)?;
        let html = page::of_comparison(&comparison, &outcomes);
        store::write_whole(dir, &[(REPORT_FILE, html.as_bytes())])?;
    }
    match args.json {
        true => out::json(&comparison)?,
        false => out::text(&text(&comparison, &outcomes, out::screen()))?,
    }
    Ok(Exit::Done)
}

/// That a run of one command was named where one of another belongs, and the command that takes it.
pub(super) fn instead(
    path: &Path,
    (is, wanted): (&str, &str),
    command: &str,
    all: &[PathBuf],
) -> Failure {
    let message = format!(
        "{} is a run of `fathom {is}`, and runs of `fathom {wanted}` are wanted",
        out::shown(path)
    );
    let all: Vec<String> = all.iter().map(|path| out::shown(path)).collect();
    Failure::input("fathom::run::other", message).help(format!(
        "compare runs of `fathom {is}` with: fathom {command} {}",
        all.join(" ")
    ))
}

/// Accesses that cannot be read are told and done without.
fn named(path: &Path) -> Result<Named, Failure> {
    input::run(path)?;
    let (run, responses) = out::loaded(store::load_run(path)?);
    Ok(Named {
        name: out::shown(path),
        run,
        responses,
    })
}

fn text(comparison: &Comparison, outcomes: &[&RunRecord], screen: Screen) -> String {
    let mut text = String::new();
    let mut runs = comparison.runs.iter();
    if let Some(base) = runs.next() {
        let _ = writeln!(text, "base: {}", base.name);
    }
    for run in runs {
        let _ = writeln!(text, "{} differs from the base in", run.name);
        if run.changes.is_empty() {
            text += "  nothing\n";
        }
        for change in &run.changes {
            let _ = writeln!(text, "  {}", changed(change));
        }
    }
    for side in SIDES {
        if let Some(rows) = side_rows(comparison, side) {
            let _ = write!(text, "\n{}\n{}", side_title(side), table(&rows, screen));
        }
    }
    let whole = whole_rows(comparison, outcomes);
    let _ = write!(text, "\nWhole run\n{}", table(&whole, screen));
    let names = columns::short_names(comparison);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for beside in beside::tables(&names, outcomes) {
        let _ = write!(
            text,
            "\n{}\n{}",
            beside.title,
            columns::narrow(&beside.rows, screen)
        );
    }
    let _ = write!(text, "\n{HOW_TO_READ}\n");
    for basis in [Basis::Pairs, Basis::Independent] {
        if ratios(comparison).any(|ratio| ratio.basis == basis) {
            let _ = writeln!(text, "{}", explained(basis));
        }
    }
    text
}

fn ratios(comparison: &Comparison) -> impl Iterator<Item = &Ratio> {
    let sides = comparison.runs.iter().flat_map(|run| &run.sides);
    sides.filter_map(|side| side.ratio.as_ref())
}

fn explained(basis: Basis) -> &'static str {
    match basis {
        Basis::Pairs => {
            "\"pairs\": both runs played the same accesses, and each is compared with itself (Fieller's interval over batch means of the pairs)."
        }
        Basis::Independent => {
            "\"runs\": the ratio is of two runs taken as independent (Fieller's interval over each run's batch means); runs of the same \
             workload and seed made with --out are compared access by access, which tells more."
        }
    }
}

/// `write_buffer.policy: lru -> epo`.
fn changed(change: &Change) -> String {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "(absent)".into());
    format!(
        "{}: {} -> {}",
        change.key,
        value(&change.base),
        value(&change.run)
    )
}

pub(super) fn side_title(side: &str) -> String {
    match side {
        "all" => "Response time of reads and writes together".into(),
        side => format!("Response time of {side}"),
    }
}

const HEAD: [&str; 11] = [
    "run",
    "mean",
    "95 % interval",
    "ratio",
    "95 % interval",
    "told",
    "from",
    "p50",
    "p99",
    "p99.9",
    "max",
];

/// The rows of one kind of access, the head first; `None` where no run had it, or where it says nothing new.
pub(super) fn side_rows(comparison: &Comparison, name: &str) -> Option<Vec<Vec<String>>> {
    let of = |run: &Compared| run.sides.iter().find(|side| side.side == name).cloned();
    let present = comparison.runs.iter().any(|run| of(run).is_some());
    // Where there are reads only or writes only, all are these.
    let told = name != "all" || comparison.runs.iter().any(|run| run.sides.len() > 2);
    let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
    rows.extend(comparison.runs.iter().map(|run| match of(run) {
        Some(side) => side_row(&run.name, &side),
        None => vec![run.name.clone(), "none".into()],
    }));
    (present && told).then_some(rows)
}

fn side_row(name: &str, side: &ComparedSide) -> Vec<String> {
    let figures = &side.figures;
    let mean = figures.response_ns;
    let mut cells = vec![
        name.to_owned(),
        time(mean.mean),
        ends(mean.low, mean.high, time),
    ];
    match &side.ratio {
        None => cells.extend(["base", "", "", ""].map(str::to_owned)),
        Some(ratio) => cells.extend([
            ratio.value.map_or_else(|| "-".into(), three),
            ends(ratio.low, ratio.high, three),
            told(ratio.verdict).into(),
            from(ratio.basis).into(),
        ]),
    }
    let quantiles = [
        figures.p50_ns,
        figures.p99_ns,
        figures.p999_ns,
        figures.max_ns,
    ];
    cells.extend(quantiles.map(human_duration));
    cells
}

/// The rows of the whole run, the head first; the fairness where any run had several processes.
pub(super) fn whole_rows(comparison: &Comparison, outcomes: &[&RunRecord]) -> Vec<Vec<String>> {
    let fairness: Vec<Option<f64>> = outcomes.iter().map(|o| o.totals.fairness()).collect();
    let fair = fairness.iter().any(Option::is_some);
    let head = ["run", "accesses/s", "throughput", "fairness (Jain)"];
    let columns = if fair { 4 } else { 3 };
    let mut rows = vec![head[..columns].iter().map(|&n| n.to_owned()).collect()];
    let runs = comparison.runs.iter().zip(fairness);
    rows.extend(runs.map(|(run, fairness)| {
        let mut row = vec![
            run.name.clone(),
            format!("{:.0}", run.accesses_per_second),
            rate(run.bytes_per_second),
            fairness.map_or_else(|| "-".into(), three),
        ];
        row.truncate(columns);
        row
    }));
    rows
}

/// Bytes per second for people.
pub(super) fn rate(bytes_per_second: f64) -> String {
    format!("{}/s", human_bytes(bytes_per_second as u64))
}

const fn told(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::NoDifference => "no difference can be told",
        Verdict::Same => "the same",
        Verdict::TooFew => "too few accesses to tell",
    }
}

const fn from(basis: Basis) -> &'static str {
    match basis {
        Basis::Pairs => "pairs",
        Basis::Independent => "runs",
    }
}

fn ends(low: Option<f64>, high: Option<f64>, put: fn(f64) -> String) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("{} to {}", put(low), put(high)),
        _ => "-".into(),
    }
}

fn three(value: f64) -> String {
    format!("{value:.3}")
}

fn time(ns: f64) -> String {
    human_duration(ns.max(0.0).round() as u64)
}
