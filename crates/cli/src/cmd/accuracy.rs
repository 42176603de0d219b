//! `fathom accuracy`: probes random targets and counts how often the answers are right.

mod twins;

use super::answered;
use crate::args::AccuracyArgs;
use crate::failure::{Exit, Failure};
use crate::{out, watch};
use fathom_lab::accuracy::{
    self, Answer, MethodTally, Plan, Results, Watcher, draw, mapping_unit, read_unit, tally,
};
use fathom_probe::{Method, Parameter};
use fathom_report::accuracy::{Answered, Campaign, Drawn, Target, answered, target, text};
use serde::Serialize;

pub(super) fn run(args: &AccuracyArgs) -> Result<Exit, Failure> {
    if args.twin {
        return twins::run(args);
    }
    if let Some(index) = args.show {
        out::data(&target(&drawn(args, index)))?;
        return Ok(Exit::Done);
    }
    let plan = plan(args);
    possible(args, &plan)?;
    watch::listen()?;
    let (results, interrupted) = match accuracy::run(&plan, &Progress { quiet: args.quiet }) {
        Ok(results) => (results, false),
        Err(results) => (results, true),
    };
    let done = results.drives.len() as u64;
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
    let answers = results.answers.iter().map(shown).collect::<Vec<_>>();
    match args.drive {
        _ if args.json => out::json(&Whole {
            plan: &plan,
            interrupted,
            tallies: &tallies,
            results: &results,
        })?,
        Some(index) => out::data(&answered(&drawn(args, index), &answers))?,
        None => {
            let campaign = Campaign {
                plan: &plan,
                done,
                refused: results.drives.iter().map(|about| about.refused).sum(),
                tallies: &tallies,
                answers: &answers,
            };
            out::text(&text(&campaign, out::screen()))?;
        }
    }
    let robust = tallies.iter().find(|t| t.method == Method::Robust);
    Ok(match robust {
        _ if interrupted => Exit::Negative,
        Some(tally) if !tally.all.keeps_promise(plan.family) => Exit::Negative,
        _ => Exit::Done,
    })
}

/// Refuses a campaign in which no method answers any of the parameters, and a `--thin` that nothing obeys.
fn possible(args: &AccuracyArgs, plan: &Plan) -> Result<(), Failure> {
    if args.thin > 1 && args.method == [Method::Robust] {
        let message = format!(
            "`--thin {}` shortens the papers' procedures and the rules, and `--method robust` is neither: nothing would change",
            args.thin
        );
        return Err(Failure::input("fathom::accuracy", message)
            .help("leave `--thin` out, or take a method that it shortens: --method both"));
    }
    let asked = match args.only.as_slice() {
        [] => format!("the parameters of the family `{}`", args.family.name()),
        only => answered::listed(only),
    };
    answered::by(args.method, &plan.parameters, &asked)
}

/// Returns a target with what is shown of it.
fn drawn(args: &AccuracyArgs, index: u64) -> Drawn {
    let drawn = draw(args.family, args.seed, index);
    let truth = Parameter::ALL.map(|of| (of, drawn.target.truth(of).to_string()));
    Drawn {
        family: args.family,
        seed: args.seed,
        index,
        truth: truth.into(),
        target: match &drawn.target {
            accuracy::Target::Noise(noise) => Target::Noise(noise.to_string()),
            accuracy::Target::Drive(spec) => Target::Drive {
                file: spec.to_toml(),
                run_seed: drawn.run_seed,
                mapping_unit: mapping_unit(spec).to_string(),
                read_unit: read_unit(spec).to_string(),
            },
        },
    }
}

/// Returns what is shown of an answer.
fn shown(answer: &Answer) -> Answered<'_> {
    Answered {
        drive: answer.drive,
        method: answer.method,
        parameter: answer.parameter,
        truth: answer.truth.to_string(),
        identifiable: answer.truth.is_identifiable(),
        outcome: answer.outcome,
        estimate: &answer.estimate,
    }
}

fn plan(args: &AccuracyArgs) -> Plan {
    Plan {
        family: args.family,
        seed: args.seed,
        skip: args.drive.unwrap_or(args.skip),
        drives: args.drive.map_or(args.drives, |_| 1),
        methods: args.method.to_vec(),
        thin: args.thin,
        parameters: match args.only.as_slice() {
            [] => args.family.parameters(),
            only => Parameter::ALL
                .into_iter()
                .filter(|p| only.contains(p))
                .collect(),
        },
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
