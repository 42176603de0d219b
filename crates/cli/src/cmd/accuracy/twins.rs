//! `fathom accuracy --twin`: makes twins of random drives and compares them with the drives.

use crate::args::AccuracyArgs;
use crate::failure::{Exit, Failure};
use crate::{out, watch};
use fathom_lab::twin::{Watcher, compare};
use fathom_probe::Level;
use fathom_report::accuracy::Family;
use fathom_report::twin::{Campaign, Compared, campaign_text, keeps_promise};
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};

/// The JSON output.
#[derive(Serialize)]
struct Whole<'a> {
    plan: &'a Campaign,
    interrupted: bool,
    drives: &'a [Compared],
}

pub(super) fn run(args: &AccuracyArgs) -> Result<Exit, Failure> {
    if args.family == Family::Noise {
        let rest = Family::ALL
            .iter()
            .filter(|family| **family != Family::Noise);
        let rest: Vec<&str> = rest.map(|family| family.name()).collect();
        let said = "the family `noise` has no drives, only latencies: there is nothing that a twin could be compared with";
        let help = format!(
            "with --twin, choose a family of drives: {}",
            rest.join(", ")
        );
        return Err(Failure::input("fathom::accuracy", said).help(help));
    }
    let plan = Campaign {
        family: args.family,
        seed: args.seed,
        skip: args.skip,
        drives: args.drives,
        level: args.level.unwrap_or(Level::Full),
        again: !args.once,
    };
    watch::listen()?;
    let progress = Progress {
        quiet: args.quiet,
        of: plan.drives,
        done: AtomicU64::new(0),
    };
    let drives = compare(&plan, &progress);
    let interrupted = (drives.len() as u64) < plan.drives;
    if interrupted {
        let done = drives.len();
        out::note(&format!(
            "Interrupted: {done} of {} drives were finished.",
            plan.drives
        ));
    }
    match args.json {
        true => out::json(&Whole {
            plan: &plan,
            interrupted,
            drives: &drives,
        })?,
        false => out::text(&campaign_text(&plan, &drives, out::screen()))?,
    }
    Ok(match !interrupted && keeps_promise(&drives) {
        true => Exit::Done,
        false => Exit::Negative,
    })
}

struct Progress {
    quiet: bool,
    of: u64,
    done: AtomicU64,
}

impl Watcher for Progress {
    fn drive_done(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if !self.quiet {
            out::note(&format!("{done} of {} drives", self.of));
        }
    }

    fn interrupted(&self) -> bool {
        watch::interrupted()
    }
}
