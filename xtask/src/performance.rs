//! `cargo xtask performance`: the table of docs/performance.md, on the terminal.
//!
//! It builds the example `performance` of the drives, runs every case several times, each in a process of its own, and
//! counts instructions with valgrind where that is installed. It changes no file and judges nothing.

use crate::command::{Outcome, cargo, succeeds};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

/// Runs of a case, where no number is given; the table has the median.
const RUNS: usize = 3;
/// Requests under callgrind, which makes a program fifty times slower.
const COUNTED: u64 = 100_000;

/// A row of the table.
struct Case {
    name: &'static str,
    drive: &'static str,
    load: &'static str,
    requests: u64,
    /// The drive on which instructions are counted: one that is prepared sooner.
    counted_on: Option<&'static str>,
}

const fn case(
    name: &'static str,
    drive: &'static str,
    load: &'static str,
    requests: u64,
    counted_on: Option<&'static str>,
) -> Case {
    Case {
        name,
        drive,
        load,
        requests,
        counted_on,
    }
}

const CASES: &[Case] = &[
    case(
        "`epo`: random reads",
        "epo",
        "reads",
        5_000_000,
        Some("tight-32"),
    ),
    case(
        "`epo`: random writes, new drive",
        "epo",
        "fresh",
        3_000_000,
        Some("epo"),
    ),
    case(
        "`epo`: random writes, collecting",
        "tight-1",
        "steady",
        2_000_000,
        Some("tight-32"),
    ),
    case(
        "`ms-ssd`: random reads",
        "ms-ssd",
        "reads",
        5_000_000,
        Some("ms-ssd"),
    ),
    case(
        "`ms-ssd`: random writes, new drive",
        "ms-ssd",
        "fresh",
        3_000_000,
        Some("ms-ssd"),
    ),
    case(
        "`ms-ssd`: random writes, collecting",
        "ms-ssd",
        "steady",
        2_000_000,
        None,
    ),
    case("`epo`: set-up", "epo", "setup", 0, None),
    case("`ms-ssd`: set-up", "ms-ssd", "setup", 0, None),
    case(
        "1 TiB: every page written in order",
        "tebibyte",
        "fill",
        0,
        None,
    ),
];

/// Prints the table, of so many runs of each case.
pub(crate) fn run(runs: Option<usize>) -> Outcome {
    let runs = runs.unwrap_or(RUNS).max(1);
    let mut build = cargo(&[
        "build",
        "--profile",
        "dist",
        "-p",
        "fathom-model",
        "--example",
        "performance",
    ]);
    if succeeds(&mut build) == Outcome::Failed {
        return Outcome::Failed;
    }
    println!(
        "| case | million requests/s | instructions a request | write amplification | set-up or preparing, s | resident, MiB |"
    );
    println!("|---|--:|--:|--:|--:|--:|");
    for case in CASES {
        match row(case, runs) {
            Ok(row) => println!("{row}"),
            Err(error) => {
                eprintln!("{}: {error}", case.name);
                return Outcome::Failed;
            }
        }
    }
    Outcome::Passed
}

fn row(case: &Case, runs: usize) -> Result<String, String> {
    let runs: Vec<Figures> = (0..runs).map(|_| figures(case)).collect::<Result<_, _>>()?;
    let median = |key: &str| {
        let mut all: Vec<f64> = runs
            .iter()
            .filter_map(|run| run.get(key))
            .copied()
            .collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied()
    };
    let cell = |figure: Option<f64>, decimals| {
        figure.map_or_else(|| "-".to_owned(), |f| format!("{f:.decimals$}"))
    };
    let rate = median("per_second").filter(|&rate| rate > 0.0);
    let seconds = match case.load {
        "fill" => median("measured_seconds"),
        _ => median("prepare_seconds"),
    };
    Ok(format!(
        "| {} | {} | {} | {} | {} | {} |",
        case.name,
        cell(rate.map(|rate| rate / 1e6), 2),
        cell(
            case.counted_on.and_then(|drive| instructions(case, drive)),
            0
        ),
        cell(median("write_amplification"), 2),
        cell(seconds, 3),
        cell(median("peak_kib").map(|kib| kib / 1024.0), 0),
    ))
}

/// What one run printed.
type Figures = BTreeMap<String, f64>;

fn figures(case: &Case) -> Result<Figures, String> {
    let requests = case.requests.to_string();
    let output = Command::new(program())
        .args([case.drive, case.load, &requests])
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    let read = pairs.filter_map(|(key, value)| Some((key.to_owned(), value.parse().ok()?)));
    Ok(read.collect())
}

/// Instructions a request of the load alone; `None` where valgrind is not at hand.
fn instructions(case: &Case, drive: &str) -> Option<f64> {
    let counted = COUNTED.to_string();
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args(["--collect-atstart=no", "--toggle-collect=*cases::measured*"])
        .arg(program())
        .args([drive, case.load, &counted])
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|line| line.contains("Collected :"))?;
    let count: f64 = line.rsplit(' ').next()?.parse().ok()?;
    Some(count / COUNTED as f64)
}

fn program() -> PathBuf {
    crate::command::program("dist", "performance")
}
