//! Compares runs of workloads, as text for the terminal and as a page with one line per run in each figure.

use crate::chart::{Axis, Chart, Interval, Mode, Scale, Series, Unit};
use crate::run::beside;
use crate::run::drawn::Drawn;
use crate::run::layout::{RunPage, render};
use crate::run::words::{ends, rate, time};
use crate::screen::Screen;
use crate::table::Table;
use crate::words::duration;
use fathom_run::compare::{
    Basis, Change, Compared, ComparedSide, Comparison, Named, Ratio, Verdict,
};
use std::cmp::Ordering::Equal;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Kinds of access, in display order.
const SIDES: [&str; 3] = ["reads", "writes", "all"];

/// Maximum width in columns of a table with a column per run, if the screen has no width; further runs go into another
/// table.
const WIDTH: usize = 100;

/// Maximum number of differences shown above the response times; a longer table of them follows below.
const CHANGES_FIRST: usize = 8;

const HOW_TO_READ: &str = "Ratio: the mean response time divided by the base's; below 1 is faster. \
    Intervals hold the true value in 95 of 100 cases.";

/// Returns the comparison as text for the terminal.
pub fn text(comparison: &Comparison, runs: &[Named], screen: Screen) -> String {
    let mut text = String::new();
    let mut compared = comparison.runs.iter();
    if let Some(base) = compared.next() {
        let _ = writeln!(text, "base: {}", base.name);
    }
    for run in compared {
        let _ = writeln!(text, "{} differs from the base in", run.name);
        if run.changes.is_empty() {
            text += "  nothing\n";
        }
        for one in &run.changes {
            let _ = writeln!(text, "  {}", change(one));
        }
    }
    let names: Vec<String> = comparison.runs.iter().map(|run| run.name.clone()).collect();
    let mut put = |table: &Table, screen| {
        let _ = write!(text, "\n{}\n{}", table.title, table.text(screen));
    };
    for side in sides(comparison, &names) {
        put(&side, screen);
    }
    put(&whole(comparison, &names, runs), screen);
    let short = short_names(comparison);
    // These tables have a column for each run.
    let width = Some(screen.width.unwrap_or(WIDTH));
    for beside in beside(&drawn(&short, runs)) {
        put(&beside, Screen { width, ..screen });
    }
    let _ = write!(text, "\n{HOW_TO_READ}\n");
    for basis in [Basis::Pairs, Basis::Independent] {
        if ratios(comparison).any(|ratio| ratio.basis == basis) {
            let _ = writeln!(text, "{}", explained(basis));
        }
    }
    text
}

/// Returns the page of the comparison.
pub fn page(comparison: &Comparison, runs: &[Named]) -> String {
    let names = short_names(comparison);
    let warned = comparison.runs.iter().zip(&names);
    let warned = warned.filter(|(run, _)| !run.warnings.is_empty());
    let warnings = warned.map(|(run, name)| format!("{name}: {}.", run.warnings.join("; ")));
    let mut tables = sides(comparison, &names);
    tables.push(whole(comparison, &names, runs));
    let changes = changes(comparison, &names);
    match changes.rows.len() {
        0 => {}
        1..=CHANGES_FIRST => tables.insert(0, changes),
        _ => tables.push(changes),
    }
    render(&RunPage {
        title: format!("{} runs side by side", names.len()),
        verdict: verdict(comparison, &names),
        lead: Some(ratio_figure(comparison, &names)),
        warnings: warnings.collect(),
        tables,
        runs: drawn(&names, runs),
        ..RunPage::default()
    })
}

fn drawn<'a>(names: &'a [String], runs: &'a [Named]) -> Vec<Drawn<'a>> {
    let runs = names.iter().zip(runs);
    runs.map(|(name, run)| Drawn {
        name,
        run: &run.run,
    })
    .collect()
}

/// Returns the names for columns and legends: without the directory that all runs are in.
fn short_names(comparison: &Comparison) -> Vec<String> {
    let names = || comparison.runs.iter().map(|run| run.name.as_str());
    let dir = |name: &str| name.rfind('/').map_or(0, |at| at + 1);
    let first = names().next().unwrap_or_default();
    let mut common = &first[..dir(first)];
    let below =
        |common: &str| names().all(|name| name.len() > common.len() && name.starts_with(common));
    while !common.is_empty() && !below(common) {
        common = &common[..dir(common.trim_end_matches('/'))];
    }
    names()
        .map(|name| name[common.len()..].to_owned())
        .collect()
}

