//! `fathom reproduce`: a paper's experiments again, and its claims beside what was measured.

mod grids;
mod page;
mod paper;
mod rows;
mod why;
mod words;

use crate::args::ReproduceArgs;
use crate::failure::{Exit, Failure};
use crate::progress::Progress;
use crate::{out, watch};
use fathom_lab::reproduce::{self, Files, Options, PAPERS, Paper};
use fathom_lab::store::{self, Passing};
use fathom_lab::study::StudyError;
use std::path::{Path, PathBuf};

pub(super) fn run(args: &ReproduceArgs) -> Result<Exit, Failure> {
    let Some(paper) = reproduce::find(&args.paper) else {
        let names: Vec<&str> = PAPERS.iter().map(|paper| paper.name).collect();
        let message = format!("there is no paper `{}`", args.paper);
        return Err(Failure::input("fathom::reproduce::paper", message)
            .help(format!("there are {}", names.join(", "))));
    };
    watch::listen()?;
    match &paper.files {
        None => epo(args),
        Some(files) => of_files(args, paper, files),
    }
}

/// What the `epo` paper's own code gives.
fn epo(args: &ReproduceArgs) -> Result<Exit, Failure> {
    let prepared = reproduce::prepare(&Options {
        quick: args.quick,
        writes: args.writes,
        traces: args.traces.clone(),
    })?;
    let place = Place::of(args.out.as_deref())?;
    let progress = Progress::new(args.quiet, prepared.runs());
    let ran = reproduce::run(&prepared, place.path(), &progress, watch::interrupted);
    let Some(results) = ended(ran, &place)? else {
        return Ok(Exit::Negative);
    };
    let page = || page::page(&prepared, &results);
    tell(args, &place, &results, page, || {
        words::text(&prepared, &results, out::screen())
    })
}

/// What a paper gives that is data alone.
fn of_files(args: &ReproduceArgs, paper: &Paper, files: &Files) -> Result<Exit, Failure> {
    for (flag, given) in [
        ("--traces", args.traces.is_some()),
        ("--writes", args.writes.is_some()),
    ] {
        if given {
            let message = format!("`{flag}` is for traces, and `{}` has none", paper.name);
            return Err(Failure::input("fathom::reproduce::flag", message)
                .help("leave it out; `--quick` runs a part"));
        }
    }
    let prepared = reproduce::paper::prepare(files, args.quick)?;
    let place = Place::of(args.out.as_deref())?;
    let progress = Progress::new(args.quiet, prepared.runs());
    let ran = reproduce::paper::run(&prepared, place.path(), &progress, watch::interrupted);
    let Some(found) = ended(ran, &place)? else {
        return Ok(Exit::Negative);
    };
    let page = || paper::page(paper, &prepared, &found);
    tell(args, &place, &found, page, || {
        paper::text(paper, &prepared, &found, out::screen())
    })
}

/// What came of it, unless the user wanted no more.
fn ended<T>(ran: Result<T, StudyError>, place: &Place) -> Result<Option<T>, Failure> {
    match ran {
        Err(StudyError::Interrupted) => {
            out::note(match place {
                Place::Kept(_) => "Interrupted; the same command goes on from here.",
                Place::Passing(_) => "Interrupted; with --out it would go on from here.",
            });
            Ok(None)
        }
        ran => Ok(Some(ran?)),
    }
}

/// Keeps the page and the numbers where the user wants them, and prints.
fn tell(
    args: &ReproduceArgs,
    place: &Place,
    results: &impl serde::Serialize,
    page: impl FnOnce() -> String,
    text: impl FnOnce() -> String,
) -> Result<Exit, Failure> {
    if let Place::Kept(dir) = place {
        let html = page();
        // Plain numbers, names and lists: serialising them cannot fail.
        let json = serde_json::to_vec_pretty(results).unwrap_or_default();
        let files = [
            (store::REPORT_FILE, html.as_bytes()),
            (store::RESULTS_FILE, json.as_slice()),
        ];
        store::write_whole(dir, &files)?;
    }
    if args.json {
        out::json(results)?;
    } else {
        out::text(&text())?;
    }
    Ok(Exit::Done)
}

/// Where the runs are kept.
enum Place {
    /// Where the user said.
    Kept(PathBuf),
    /// Until the command ends.
    Passing(Passing),
}

impl Place {
    fn of(out: Option<&Path>) -> Result<Place, Failure> {
        match out {
            Some(dir) => {
                store::check_output(dir)?;
                Ok(Place::Kept(dir.to_owned()))
            }
            None => match Passing::new() {
                Ok(passing) => Ok(Place::Passing(passing)),
                Err(error) => Err(Failure::from(error).help("name a directory with --out")),
            },
        }
    }

    fn path(&self) -> &Path {
        match self {
            Place::Kept(dir) => dir,
            Place::Passing(dir) => dir.path(),
        }
    }
}
