//! The command line: what may be asked and how it is read. Its texts are the help, the completions and the man page.

mod accuracy;

pub(crate) use accuracy::{AccuracyArgs, Families, Methods};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use fathom_base::{BadValue, Bytes, Dur, UnitError};
use fathom_lab::target::Setting;
use fathom_probe::{Method, Parameter};
use fathom_run::Precondition;
use fathom_workload::step::Arrival;
use std::num::NonZeroU32;
use std::path::PathBuf;

/// The drive that is measured when none is named.
pub(crate) const DEFAULT_TARGET: &str = "model:ssd-a";
/// The greatest seed: the greatest whole number of TOML, in which a profile keeps it.
const SEED_MAX: u64 = i64::MAX as u64;

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  a negative result: profiles that differ, a run that was interrupted
  2  usage or input
  3  refused for safety";

const TARGETS: &str = "\
Targets:
  model:NAME       a modelled drive; `fathom list drives` shows all
  model:PATH.toml  a modelled drive of your own
  DIRECTORY        a real drive, through a scratch file of its own in the directory
  FILE             an existing file, read only unless --destroy names it
  /dev/...         a real drive; what is mounted, held, partitioned or signed is refused

Sizes and times carry their unit: 512MiB, 2GiB, 90s, 5min.";

const REPLAY: &str = "\
Workloads:
  FILE             a trace, plain or compressed; its format is told from its content
  generate:NAME    a generator; `fathom list workloads` shows all
  program:NAME     a program, whose next access depends on how the last ones went; in the same list
  FILE.fio         jobs in fio's syntax, as `fathom bench` plays them
  FILE.toml        a workload as a study file has it: trace or generator, and steps

Steps shape the accesses in the order given: --step writes-only --step first,accesses=100000.
`fathom list steps` shows all. Addresses past the end of the drive are refused unless a step
(shrink, wrap, clip) makes them fit.

Examples:
  fathom replay generate:financial1-like --on model:epo --buffer epo --arrival closed:16
  fathom replay web.spc.zst --on model:nvme --step shrink,capacity=8GiB --out runs/web";

const BENCH: &str = "\
JOBS is a file in fio's own syntax; docs/jobs.md says which options are read. What `filename` says is not used:
the drive is that of --on, which may be a directory (a scratch file in it), a file, /dev/..., or model:NAME.

Examples:
  fathom explain file-server.fio > file-server.fio
  fathom bench file-server.fio --on /mnt/data --size 4GiB --sched mq-deadline
  fathom bench jobs.fio --on model:ssd-a --sched irbw-fifo-rp --split pasa --profile runs/ssd-a
  fathom bench jobs.fio --on /mnt/data --ab none,irbw-fifo-rp+pasa --profile runs/drive --rounds 10";

const RUN: &str = "\
A study that was interrupted or killed goes on where it was: run the same command again. Every run
of it is a directory that `fathom compare` and `fathom report` take.";

