//! Checks options that apply to some kinds of workload only.

use crate::args::{RunArgs, WorkloadArgs};
use crate::failure::Failure;
use fathom_lab::source::Kind;

/// Kinds of workload that an option applies to.
#[derive(Clone, Copy)]
enum For {
    Traces,
    Streams,
    Jobs,
}

impl For {
    fn takes(self, kind: &Kind) -> bool {
        let (trace, generator, jobs) = match kind {
            Kind::Trace { .. } => (true, false, false),
            Kind::Generator(_) => (false, true, false),
            Kind::JobFile(_) | Kind::Jobs(_) => (false, false, true),
            Kind::Program(_) => (false, false, false),
        };
        match self {
            Self::Traces => trace,
            Self::Streams => trace || generator,
            Self::Jobs => jobs,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Traces => "traces",
            Self::Streams => "traces and generators",
            Self::Jobs => "fio's jobs",
        }
    }
}

/// Checks that the workload supports every given option of `fathom run`.
///
/// # Errors
/// The first unsupported option, and the workloads that it applies to.
pub(super) fn check_run(args: &RunArgs, kind: &Kind) -> Result<(), Failure> {
    let options = [
        ("--arrival", args.arrival.is_some(), For::Streams),
        ("--ab", args.turns.ab.is_some(), For::Jobs),
    ];
    refuse(&options, &args.workload.workload, kind)
}

/// Checks that the workload supports every given option on how it is built.
///
/// # Errors
/// As for [`check_run`].
pub(super) fn check_workload(args: &WorkloadArgs, kind: &Kind) -> Result<(), Failure> {
    let options = [
        ("--step", !args.step.is_empty(), For::Streams),
        ("--reshape", args.reshape.is_some(), For::Streams),
        ("--format", args.format.is_some(), For::Traces),
        ("--reorder", args.reorder.is_some(), For::Traces),
        ("--lenient", args.lenient, For::Traces),
        ("--accesses", args.accesses.is_some(), For::Streams),
    ];
    refuse(&options, &args.workload, kind)
}

fn refuse(options: &[(&str, bool, For)], workload: &str, kind: &Kind) -> Result<(), Failure> {
    let wrong = options
        .iter()
        .find(|(_, given, of)| *given && !of.takes(kind));
    let Some((option, _, of)) = wrong else {
        return Ok(());
    };
    let message = format!(
        "`{option}` is for {}, and {workload} is {}",
        of.name(),
        kind.name()
    );
    Err(Failure::input("fathom::run::option", message).help("leave it out"))
}
