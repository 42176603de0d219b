//! `fathom study`: every run of a study file.

mod cells;
mod page;

use super::file::Kind;
use super::table::table;
use super::workload::is_name;
use crate::args::StudyArgs;
use crate::failure::{Exit, Failure};
use crate::progress::Progress;
use crate::{input, out, watch};
use fathom_lab::store::{self, CELLS_FILE, REPORT_FILE, SUMMARY_FILE, SetKind, StoreError};
use fathom_lab::study::{self, Finished, Row, Run, Study, StudyError};
use fathom_report::screen::Screen;
use fathom_report::text::human_duration;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

pub(super) fn run(args: &StudyArgs) -> Result<Exit, Failure> {
    input::text(&args.study)?;
    match Kind::of(&args.study) {
        Kind::Other if !is_name(&args.study.to_string_lossy()) => {}
        Kind::Study | Kind::Toml => {}
        kind => return Err(kind.misplaced(&args.study, "study")),
    }
    let study = Study::from_file(&args.study)?;
    let runs = study::plan(&study)?;
    if args.dry {
        let names: String = runs.iter().map(|run| format!("{}\n", run.name)).collect();
        out::data(&names)?;
        return Ok(Exit::Done);
    }
    let Some(out) = &args.out else {
        let message = format!(
            "{} runs are kept in a directory, and none is named",
            runs.len()
        );
        return Err(Failure::input("fathom::study::out", message)
            .help("add --out DIR; what is there already is not run again"));
    };
    store::check_output(out, SetKind::Study)?;
    watch::listen()?;
    play(args, &study, &runs, out)
}

/// Runs what is not there yet, writes what was found beside the runs, and prints it.
fn play(args: &StudyArgs, study: &Study, runs: &[Run], out: &Path) -> Result<Exit, Failure> {
    let notes: BTreeSet<&String> = runs.iter().flat_map(|run| &run.notes).collect();
    for note in notes {
        out::note(&format!("warning: {note}"));
    }
    let progress = Progress::new(args.quiet, runs.len());
    match study::run(study, runs, out, &progress, watch::interrupted) {
        Err(StudyError::Interrupted) => {
            out::note("Interrupted; the same command goes on from here.");
            Ok(Exit::Negative)
        }
        Err(error) => Err(error.into()),
        Ok(finished) => {
            let rows = study::rows(&finished);
            // What cannot be written is still printed.
            let saved = save(out, study, &finished, &rows);
            if args.json {
                out::json(&Rows { rows: &rows })?;
            } else {
                out::text(&text(study, &rows, out::screen()))?;
            }
            saved?;
            Ok(Exit::Done)
        }
    }
}

/// Writes the summary, the cells and the page beside the runs.
fn save(dir: &Path, study: &Study, finished: &[Finished], rows: &[Row]) -> Result<(), StoreError> {
    let summary = text(study, rows, Screen::default());
    let cells = cells::csv(study, rows);
    let html = page::page(study, finished, rows, table_of(study, rows));
    let files: [(&str, &[u8]); 3] = [
        (SUMMARY_FILE, summary.as_bytes()),
        (CELLS_FILE, cells.as_bytes()),
        (REPORT_FILE, html.as_bytes()),
    ];
    store::write_whole(dir, &files)
}

/// Every row, for another program.
#[derive(Serialize)]
struct Rows<'a> {
    rows: &'a [Row],
}

/// A study in words and as a table.
fn text(study: &Study, rows: &[Row], screen: Screen) -> String {
    let mut text = format!("{}\n", study.name);
    if !study.about.is_empty() {
        let _ = writeln!(text, "{}", study.about);
    }
    text + "\n" + &table(&table_of(study, rows), screen)
}

/// Its table, the head first.
fn table_of(study: &Study, rows: &[Row]) -> Vec<Vec<String>> {
    let axes: Vec<&str> = study.axes.iter().map(|axis| axis.name.as_str()).collect();
    let mut head = vec!["workload"];
    head.extend(&axes);
    head.extend([
        "mean response",
        "95 % interval",
        "p99",
        "accesses/s",
        "write amplification",
        "erases",
    ]);
    let mut cells: Vec<Vec<String>> = vec![head.into_iter().map(str::to_owned).collect()];
    cells.extend(rows.iter().map(row));
    cells
}

fn row(row: &Row) -> Vec<String> {
    let dash = || "-".to_owned();
    let time = |ns: f64| human_duration(ns.max(0.0).round() as u64);
    let mut cells = vec![row.workload.clone()];
    cells.extend(row.points.iter().map(|(_, point)| point.clone()));
    let response = row.response_ns;
    cells.push(response.map_or_else(dash, |r| time(r.mean)));
    let ends = response.and_then(|r| r.low.zip(r.high));
    cells.push(ends.map_or_else(dash, |(low, high)| {
        format!("{} to {}", time(low), time(high))
    }));
    cells.push(row.p99_ns.map_or_else(dash, time));
    cells.push(format!("{:.0}", row.accesses_per_second));
    cells.push(
        row.write_amplification
            .map_or_else(dash, |w| format!("{w:.3}")),
    );
    cells.push(format!("{:.0}", row.erases));
    cells
}
