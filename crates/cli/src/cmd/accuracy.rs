//! `fathom accuracy`: probes random modelled drives and counts how often the answers are right.

use super::table::table;
use crate::args::{AccuracyArgs, Methods};
use crate::failure::{Exit, Failure};
use crate::{out, watch};
use fathom_lab::accuracy::{
    self, Answer, MethodTally, Outcome, Plan, RECALL_MIN, Tally, WRONG_MAX, Watcher, draw, tally,
};
use fathom_probe::{Estimate, Method, Parameter, Value};
use fathom_report::text::{human_bytes, human_duration};
use serde::Serialize;

pub(super) fn run(args: &AccuracyArgs) -> Result<Exit, Failure> {
    if let Some(index) = args.show {
        return show(args.seed, index);
    }
    let plan = plan(args);
    watch::listen()?;
    let Some(answers) = accuracy::run(&plan, &Progress { quiet: args.quiet }) else {
        out::note("Interrupted; nothing is kept of a campaign that did not come to its end.");
        return Ok(Exit::Negative);
    };
    let tallies = tally(&answers);
    if args.json {
        out::json(&Whole {
            plan: &plan,
            tallies: &tallies,
            answers: &answers,
        })?;
    } else {
        out::data(&text(&plan, &tallies, &answers))?;
    }
    let robust = tallies.iter().find(|t| t.method == Method::Robust);
    Ok(match robust {
        Some(tally) if !tally.all.keeps_promise() => Exit::Negative,
        _ => Exit::Done,
    })
}

fn plan(args: &AccuracyArgs) -> Plan {
    Plan {
        seed: args.seed,
        skip: args.skip,
        drives: args.drives,
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

/// Everything, for another program.
#[derive(Serialize)]
struct Whole<'a> {
    plan: &'a Plan,
    tallies: &'a [MethodTally],
    answers: &'a [Answer],
}

/// The drive file of one drive, with what is in it and how to probe it as comments.
fn show(seed: u64, index: u64) -> Result<Exit, Failure> {
    let drawn = draw(seed, index);
    let mut text = format!(
        "# Drive {index} of `fathom accuracy --seed {seed}`. The same run of it alone:\n#   \
         fathom probe model:./drive.toml --seed {}\n# What there is to find, in bytes where it is a size:\n",
        drawn.run_seed
    );
    for (parameter, truth) in &drawn.truth {
        text += &format!("#   {parameter}: {truth}\n");
    }
    out::data(&(text + "\n" + &drawn.spec.to_toml()))?;
    Ok(Exit::Done)
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

fn text(plan: &Plan, tallies: &[MethodTally], answers: &[Answer]) -> String {
    let mut text = format!(
        "Drives {} to {} of seed {}, each probed blind.\n",
        plan.skip,
        plan.skip + plan.drives - 1,
        plan.seed
    );
    for tally in tallies {
        text += &format!("\n{}\n\n", title(tally.method, plan.thin));
        text += &table(&rows(tally));
    }
    text += &comparison(tallies);
    for tally in tallies.iter().filter(|t| t.method == Method::Robust) {
        text += &misses(answers);
        text += &promise(&tally.all);
    }
    text
}

fn title(method: Method, thin: u32) -> String {
    match (method, thin) {
        (Method::Robust, _) => "Robust method".to_owned(),
        (Method::Paper, 1) => "The papers' procedures, as printed".to_owned(),
        (Method::Paper, thin) => format!(
            "The papers' procedures, thinned by {thin}: grids so much coarser, repetitions and totals so much fewer"
        ),
    }
}

const HEAD: [&str; 10] = [
    "parameter",
    "found",
    "recall",
    "rejected",
    "wrong",
    "denied",
    "open",
    "covered",
    "written, median",
    "device time, median",
];

fn rows(tally: &MethodTally) -> Vec<Vec<String>> {
    let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
    for (parameter, tally) in &tally.parameters {
        rows.push(row(parameter.name(), tally));
    }
    rows.push(row("all", &tally.all));
    rows
}

fn row(name: &str, tally: &Tally) -> Vec<String> {
    let of = |part: u64, whole: u64| match whole {
        0 => "-".to_owned(),
        _ => format!("{part}/{whole}"),
    };
    vec![
        name.to_owned(),
        of(tally.found, tally.identifiable),
        percent(tally.recall()),
        of(tally.rejected, tally.answers - tally.identifiable),
        of(tally.wrong, tally.answers),
        of(tally.denied, tally.identifiable),
        of(tally.open, tally.answers),
        of(tally.covered.0, tally.covered.1),
        human_bytes(tally.bytes_written.0),
        human_duration(tally.device_ns.0),
    ]
}

/// What the methods wrote, against each other and against the papers' procedures as printed.
fn comparison(tallies: &[MethodTally]) -> String {
    let find = |method| tallies.iter().find(|t| t.method == method);
    let mut text = String::new();
    if let Some(robust) = find(Method::Robust) {
        let (written, printed) = (robust.all.bytes_written.1, robust.all.printed_bytes_max);
        text += &format!(
            "\nThe robust method wrote {} in all. As printed the papers' procedures write at most {} on these drives: {}.\n",
            human_bytes(written),
            human_bytes(printed),
            share(written, printed)
        );
        if let Some(paper) = find(Method::Paper) {
            let paper = paper.all.bytes_written.1;
            text += &format!(
                "As they ran they wrote {}: {}.\n",
                human_bytes(paper),
                share(written, paper)
            );
        }
    }
    text
}

fn share(part: u64, whole: u64) -> String {
    format!(
        "the robust method writes {:.2} % of that",
        100.0 * part as f64 / whole.max(1) as f64
    )
}

/// Every answer of the robust method that is not right.
fn misses(answers: &[Answer]) -> String {
    let missed = |a: &&Answer| {
        a.method == Method::Robust && !matches!(a.outcome, Outcome::Found | Outcome::Rejected)
    };
    let mut text = String::new();
    for answer in answers.iter().filter(missed) {
        if text.is_empty() {
            text += "\nAnswers that are not right\n";
        }
        text += &format!(
            "\n  drive {}, {}: {}, and there is {}\n    {}\n",
            answer.drive,
            answer.parameter,
            answered(&answer.estimate),
            answer.truth,
            answer.estimate.evidence.reason
        );
    }
    text
}

fn answered(estimate: &Estimate) -> String {
    let words = estimate.verdict.words();
    match (&estimate.value, estimate.low, estimate.high) {
        (Some(Value::Bytes(bytes)), Some(low), Some(high)) => {
            format!("{words} {bytes} ({low} to {high})")
        }
        (Some(Value::Bytes(bytes)), ..) => format!("{words} {bytes}"),
        (Some(Value::Choice(choice)), ..) => format!("{words} {choice}"),
        (None, ..) => words.to_owned(),
    }
}

fn promise(all: &Tally) -> String {
    format!(
        "\nPromised: at least {} of what can be identified found, at most {} of all answers wrong. Here: {} and {}. {}.\n",
        percent(Some(RECALL_MIN)),
        percent(Some(WRONG_MAX)),
        percent(all.recall()),
        percent(all.wrong_share()),
        if all.keeps_promise() {
            "Kept"
        } else {
            "Not kept"
        }
    )
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", 100.0 * share))
}
