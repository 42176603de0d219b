//! `cargo xtask performance`: prints the table of docs/performance.md on the terminal.
//!
//! It builds the example `performance` of the drives, runs every case several times, each time in its own process, and
//! counts instructions with valgrind if that is installed. It changes no file and compares with no limit.

use crate::dist::Programs;
use crate::guided;
use std::collections::BTreeMap;
use std::process::{Command, ExitCode};

/// Default number of runs of a case; the table shows the median.
const RUNS: usize = 3;
/// Number of requests under callgrind, which makes a program fifty times slower.
const COUNTED: u64 = 100_000;

/// The rows of the table: drive, load, requests, the drive on which instructions are counted, which is faster to prepare
/// (`-` for none), and the title of the row.
const CASES: &str = "
epo reads 5000000 tight-32 `epo`: random reads
epo fresh 3000000 epo `epo`: random writes, new drive
tight-1 steady 2000000 tight-32 `epo`: random writes, collecting
ms-ssd reads 5000000 ms-ssd `ms-ssd`: random reads
ms-ssd fresh 3000000 ms-ssd `ms-ssd`: random writes, new drive
ms-ssd steady 2000000 - `ms-ssd`: random writes, collecting
epo setup 0 - `epo`: set-up
ms-ssd setup 0 - `ms-ssd`: set-up
tebibyte fill 0 - 1 TiB: every page written in order
";

/// A row of [`CASES`].
struct Case<'a> {
    drive: &'a str,
    load: &'a str,
    requests: &'a str,
    counted_on: Option<&'a str>,
    name: &'a str,
}

impl<'a> Case<'a> {
    /// Parses a row; `None` for an empty line.
    fn of(line: &'a str) -> Option<Self> {
        let mut words = line.splitn(5, ' ');
        let mut next = || words.next();
        Some(Self {
            drive: next()?,
            load: next()?,
            requests: next()?,
            counted_on: Some(next()?).filter(|drive| *drive != "-"),
            name: next()?,
        })
    }
}

/// Prints the table.
pub(crate) fn run(args: &[String]) -> ExitCode {
    let (guided, runs) = match args.split_first() {
        Some((first, runs)) if first == "--guided" => (true, runs),
        _ => (false, args),
    };
    let runs = match runs {
        [] => Some(RUNS),
        [runs] => runs.parse().ok().filter(|&runs| runs > 0),
        _ => None,
    };
    let Some(runs) = runs else {
        eprintln!("Usage: cargo xtask performance [--guided] [RUNS]");
        return ExitCode::from(2);
    };
    match guided::chosen(guided) {
        Ok(programs) => table(&programs, runs),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the table, with `runs` runs of each case.
fn table(programs: &Programs, runs: usize) -> ExitCode {
    println!(
        "| case | million requests/s | instructions a request | write amplification | set-up or preparing, s | resident, MiB |"
    );
    println!("|---|--:|--:|--:|--:|--:|");
    for case in CASES.lines().filter_map(Case::of) {
        match row(programs, &case, runs) {
            Ok(row) => println!("{row}"),
            Err(error) => {
                eprintln!("{}: {error}", case.name);
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

fn row(programs: &Programs, case: &Case<'_>, runs: usize) -> Result<String, String> {
    let runs: Vec<Figures> = (0..runs)
        .map(|_| figures(programs, case))
        .collect::<Result<_, _>>()?;
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
            case.counted_on
                .and_then(|drive| instructions(programs, case, drive)),
            0
        ),
        cell(median("write_amplification"), 2),
        cell(seconds, 3),
        cell(median("peak_kib").map(|kib| kib / 1024.0), 0),
    ))
}

/// Returns the requests per second of a load's inner loop on a drive of the example.
///
/// # Errors
/// The example fails.
pub(crate) fn inner_loop(
    programs: &Programs,
    (drive, load): (&str, &str),
    requests: u64,
) -> Result<f64, String> {
    let requests = requests.to_string();
    let case = Case {
        drive,
        load,
        requests: &requests,
        counted_on: None,
        name: "",
    };
    let per_second = figures(programs, &case)?.get("per_second").copied();
    per_second.ok_or_else(|| "the example prints no `per_second`".to_owned())
}

/// The figures printed by one run.
type Figures = BTreeMap<String, f64>;

fn figures(programs: &Programs, case: &Case<'_>) -> Result<Figures, String> {
    let output = Command::new(programs.inner_loop())
        .args([case.drive, case.load, case.requests])
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

/// Returns the instructions per request of the load alone; `None` if valgrind is not installed.
fn instructions(programs: &Programs, case: &Case<'_>, drive: &str) -> Option<f64> {
    let counted = COUNTED.to_string();
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args(["--collect-atstart=no", "--toggle-collect=*cases::measured*"])
        .arg(programs.inner_loop())
        .args([drive, case.load, &counted])
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|line| line.contains("Collected :"))?;
    let count: f64 = line.rsplit(' ').next()?.parse().ok()?;
    Some(count / COUNTED as f64)
}

#[test]
fn every_row_is_a_case() {
    let rows = CASES.trim().lines();
    assert!(rows.map(Case::of).all(|case| case.is_some()));
}