/// Returns the ratio over reads and writes together, or over the only kind that the run had.
fn overall(run: &Compared) -> Option<&Ratio> {
    let of = |name: &&str| run.sides.iter().find(|side| side.side == *name);
    SIDES.iter().rev().find_map(of)?.ratio.as_ref()
}

/// Returns a sentence on which run is fastest.
fn verdict(comparison: &Comparison, names: &[String]) -> String {
    let Some((base, others)) = names.split_first() else {
        return String::new();
    };
    let ratios = comparison.runs.iter().skip(1).map(overall);
    let ratios = others.iter().zip(ratios);
    let ratios: Vec<(&String, &Ratio)> = ratios.filter_map(|(name, r)| Some((name, r?))).collect();
    let said = |name: &str, ratio: &Ratio| {
        let value = ratio.value.map_or_else(|| "-".into(), three);
        let ends = ends(ratio.low, ratio.high, three);
        format!(
            "The mean response time of {name} is {value} times that of {base} (95 % interval {ends})"
        )
    };
    if let [(name, ratio)] = ratios[..] {
        return format!("{}: {}.", said(name, ratio), told(ratio.verdict));
    }
    let faster = ratios
        .iter()
        .filter(|(_, ratio)| ratio.verdict == Verdict::Faster);
    let fastest = faster.min_by(|(_, a), (_, b)| a.value.partial_cmp(&b.value).unwrap_or(Equal));
    match fastest {
        Some((name, ratio)) => format!("{}: the fastest of {}.", said(name, ratio), names.len()),
        None => format!("The base is {base}. No run is found to be faster."),
    }
}