const CONVERT: &str = "\
WORKLOAD is what `fathom replay` takes. The file holds what a drive would be asked for, and `fathom
replay` plays it: a write buffer can be judged apart from the drive behind it.

Examples:
  fathom convert web.spc.zst web.parquet
  fathom convert program:postmark-type-a postmark.parquet --on model:ssd-a
  fathom convert oltp.spc oltp-epo.trace --step writes-only --reshape epo,capacity=8MiB";

const COMPARE: &str = "\
Runs that played the same workload with the same seed, and kept their accesses (`fathom replay
--out`), are compared access by access: that tells smaller differences.

Example:
  fathom replay generate:uniform --on model:epo --buffer lru --out runs/lru
  fathom replay generate:uniform --on model:epo --buffer epo --out runs/epo
  fathom compare runs/lru runs/epo";

const REPRODUCE: &str = "\
Runs the paper's experiments and tests each of its claims on what was measured: it holds, holds in
its direction only, does not hold, or cannot be told. `fathom list studies` shows the papers,
`fathom explain paper:NAME` what was found.

Without --traces only generators run, which are like the paper's traces in published figures and
in nothing else. A result on a part of a trace says so.

Example:
  fathom reproduce epo --traces ~/traces --out runs/epo";

const ACCURACY: &str = "\
Every drive is drawn from the family, the seed and its index, and probed through its requests
alone; the answers are compared with what is in it. Exit code 1 where the robust method finds less
than 97 % of what can be identified, or more than 1 % of what it identifies is wrong; with
--family noise, where more than 0.5 % of the answers identify anything.

  wide     drives of everything that the model can build
  narrow   drives as they were drawn before there was a wide family
  noise    no drives: latencies of a busy disk and synthetic noise

To look into drive 17:
  fathom accuracy --seed 1 --show 17 > drive.toml      its first lines say how to probe it
  fathom accuracy --seed 1 --drive 17                  probes it, with every answer";

/// Finds out what a solid state drive hides, and says how sure it is.
#[derive(Debug, Parser)]
#[command(name = "fathom", version, after_help = EXIT_CODES, max_term_width = 100)]
#[command(propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure a drive, modelled or real
    #[command(after_help = TARGETS)]
    Probe(Box<ProbeArgs>),
    /// Answer again from a raw record, without the drive
    Solve(SolveArgs),
    /// Write report.html again
    Report(ReportArgs),
    /// Compare two profiles; exit code 1 where they differ
    Diff(DiffArgs),
    /// Probe random modelled drives and count how often the answers are right
    #[command(after_help = ACCURACY)]
    Accuracy(AccuracyArgs),
    /// Play a trace, or a generated workload, through a drive
    #[command(after_help = REPLAY)]
    Replay(Box<ReplayArgs>),
    /// Play fio's jobs over a drive through a scheduler, or compare two schedulers in turn
    #[command(after_help = BENCH)]
    Bench(Box<BenchArgs>),
    /// Write a workload out as a trace, after its steps and its write buffer
    #[command(after_help = CONVERT)]
    Convert(ConvertArgs),
    /// Run a study: drives x policies x workloads, in parallel, resumable
    #[command(after_help = RUN)]
    Run(RunArgs),
    /// Put runs of workloads side by side, with intervals
    #[command(after_help = COMPARE)]
    Compare(CompareArgs),
    /// Run a paper's experiments again and test its claims
    #[command(after_help = REPRODUCE)]
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

#[derive(Debug, Args)]
pub(crate) struct ProbeArgs {
    /// The drive to measure [default: model:ssd-a]
    pub(crate) target: Option<String>,
    /// Write record.parquet, profile.toml and report.html into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the profile as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The seed of every random choice, at most 2^63 - 1 [default: 0]
    #[arg(long, value_name = "N", value_parser = seed)]
    pub(crate) seed: Option<u64>,
    /// Robust statistics, or the papers' procedures as printed [default: robust]
    #[arg(long, value_name = "METHOD", value_parser = method())]
    pub(crate) method: Option<Method>,
    /// Measure only these parameters, and those that they need
    #[arg(long, value_name = "PARAMETER", value_delimiter = ',', value_parser = parameter())]
    pub(crate) only: Vec<Parameter>,
    /// Write at most so many bytes, or take at most so long on the drive's clock
    #[arg(long, value_name = "BYTES|TIME", value_parser = budget)]
    pub(crate) budget: Option<Budget>,
    /// Go on with an interrupted run
    #[arg(long, value_name = "DIR", conflicts_with_all = ["target", "seed", "method", "only", "size", "read_only"])]
    pub(crate) resume: Option<PathBuf>,
    /// The size of the scratch file, or of the modelled drive
    #[arg(long, value_name = "BYTES")]
    pub(crate) size: Option<Bytes>,
    /// Allow the contents of the drive with this serial number or name, or of this file, to be destroyed
    #[arg(long, value_name = "NAME", conflicts_with = "read_only")]
    pub(crate) destroy: Option<String>,
    /// Write nothing; parameters that need writes are reported as inconclusive
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Do not ask before writing to a real drive; needed where there is no terminal to ask at
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// What the data sheet rates the drive for in bytes written, such as 600TB: shows the share that the run takes of it
    #[arg(long, value_name = "BYTES", value_parser = endurance)]
    pub(crate) endurance: Option<Bytes>,
    /// No progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SolveArgs {
    /// The directory of a run; its profile and report are written again
    pub(crate) dir: PathBuf,
    /// Print the profile as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The directory of a run
    pub(crate) dir: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The directory of a run, or a profile
    pub(crate) left: PathBuf,
    /// Another one
    pub(crate) right: PathBuf,
    /// Print the comparison as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    pub(crate) workload: WorkloadArgs,
    /// The drive: model:NAME, model:PATH.toml, or a real one
    #[arg(long, value_name = "TARGET", default_value = "model:epo")]
    pub(crate) on: String,
    /// Another translation layer than the drive's; `fathom list ftls` shows all
    #[arg(long, value_name = "NAME")]
    pub(crate) ftl: Option<String>,
    /// Another write buffer than the drive's, or `none`: POLICY or POLICY,KEY=VALUE,... such as epo,capacity=8MiB; `fathom
    /// list buffers` shows all
    #[arg(long, value_name = "POLICY")]
    pub(crate) buffer: Option<String>,
    /// Another value of the drive file: flash.read=40us
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<Setting>,
    #[command(flatten)]
    pub(crate) queue: QueueArgs,
    /// At the times of the workload (open), N requests in flight without regard to timestamps (closed:N), or P processes that
    /// each play it with a seed of their own and keep N in flight (processes:P or processes:P:N)
    #[arg(long, value_name = "open|closed:N|processes:P", default_value = "open", value_parser = arrival)]
    pub(crate) arrival: Arrival,
    /// The state of a modelled drive before: filled (written once in order; the usual state of a solid state drive), fresh
    /// (as it was made), or random:TIMES (filled, then TIMES its capacity written at random in 4-KiB pieces)
    #[arg(long, value_name = "STATE", value_parser = precondition)]
    pub(crate) precondition: Option<Precondition>,
    /// Write run.json, requests.parquet and report.html into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the whole outcome as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) real: RealArgs,
}

