//! `fathom run`: a study.

use super::table::table;
use super::workload::no_drive_file;
use crate::args::RunArgs;
use crate::failure::{Exit, Failure};
use crate::progress::Progress;
use crate::{input, out, watch};
use fathom_lab::study::{self, Row, Study, StudyError};
use fathom_report::screen::Screen;
use fathom_report::text::human_duration;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write as _;

pub(super) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    input::text(&args.study)?;
    no_drive_file(&args.study, "study")?;
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
    watch::listen()?;
    let notes: BTreeSet<&String> = runs.iter().flat_map(|run| &run.notes).collect();
    for note in notes {
        out::note(&format!("warning: {note}"));
    }
    let progress = Progress::new(args.quiet, runs.len());
    match study::run(&study, &runs, out, &progress, watch::interrupted) {
        Err(StudyError::Interrupted) => {
            out::note("Interrupted; the same command goes on from here.");
            Ok(Exit::Negative)
        }
        Err(error) => Err(error.into()),
        Ok(finished) => {
            let rows = study::rows(&finished);
            if args.json {
                out::json(&Rows { rows: &rows })?;
            } else {
                out::text(&text(&study, &rows, out::screen()))?;
            }
            Ok(Exit::Done)
        }
    }
}

/// Every row, for another program.
#[derive(Serialize)]
struct Rows<'a> {
    rows: &'a [Row],
}

/// The table of a study.
pub(super) fn text(study: &Study, rows: &[Row], screen: Screen) -> String {
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
    let mut text = format!("{}\n", study.name);
    if !study.about.is_empty() {
        let _ = writeln!(text, "{}", study.about);
    }
    text + "\n" + &table(&cells, screen)
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
