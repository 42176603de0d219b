//! `fathom reproduce`: a paper's experiments again, and its claims beside what was measured.

mod page;
mod rows;
mod why;
mod words;

use crate::args::ReproduceArgs;
use crate::failure::{Exit, Failure};
use crate::{out, watch};
use fathom_lab::reproduce::{self, Options, PAPERS};
use fathom_lab::store;
use fathom_lab::study::{StudyError, Watcher};
use std::path::{Path, PathBuf};

/// Everything that was measured, beside the page.
const RESULTS_FILE: &str = "results.json";

pub(super) fn run(args: &ReproduceArgs) -> Result<Exit, Failure> {
    if reproduce::find(&args.paper).is_none() {
        let names: Vec<&str> = PAPERS.iter().map(|paper| paper.name).collect();
        let message = format!("there is no paper `{}`", args.paper);
        return Err(Failure::input("fathom::reproduce::paper", message)
            .help(format!("there is {}", names.join(", "))));
    }
    watch::on_interrupt()
        .map_err(|e| Failure::input("fathom::signal", "cannot listen for Ctrl-C").because(e))?;
    let prepared = reproduce::prepare(&Options {
        quick: args.quick,
        writes: args.writes,
        traces: args.traces.clone(),
    })?;
    let place = Place::of(args.out.as_deref())?;
    let progress = Progress {
        quiet: args.quiet,
        of: prepared.runs(),
        done: 0.into(),
    };
    let results = match reproduce::run(&prepared, place.path(), &progress, watch::interrupted) {
        Err(StudyError::Interrupted) => {
            out::note(match &place {
                Place::Kept(_) => "Interrupted; the same command goes on from here.",
                Place::Passing(_) => "Interrupted; with --out it would go on from here.",
            });
            return Ok(Exit::Negative);
        }
        results => results?,
    };
    if let Place::Kept(dir) = &place {
        let html = page::page(&prepared, &results);
        // Plain numbers, names and lists: serialising them cannot fail.
        let json = serde_json::to_vec_pretty(&results).unwrap_or_default();
        let files = [
            (store::REPORT_FILE, html.as_bytes()),
            (RESULTS_FILE, json.as_slice()),
        ];
        store::write_whole(dir, &files)?;
    }
    if args.json {
        out::json(&results)?;
    } else {
        out::data(&words::text(&prepared, &results))?;
    }
    Ok(Exit::Done)
}

/// Where the runs are kept.
enum Place {
    /// Where the user said.
    Kept(PathBuf),
    /// Until the command ends.
    Passing(tempfile::TempDir),
}

impl Place {
    fn of(out: Option<&Path>) -> Result<Place, Failure> {
        match out {
            Some(dir) => {
                std::fs::create_dir_all(dir).map_err(|e| {
                    let message = format!("cannot make the directory {}", dir.display());
                    Failure::input("fathom::reproduce::out", message).because(e)
                })?;
                Ok(Place::Kept(dir.to_owned()))
            }
            None => tempfile::tempdir().map(Place::Passing).map_err(|e| {
                Failure::input(
                    "fathom::reproduce::out",
                    "cannot make a temporary directory",
                )
                .because(e)
                .help("name a directory with --out")
            }),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Place::Kept(dir) => dir,
            Place::Passing(dir) => dir.path(),
        }
    }
}

struct Progress {
    quiet: bool,
    of: usize,
    done: std::sync::atomic::AtomicUsize,
}

impl Watcher for Progress {
    fn run_done(&self, name: &str, _done: usize, _of: usize, again: bool) {
        let done = 1 + self.done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if !self.quiet {
            let kept = if again { "" } else { " (was there)" };
            out::note(&format!("{done} of {}: {name}{kept}", self.of));
        }
    }
}