/// Returns the chart of the ratios of mean response times, with their intervals.
fn ratio_figure(comparison: &Comparison, names: &[String]) -> Chart {
    let line = |(look, name): (usize, &str)| {
        let ratio = |run: &Compared| run.sides.iter().find(|side| side.side == name)?.ratio;
        let ratios: Vec<Option<Ratio>> = comparison.runs.iter().map(ratio).collect();
        let drawn = ratios.iter().any(Option::is_some);
        let base = |(index, ratio): (usize, &Option<Ratio>)| match index {
            0 => Some(1.0),
            _ => (*ratio)?.value,
        };
        let end = |of: fn(&Ratio) -> Option<f64>| {
            let ends = ratios.iter().map(|ratio| ratio.as_ref().and_then(of));
            ends.map(|end| end.unwrap_or(f64::NAN)).collect()
        };
        let heights = ratios.iter().enumerate().map(base);
        let points = (0..).map(f64::from).zip(heights);
        let (low, high) = (end(|ratio| ratio.low), end(|ratio| ratio.high));
        drawn.then(|| Series {
            interval: Some(Interval::of_95_percent(low, high)),
            ..Series::new(name, look, Mode::Marks, points)
        })
    };
    Chart {
        id: "ratios".to_owned(),
        title: "Mean response time, in multiples of the base's".to_owned(),
        see: "Below 1 is faster than the base. A bar is the 95 % interval: where it contains 1, no difference was found.".to_owned(),
        x: Axis::names("", names.to_vec()),
        y: Axis::new("ratio", Unit::Number, Scale::Zero),
        series: SIDES[..2].iter().copied().enumerate().filter_map(line).collect(),
        ..Chart::default()
    }
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

/// Formats a change: `write_buffer.policy: lru -> epo`.
fn change(change: &Change) -> String {
    let (base, run) = (value(&change.base), value(&change.run));
    format!("{}: {base} -> {run}", change.key)
}

fn value(value: &Option<String>) -> String {
    value.clone().unwrap_or_else(|| "(absent)".into())
}

/// Returns the table of differences from the base: a row per key, a column per run.
fn changes(comparison: &Comparison, names: &[String]) -> Table {
    let others = comparison.runs.get(1..).unwrap_or_default();
    let keys: BTreeSet<&str> = others
        .iter()
        .flat_map(|run| run.changes.iter().map(|change| change.key.as_str()))
        .collect();
    let row = |key: &str| {
        let of = |run: &Compared| run.changes.iter().find(|c| c.key == key).cloned();
        let changes: Vec<Option<Change>> = others.iter().map(of).collect();
        let base = changes.iter().flatten().next().map(|c| value(&c.base));
        let cells = changes
            .iter()
            .map(|change| change.as_ref().map(|c| value(&c.run)).unwrap_or_default());
        std::iter::once(key.to_owned())
            .chain(base)
            .chain(cells)
            .collect()
    };
    let head = std::iter::once("key").chain(names.iter().map(String::as_str));
    Table {
        rows: keys.into_iter().map(row).collect(),
        ..Table::new("What differs", "An empty cell equals the base.", head)
    }
}

const HEAD: [&str; 11] = [
    "run",
    "mean",
    "95 % interval",
    "ratio",
    "95 % interval",
    "verdict",
    "basis",
    "p50",
    "p99",
    "p99.9",
    "max",
];

/// Returns a table for each kind of access that a run had. "all" is left out if it repeats the only kind.
fn sides(comparison: &Comparison, names: &[String]) -> Vec<Table> {
    SIDES
        .iter()
        .filter_map(|side| side_table(comparison, names, side))
        .collect()
}

fn side_table(comparison: &Comparison, names: &[String], name: &str) -> Option<Table> {
    let of = |run: &Compared| run.sides.iter().find(|side| side.side == name).cloned();
    let present = comparison.runs.iter().any(|run| of(run).is_some());
    // With reads only or writes only, the table for "all" would repeat theirs.
    let told = name != "all" || comparison.runs.iter().any(|run| run.sides.len() > 2);
    let rows = comparison.runs.iter().zip(names);
    let rows = rows.map(|(run, name)| match of(run) {
        Some(side) => side_row(name, &side),
        None => vec![name.clone(), "none".into()],
    });
    let title = match name {
        "all" => "Response time of reads and writes together".to_owned(),
        side => format!("Response time of {side}"),
    };
    (present && told).then(|| Table {
        rows: rows.collect(),
        ..Table::new(&title, HOW_TO_READ, HEAD)
    })
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
    cells.extend(quantiles.map(duration));
    cells
}

/// Returns the table of the whole runs, with fairness if any run had several processes.
fn whole(comparison: &Comparison, names: &[String], runs: &[Named]) -> Table {
    let fairness: Vec<Option<f64>> = runs.iter().map(|run| run.run.totals.fairness()).collect();
    let fair = fairness.iter().any(Option::is_some);
    let head = ["run", "accesses/s", "throughput", "fairness (Jain)"];
    let columns = if fair { 4 } else { 3 };
    let mut table = Table::new("Whole run", "", head.into_iter().take(columns));
    let runs = comparison.runs.iter().zip(names).zip(fairness);
    table.rows.extend(runs.map(|((run, name), fairness)| {
        let mut row = vec![
            name.clone(),
            format!("{:.0}", run.accesses_per_second),
            rate(run.bytes_per_second),
            fairness.map_or_else(|| "-".into(), three),
        ];
        row.truncate(columns);
        row
    }));
    table
}

const fn told(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::NoDifference => "no difference found",
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

fn three(value: f64) -> String {
    format!("{value:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directories_of_all_runs_are_left_out_where_room_is_short() {
        let short = |names: &[&str]| {
            let run = |name: &&str| Compared {
                name: (*name).to_owned(),
                changes: Vec::new(),
                warnings: Vec::new(),
                sides: Vec::new(),
                accesses_per_second: 0.0,
                bytes_per_second: 0.0,
                write_amplification: None,
                erases: None,
            };
            short_names(&Comparison {
                runs: names.iter().map(run).collect(),
            })
        };
        assert_eq!(short(&["runs/a/x", "runs/a/y"]), ["x", "y"]);
        assert_eq!(short(&["runs/a/x", "runs/b/x"]), ["a/x", "b/x"]);
        assert_eq!(short(&["runs/x/", "runs/xy"]), ["x/", "xy"]);
        assert_eq!(short(&["x", "runs/x"]), ["x", "runs/x"]);
        assert_eq!(short(&["/tmp/x", "x"]), ["/tmp/x", "x"]);
        assert_eq!(short(&["a/", "a/"]), ["a/", "a/"]);
        assert_eq!(short(&["a/b", "a/"]), ["a/b", "a/"]);
        assert_eq!(short(&["ä//x", "ä//y"]), ["x", "y"]);
        assert_eq!(short(&["", "x"]), ["", "x"]);
        assert!(short(&[]).is_empty());
    }
}