/// Of a real drive under a workload.
#[derive(Debug, Args)]
pub(crate) struct RealArgs {
    /// The name or serial number of a real drive, or of a file, whose contents may be destroyed
    #[arg(long, value_name = "NAME")]
    pub(crate) destroy: Option<String>,
    /// The size of the scratch file, or of the modelled drive
    #[arg(long, value_name = "BYTES")]
    pub(crate) size: Option<Bytes>,
    /// Do not ask before writing to a real drive; needed where there is no terminal to ask at
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// A file of jobs in fio's syntax
    pub(crate) jobs: PathBuf,
    /// The drive: a directory, a file, a block device, model:NAME or model:PATH.toml
    #[arg(long, value_name = "TARGET")]
    pub(crate) on: String,
    #[command(flatten)]
    pub(crate) queue: QueueArgs,
    /// Two stacks in turn: A,B, each `none`, SCHEDULER or SCHEDULER+SPLIT, with sizes from --profile; of a block device also
    /// kernel:SCHEDULER, the kernel's own, which is switched between rounds and put back (root)
    #[arg(long, value_name = "A,B", conflicts_with_all = ["sched", "split"])]
    pub(crate) ab: Option<String>,
    /// How often each of two stacks plays the jobs
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: u32,
    /// Another value of a modelled drive's file: flash.read=40us
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<Setting>,
    /// The state of a modelled drive before: filled (written once in order; the usual state of a solid state drive), fresh
    /// (as it was made), or random:TIMES (filled, then TIMES its capacity written at random in 4-KiB pieces)
    #[arg(long, value_name = "STATE", value_parser = precondition)]
    pub(crate) precondition: Option<Precondition>,
    /// The seed of every random choice, at most 2^63 - 1
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed)]
    pub(crate) seed: u64,
    /// Write run.json, requests.parquet and report.html into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the whole outcome as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) real: RealArgs,
}

/// The block layer above the drive; there is one where any of these is given.
#[derive(Debug, Args)]
pub(crate) struct QueueArgs {
    /// A scheduler above the drive: NAME or NAME,KEY=VALUE,..., or `none`; `fathom list schedulers` shows all
    #[arg(long, value_name = "SCHEDULER")]
    pub(crate) sched: Option<String>,
    /// Where requests are cut: nopas, pas or pasa, with KEY=VALUE,...
    #[arg(long, value_name = "SPLIT")]
    pub(crate) split: Option<String>,
    /// Take the drive's sizes that these need from this profile, or from this run of `fathom probe`
    #[arg(long, value_name = "PATH")]
    pub(crate) profile: Option<PathBuf>,
    /// Requests that the drive has at a time; as many as it takes unless given (of a real drive, queue/nr_requests)
    #[arg(long, value_name = "N")]
    pub(crate) depth: Option<NonZeroU32>,
}

