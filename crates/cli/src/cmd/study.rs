//! `fathom study`: runs everything in a study file.

use super::workload::is_name;
use crate::args::StudyArgs;
use crate::failure::{Exit, Failure};
use crate::file_kind::FileKind;
use crate::progress::Progress;
use crate::{input, out, watch};
use fathom_lab::store::{self, CELLS_FILE, REPORT_FILE, SUMMARY_FILE, SetKind, StoreError};
use fathom_lab::study::{self, Finished, Run, Study, StudyError};
use fathom_report::rows::{self as shown, StudyRows};
use fathom_report::screen::Screen;
use fathom_run::compare::Row;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

pub(super) fn run(args: &StudyArgs) -> Result<Exit, Failure> {
    input::text(&args.study)?;
    match FileKind::of(&args.study) {
        FileKind::Other if !is_name(&args.study.to_string_lossy()) => {}
        FileKind::Study | FileKind::Toml => {}
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

/// Runs what is missing, saves the results beside the runs, and prints them.
fn play(args: &StudyArgs, study: &Study, runs: &[Run], out: &Path) -> Result<Exit, Failure> {
    let notes: BTreeSet<&String> = runs.iter().flat_map(|run| &run.notes).collect();
    for note in notes {
        out::note(&format!("warning: {note}"));
    }
    let progress = Progress::new(args.quiet, runs.len());
    let ran = study::run(study, runs, out, &progress, watch::interrupted);
    // Its line ends before anything else is printed.
    drop(progress);
    match ran {
        Err(StudyError::Interrupted) => {
            out::note("Interrupted; the same command goes on from here.");
            Ok(Exit::Negative)
        }
        Err(error) => Err(error.into()),
        Ok(finished) => {
            let rows = study::rows(&finished);
            // Results that cannot be saved are still printed.
            let described = described(study, &finished, &rows);
            let saved = save(out, &described);
            if args.json {
                out::json(&Rows { rows: &rows })?;
            } else {
                out::text(&shown::text(&described, out::screen()))?;
            }
            saved?;
            Ok(Exit::Done)
        }
    }
}

/// Returns the rows with the study's facts and warnings.
fn described<'a>(study: &'a Study, finished: &[Finished], rows: &'a [Row]) -> StudyRows<'a> {
    let fathom = finished.first().map(|run| run.record.fathom.clone());
    let seeds: Vec<String> = study.seeds.iter().map(ToString::to_string).collect();
    let facts = [
        ("drive", study.drive.clone()),
        ("runs", finished.len().to_string()),
        ("seeds", seeds.join(", ")),
        ("Fathom", fathom.unwrap_or_default()),
    ];
    let warnings = finished.iter().flat_map(|run| &run.record.warnings);
    let once: BTreeSet<&String> = warnings.collect();
    StudyRows {
        name: &study.name,
        about: &study.about,
        facts: facts.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        warnings: once.into_iter().cloned().collect(),
        axes: study.axes.iter().map(|axis| axis.name.as_str()).collect(),
        rows,
    }
}

/// Writes the summary, the rows as CSV and the page beside the runs.
fn save(dir: &Path, study: &StudyRows<'_>) -> Result<(), StoreError> {
    let [summary, cells, html] = [
        shown::text(study, Screen::default()),
        shown::csv(study),
        shown::page(study),
    ];
    let files = [
        (SUMMARY_FILE, summary.as_bytes()),
        (CELLS_FILE, cells.as_bytes()),
        (REPORT_FILE, html.as_bytes()),
    ];
    store::write_whole(dir, &files)
}

/// The JSON output.
#[derive(Serialize)]
struct Rows<'a> {
    rows: &'a [Row],
}
