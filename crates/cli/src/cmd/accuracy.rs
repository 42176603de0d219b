//! `fathom accuracy`: probes random targets and counts how often the answers are right.

mod shown;
mod tables;

use crate::args::{AccuracyArgs, Families, Methods};
use crate::failure::{Exit, Failure};
use crate::{out, watch};
use fathom_lab::accuracy::{self, Family, MethodTally, Plan, Results, Watcher, tally};
use fathom_probe::{Method, Parameter};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) fn run(args: &AccuracyArgs) -> Result<Exit, Failure> {
    let place = |index| shown::Place {
        family: family(args.family),
        seed: args.seed,
        index,
    };
    if let Some(index) = args.show {
        out::data(&shown::target(place(index)))?;
        return Ok(Exit::Done);
    }
    let plan = plan(args);
    watch::listen()?;
    let results = probed(&plan, args.quiet);
    let done = results.drives.len() as u64;
    let interrupted = done < plan.drives;
    if interrupted {
        out::note(&format!(
            "Interrupted: {done} of {} drives were finished.",
            plan.drives
        ));
    }
    if done == 0 {
        return Ok(Exit::Negative);
    }
    let tallies = tally(&results);
    match args.drive {
        _ if args.json => out::json(&Whole {
            plan: &plan,
            interrupted,
            tallies: &tallies,
            results: &results,
        })?,
        Some(index) => out::data(&shown::answered(place(index), &results.answers))?,
        None => out::text(&tables::text(&plan, &tallies, &results, out::screen()))?,
    }
    let robust = tallies.iter().find(|t| t.method == Method::Robust);
    Ok(match robust {
        _ if interrupted => Exit::Negative,
        Some(tally) if !tally.all.keeps_promise(plan.family) => Exit::Negative,
        _ => Exit::Done,
    })
}

/// Probes the drives of a plan, each on its own and in parallel. After an interruption, the result holds the finished
/// drives, in order.
fn probed(plan: &Plan, quiet: bool) -> Results {
    let progress = Progress {
        quiet,
        of: plan.drives,
        done: AtomicU64::new(0),
    };
    let drives: Vec<u64> = (plan.skip..plan.skip.saturating_add(plan.drives)).collect();
    let each: Vec<Option<Results>> = drives
        .into_par_iter()
        // One drive per task: their durations differ too much for fixed shares.
        .with_max_len(1)
        .map(|index| {
            let alone = Plan {
                skip: index,
                drives: 1,
                ..plan.clone()
            };
            accuracy::run(&alone, &progress)
        })
        .collect();
    let mut all = Results::default();
    for results in each.into_iter().flatten() {
        all.drives.extend(results.drives);
        all.answers.extend(results.answers);
    }
    all
}

fn plan(args: &AccuracyArgs) -> Plan {
    Plan {
        family: family(args.family),
        seed: args.seed,
        skip: args.drive.unwrap_or(args.skip),
        drives: args.drive.map_or(args.drives, |_| 1),
        methods: match args.method {
            Methods::Robust => vec![Method::Robust],
            Methods::Paper => vec![Method::Paper],
            Methods::Both => vec![Method::Robust, Method::Paper],
        },
        thin: args.thin,
        parameters: Parameter::ALL
            .into_iter()
            .filter(|parameter| args.only.is_empty() || args.only.contains(parameter))
            .collect(),
    }
}

fn family(family: Families) -> Family {
    match family {
        Families::Wide => Family::Wide,
        Families::Narrow => Family::Narrow,
        Families::Noise => Family::Noise,
    }
}

/// The JSON output.
#[derive(Serialize)]
struct Whole<'a> {
    plan: &'a Plan,
    /// True if some drives of the plan are missing.
    interrupted: bool,
    tallies: &'a [MethodTally],
    #[serde(flatten)]
    results: &'a Results,
}

struct Progress {
    quiet: bool,
    /// Number of drives in all, and number of finished ones.
    of: u64,
    done: AtomicU64,
}

impl Watcher for Progress {
    fn drive_done(&self, _done: u64, _of: u64) {
        let done = 1 + self.done.fetch_add(1, Ordering::Relaxed);
        let step = (self.of / 20).max(1);
        if !self.quiet && (done.is_multiple_of(step) || done == self.of) {
            out::note(&format!("{done} of {} drives", self.of));
        }
    }

    fn interrupted(&self) -> bool {
        watch::interrupted()
    }
}