/// What is played, or written out.
#[derive(Debug, Args)]
pub(crate) struct WorkloadArgs {
    /// A trace, a generator or a workload file
    pub(crate) workload: String,
    /// A step over the accesses: NAME or NAME,KEY=VALUE,...
    #[arg(long, value_name = "STEP")]
    pub(crate) step: Vec<String>,
    /// The trace's format, if it cannot be told from the content
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// Hold back so many accesses of a trace, to set them in order of time
    #[arg(long, value_name = "N")]
    pub(crate) reorder: Option<u32>,
    /// How many accesses a generator gives
    #[arg(long, value_name = "N")]
    pub(crate) accesses: Option<u64>,
    /// Skip, and count, what is wrong with a trace instead of stopping at it
    #[arg(long)]
    pub(crate) lenient: bool,
    /// A write buffer in front of the drive, behind the steps: POLICY or POLICY,KEY=VALUE,...
    #[arg(long, value_name = "BUFFER")]
    pub(crate) reshape: Option<String>,
    /// The seed of every random choice, at most 2^63 - 1
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed)]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub(crate) workload: WorkloadArgs,
    /// The trace to write: FILE.parquet, or FILE.trace in DiskSim's ASCII format
    pub(crate) to: PathBuf,
    /// The modelled drive that answers a program or jobs; what they ask for depends on its answers
    #[arg(long, value_name = "MODEL")]
    pub(crate) on: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The study file
    pub(crate) study: PathBuf,
    /// Keep the runs in this directory; what is there already is not run again; needed unless --dry
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print every row as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Run nothing; list the runs that the study has
    #[arg(long)]
    pub(crate) dry: bool,
    /// No progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The directories of runs, or their run.json; the first is the base
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    pub(crate) runs: Vec<PathBuf>,
    /// Write report.html, with all runs over one another, into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the comparison as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReproduceArgs {
    /// The paper; `fathom list studies` shows all
    pub(crate) paper: String,
    /// Run a part in less than a minute of CPU time; what is left out is said
    #[arg(long)]
    pub(crate) quick: bool,
    /// Look for the paper's traces, or parts of them, in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: Option<PathBuf>,
    /// Take at most so many writes of each workload
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) writes: Option<u64>,
    /// Keep the runs in this directory, with report.html and results.json; what is there is not run again
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print everything measured as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// What to list; without it, what can be listed
    #[arg(value_parser = list())]
    pub(crate) what: Option<String>,
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A parameter, a modelled drive, or another name that `fathom list` shows
    pub(crate) name: String,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// For which shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Of this subcommand instead of the whole
    pub(crate) command: Option<String>,
}

/// What a run may spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Budget {
    /// Bytes written.
    Bytes(Bytes),
    /// Time on the drive's clock.
    Time(Dur),
}

fn budget(text: &str) -> Result<Budget, String> {
    // Five minutes or five MiB: a run should not be told the wrong one.
    if text.ends_with('m') {
        return Err("write bytes or a time with the unit, such as 5MiB or 5min".to_owned());
    }
    let bytes = text.parse().map(Budget::Bytes);
    bytes
        .or_else(|_| text.parse().map(Budget::Time))
        .map_err(|_| "write bytes or a time with the unit, such as 2GiB or 5min".to_owned())
}

fn seed(text: &str) -> Result<u64, String> {
    let seed = text.parse().ok().filter(|seed| *seed <= SEED_MAX);
    seed.ok_or_else(|| {
        format!("write a whole number from 0 to {SEED_MAX} (2^63 - 1), the greatest one that a profile's TOML holds")
    })
}

fn endurance(text: &str) -> Result<Bytes, String> {
    let bytes: Bytes = text.parse().map_err(|error: UnitError| error.to_string())?;
    match bytes.0 {
        0 => Err("no drive is rated for nothing; leave it out where it is not known".to_owned()),
        _ => Ok(bytes),
    }
}

fn arrival(text: &str) -> Result<Arrival, String> {
    text.parse().map_err(|bad: BadValue| bad.allowed)
}

fn precondition(text: &str) -> Result<Precondition, String> {
    text.parse().map_err(|bad: BadValue| bad.allowed)
}

/// The lists that there are.
fn list() -> PossibleValuesParser {
    let lists = crate::names::lists().into_iter();
    PossibleValuesParser::new(lists.map(|kind| PossibleValue::new(kind.list).help(kind.summary)))
}

fn method() -> impl clap::builder::TypedValueParser<Value = Method> {
    PossibleValuesParser::new(["robust", "paper"]).map(|name| match name.as_str() {
        "paper" => Method::Paper,
        _ => Method::Robust,
    })
}

fn parameter() -> impl clap::builder::TypedValueParser<Value = Parameter> {
    PossibleValuesParser::new(Parameter::ALL.map(Parameter::name))
        .try_map(|name| Parameter::from_name(&name).ok_or("no such parameter"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_budget_is_bytes_or_time() {
        assert_eq!(budget("2GiB"), Ok(Budget::Bytes(Bytes::gib(2))));
        assert_eq!(budget("5min"), Ok(Budget::Time(Dur(300_000_000_000))));
        assert_eq!(budget("2G"), Ok(Budget::Bytes(Bytes::gib(2))));
        assert!(budget("5").is_err() && budget("5m").is_err());
    }
}
