//! The command line's definition and parsing. Its doc comments are the help, the completions and the man page.

mod accuracy;
mod asked;
mod capture;
mod cost;
mod image;
mod look;
mod platform;
mod probe;
mod run;
mod study;
mod texts;
mod tune;
mod twin;
mod value;

pub(crate) use accuracy::AccuracyArgs;
pub(crate) use capture::{CaptureArgs, Event};
pub(crate) use cost::WriteCostArgs;
#[cfg(feature = "ext")]
pub(crate) use image::Fs;
pub(crate) use image::{ExportArgs, ImportArgs, MkfsArgs};
pub(crate) use look::{CompletionsArgs, ExplainArgs, ListArgs, ManArgs};
pub(crate) use platform::{PlanArgs, PlatformArgs};
pub(crate) use probe::{DiffArgs, ProbeArgs, ReportArgs, SolveArgs};
pub(crate) use run::{ConvertArgs, QueueArgs, RunArgs, WorkloadArgs};
pub(crate) use study::{CompareArgs, ReproduceArgs, StudyArgs};
pub(crate) use tune::{Form, JOURNALS, TuneArgs};
pub(crate) use twin::TwinArgs;
pub(crate) use value::Budget;

use clap::{Parser, Subcommand};

/// The drive to measure if none is named.
pub(crate) const DEFAULT_TARGET: &str = "model:ssd-a";

/// Finds out what a solid state drive hides, and says how sure it is.
#[derive(Debug, Parser)]
#[command(name = "fathom", version, after_help = texts::EXIT_CODES, max_term_width = 100)]
#[command(propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure a drive, modelled or real
    #[command(after_help = texts::TARGETS)]
    Probe(Box<ProbeArgs>),
    /// Answer again from a raw record, without the drive
    Solve(SolveArgs),
    /// Write report.html again
    Report(ReportArgs),
    /// Compare two profiles; exit code 1 where they differ
    Diff(DiffArgs),
    /// Probe random modelled drives and count how often the answers are right
    #[command(after_help = texts::ACCURACY)]
    Accuracy(AccuracyArgs),
    /// Run a workload on a drive, modelled or real: a trace, a generator, a program or fio's jobs
    #[command(after_help = texts::RUN)]
    Run(Box<RunArgs>),
    /// What `run` was called for traces and generators
    #[command(after_help = texts::RUN, hide = true)]
    Replay(Box<RunArgs>),
    /// What `run` was called for fio's jobs
    #[command(after_help = texts::RUN, hide = true)]
    Bench(Box<RunArgs>),
    /// Write a workload out as a trace, after its steps and its write buffer
    #[command(after_help = texts::CONVERT)]
    Convert(ConvertArgs),
    /// Record the block requests of a real program as a trace (root)
    #[command(after_help = texts::CAPTURE)]
    Capture(CaptureArgs),
    /// Format an image of ext2, ext3 or ext4 (a build with the feature ext)
    Mkfs(MkfsArgs),
    /// Copy a directory into an image of ext2, ext3 or ext4, with an allocator (feature ext)
    Import(ImportArgs),
    /// Copy everything out of an image of ext2, ext3 or ext4 (feature ext)
    Export(ExportArgs),
    /// Run a study: drives x policies x workloads, in parallel, resumable
    #[command(after_help = texts::STUDY)]
    Study(StudyArgs),
    /// Put runs of workloads side by side, with intervals
    #[command(after_help = texts::COMPARE)]
    Compare(CompareArgs),
    /// Fit a model of what a write costs to a drive, and test it
    #[command(after_help = texts::WRITE_COST)]
    WriteCost(Box<WriteCostArgs>),
    /// Show what an I/O costs a machine, by layer, and what limits its rate
    #[command(after_help = texts::PLATFORM)]
    Platform(Box<PlatformArgs>),
    /// Say how many drives, adapters and processors a rate of I/Os takes
    #[command(after_help = texts::PLAN)]
    Plan(PlanArgs),
    /// Say which settings follow from a measurement; try some, and keep what is better
    #[command(after_help = texts::TUNE)]
    Tune(Box<TuneArgs>),
    /// Make a drive file that behaves like a measured drive
    #[command(after_help = texts::TWIN)]
    Twin(TwinArgs),
    /// Run a paper's experiments again and test its claims
    #[command(after_help = texts::REPRODUCE)]
    Reproduce(ReproduceArgs),
    /// List what has a name: drives, parameters, translation layers, trace formats and more
    List(ListArgs),
    /// Explain a parameter, a modelled drive or another name; print an example file
    Explain(ExplainArgs),
    /// Print shell completions
    Completions(CompletionsArgs),
    /// Print the manual page
    Man(ManArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
