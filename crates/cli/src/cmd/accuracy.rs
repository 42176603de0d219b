//! `fathom accuracy`: probes random targets and counts how often the answers are right.

mod shown;
mod tables;

use crate::args::{AccuracyArgs, Families, Methods};
use crate::failure::{Exit, Failure};
use crate::{out, watch};
use fathom_lab::accuracy::{self, Family, MethodTally, Plan, Results, Watcher, draw, tally};
use fathom_probe::{Method, Parameter};
use serde::Serialize;

pub(super) fn run(args: &AccuracyArgs) -> Result<Exit, Failure> {
    if let Some(index) = args.show {
        let family = family(args.family);
        let drawn = draw(family, args.seed, index);
        out::data(&shown::target(&drawn, (family, args.seed, index)))?;
        return Ok(Exit::Done);
    }
    let plan = plan(args);
    watch::listen()?;
    let Some(results) = accuracy::run(&plan, &Progress { quiet: args.quiet }) else {
        out::note("Interrupted; nothing is kept of a campaign that did not come to its end.");
        return Ok(Exit::Negative);
    };
    let tallies = tally(&results);
    match args.drive {
        _ if args.json => out::json(&Whole {
            plan: &plan,
            tallies: &tallies,
            results: &results,
        })?,
        Some(index) => {
            let drawn = draw(plan.family, args.seed, index);
            let place = (plan.family, args.seed, index);
            out::data(&shown::answered(&drawn, place, &results.answers))?;
        }
        None => out::data(&tables::text(&plan, &tallies, &results))?,
    }
    let robust = tallies.iter().find(|t| t.method == Method::Robust);
    Ok(match robust {
        Some(tally) if !tally.all.keeps_promise(plan.family) => Exit::Negative,
        _ => Exit::Done,
    })
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

/// Everything, for another program.
#[derive(Serialize)]
struct Whole<'a> {
    plan: &'a Plan,
    tallies: &'a [MethodTally],
    #[serde(flatten)]
    results: &'a Results,
}

struct Progress {
    quiet: bool,
}

impl Watcher for Progress {
    fn drive_done(&self, done: u64, of: u64) {
        let step = (of / 20).max(1);
        if !self.quiet && (done.is_multiple_of(step) || done == of) {
            out::note(&format!("{done} of {of} drives"));
        }
    }

    fn interrupted(&self) -> bool {
        watch::interrupted()
    }
}
