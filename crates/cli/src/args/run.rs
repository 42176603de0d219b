//! Arguments of the commands on one workload: run, convert.

use super::image::OnImageArgs;
use super::value::{accesses, arrival, depth, precondition, seed};
use clap::Args;
use fathom_base::Bytes;
use fathom_lab::target::Setting;
use fathom_run::Precondition;
use fathom_workload::step::Arrival;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

const TRACES: &str = "Options for traces";
const STREAMS: &str = "Options for traces and generators";
const JOBS: &str = "Options for jobs";
const MODELS: &str = "Options for modelled drives";
const REAL: &str = "Options for real drives";
const QUEUE: &str = "Options for the block layer above the drive";

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) workload: WorkloadArgs,
    /// The drive: model:NAME, model:PATH.toml, or a real one: a directory, a file, /dev/...; or a run of `fathom probe`,
    /// whose twin is taken
    #[arg(long, value_name = "DRIVE", default_value = "model:epo")]
    pub(crate) on: String,
    /// The size of the modelled drive, or of the scratch file on a real one
    #[arg(long, value_name = "BYTES")]
    pub(crate) size: Option<Bytes>,
    /// Write run.json, requests.parquet and report.html into this directory; with --ab, ab.json and report.html
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the whole outcome as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// At the times of the workload (open), N requests in flight without regard to timestamps (closed:N), or P processes that
    /// each play it with a seed of their own and keep N in flight (processes:P or processes:P:N) [default: open]
    #[arg(long, value_name = "open|closed:N|processes:P", value_parser = arrival, help_heading = STREAMS)]
    pub(crate) arrival: Option<Arrival>,
    #[command(flatten)]
    pub(crate) image: OnImageArgs,
    #[command(flatten)]
    pub(crate) turns: TurnsArgs,
    #[command(flatten)]
    pub(crate) queue: QueueArgs,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) real: RealArgs,
}

/// Two block layers in turn.
#[derive(Debug, Args)]
#[command(next_help_heading = JOBS)]
pub(crate) struct TurnsArgs {
    /// Two stacks in turn: A,B, each `none`, SCHEDULER or SCHEDULER+SPLIT, with sizes from --profile; of a block device also
    /// kernel:SCHEDULER, the kernel's own, which is switched between rounds and put back (root)
    #[arg(long, value_name = "A,B", conflicts_with_all = ["sched", "split"])]
    pub(crate) ab: Option<String>,
    /// How often each of the two stacks plays the jobs, 1 to 1000 times
    #[arg(long, value_name = "N", requires = "ab", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: u32,
}

/// What differs from the file of a modelled drive, and the state that it begins in.
#[derive(Debug, Args)]
#[command(next_help_heading = MODELS)]
pub(crate) struct ModelArgs {
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
    /// The host whose time is charged for every access: NAME or FILE.toml with ,KEY=VALUE,... such as x5570-sas,cores=1;
    /// `fathom list platforms` shows all. Without one the host takes no time
    #[arg(long, value_name = "PLATFORM", conflicts_with = "ab")]
    pub(crate) platform: Option<String>,
    /// The state of the drive before the run: filled (written once in order; the default of a solid state drive), fresh
    /// (without data: the state for writes to a zoned drive), random:TIMES (filled, then TIMES its capacity written at random in 4-KiB pieces), or as-is (the
    /// default of a drive that starts with data)
    #[arg(long, value_name = "STATE", value_parser = precondition)]
    pub(crate) precondition: Option<Precondition>,
}

/// Leave to write to a real drive.
#[derive(Debug, Args)]
#[command(next_help_heading = REAL)]
pub(crate) struct RealArgs {
    /// The name or serial number of a drive, or of a file, whose contents may be destroyed
    #[arg(long, value_name = "NAME")]
    pub(crate) destroy: Option<String>,
    /// Do not ask before writing; needed where there is no terminal to ask at
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// The block layer above the drive; there is one where any of these is given.
#[derive(Debug, Args)]
#[command(next_help_heading = QUEUE)]
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
    #[arg(long, value_name = "N", value_parser = depth)]
    pub(crate) depth: Option<NonZeroU32>,
}

/// What is played, or written out.
#[derive(Debug, Args)]
pub(crate) struct WorkloadArgs {
    /// A trace, generate:NAME, program:NAME, a file of jobs or a workload file
    pub(crate) workload: String,
    /// The seed of every random choice, at most 2^63 - 1
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed)]
    pub(crate) seed: u64,
    /// A step over the accesses: NAME or NAME,KEY=VALUE,...; `fathom list steps` shows all
    #[arg(long, value_name = "STEP", help_heading = STREAMS)]
    pub(crate) step: Vec<String>,
    /// A write buffer in front of the drive, behind the steps: POLICY or POLICY,KEY=VALUE,...
    #[arg(long, value_name = "BUFFER", help_heading = STREAMS)]
    pub(crate) reshape: Option<String>,
    /// How many accesses the generator gives; of a trace, the first N, before the steps
    #[arg(long, value_name = "N", help_heading = STREAMS, value_parser = accesses)]
    pub(crate) accesses: Option<NonZeroU64>,
    /// The trace's format, if it cannot be told from the content
    #[arg(long, value_name = "FORMAT", help_heading = TRACES)]
    pub(crate) format: Option<String>,
    /// Hold back N accesses, to put them in order of time
    #[arg(long, value_name = "N", help_heading = TRACES)]
    pub(crate) reorder: Option<u32>,
    /// Skip, and count, what is wrong with the trace instead of stopping at it
    #[arg(long, help_heading = TRACES)]
    pub(crate) lenient: bool,
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
