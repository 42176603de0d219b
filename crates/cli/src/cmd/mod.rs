//! The subcommands, one module each.

mod accuracy;
mod answer;
mod answered;
mod capture;
mod compare;
mod completions;
mod confirm;
mod convert;
mod diff;
mod explain;
mod image;
mod list;
mod made;
mod man;
mod options;
mod plan;
mod platform;
mod prepare;
mod probe;
mod queue;
mod report;
mod reproduce;
mod run;
mod save;
mod scratch;
mod solve;
mod study;
mod tune;
mod twin;
mod unfit;
mod workload;
mod write_cost;

use crate::args::Command;
use crate::failure::{Exit, Failure};

/// Runs a subcommand.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub(crate) fn run(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Probe(args) => probe::run(*args),
        Command::Solve(args) => solve::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Accuracy(args) => accuracy::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Replay(args) => run::alias("replay", &args),
        Command::Bench(args) => run::alias("bench", &args),
        Command::Convert(args) => convert::run(&args),
        Command::Capture(args) => capture::run(&args),
        Command::Mkfs(args) => image::mkfs(&args),
        Command::Import(args) => image::import(&args),
        Command::Export(args) => image::export(&args),
        Command::Study(args) => study::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Platform(args) => platform::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Twin(args) => twin::run(&args),
        Command::WriteCost(args) => write_cost::run(&args),
        Command::List(args) => list::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}
