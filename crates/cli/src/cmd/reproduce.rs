//! `fathom reproduce`: runs a paper's experiments again and compares its claims with the results.

use crate::args::ReproduceArgs;
use crate::failure::{Exit, Failure};
use crate::progress::Progress;
use crate::{out, watch};
use fathom_lab::reproduce::{self, Options, PAPERS, Paper};
use fathom_lab::store::{self, Passing, SetKind};
use fathom_lab::study::StudyError;
use fathom_report::reproduce::{page, text};
use std::path::{Path, PathBuf};

pub(super) fn run(args: &ReproduceArgs) -> Result<Exit, Failure> {
    let Some(paper) = reproduce::find(&args.paper) else {
        let names: Vec<&str> = PAPERS.iter().map(|paper| paper.name).collect();
        let message = format!("there is no paper `{}`", args.paper);
        return Err(Failure::input("fathom::reproduce::paper", message)
            .help(format!("there are {}", names.join(", "))));
    };
    watch::listen()?;
    check_flags(args, paper)?;
    let prepared = reproduce::prepare(
        paper,
        &Options {
            quick: args.quick,
            writes: args.writes,
            traces: args.traces.clone(),
        },
    )?;
    let place = Place::of(args.out.as_deref())?;
    let progress = Progress::new(args.quiet, prepared.runs());
    let ran = reproduce::run(&prepared, place.path(), &progress, watch::interrupted);
    // Its line ends before anything else is printed.
    drop(progress);
    let found = match ran {
        Err(StudyError::Interrupted) => {
            out::note(match place {
                Place::Kept(_) => "Interrupted; the same command goes on from here.",
                Place::Passing(_) => "Interrupted; with --out it would go on from here.",
            });
            return Ok(Exit::Negative);
        }
        ran => ran?,
    };
    let shown = prepared.shown(paper, &found);
    if let Place::Kept(dir) = &place {
        let html = page(&shown);
        let json = out::versioned(&found)?;
        let files = [
            (store::REPORT_FILE, html.as_bytes()),
            (store::RESULTS_FILE, json.as_bytes()),
        ];
        store::write_whole(dir, &files)?;
    }
    if args.json {
        out::json(&found)?;
    } else {
        out::text(&text(&shown, out::screen()))?;
    }
    Ok(Exit::Done)
}

/// Refuses options for traces if the paper has none.
fn check_flags(args: &ReproduceArgs, paper: &Paper) -> Result<(), Failure> {
    let flags = [
        ("--traces", args.traces.is_some()),
        ("--writes", args.writes.is_some()),
    ];
    match flags.iter().find(|(_, given)| *given) {
        Some((flag, _)) if paper.traces.is_none() => {
            let message = format!("`{flag}` is for traces, and `{}` has none", paper.name);
            Err(Failure::input("fathom::reproduce::flag", message)
                .help("leave it out; `--quick` runs a part"))
        }
        _ => Ok(()),
    }
}

/// Directory of the runs.
enum Place {
    /// The directory given by the user.
    Kept(PathBuf),
    /// A temporary directory, removed when the command ends.
    Passing(Passing),
}

impl Place {
    fn of(out: Option<&Path>) -> Result<Place, Failure> {
        match out {
            Some(dir) => {
                store::check_output(dir, SetKind::Paper)?;
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
