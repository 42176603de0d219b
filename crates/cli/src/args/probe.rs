//! Arguments of the commands on probes: probe, solve, report, diff.

use super::value::{Budget, budget, endurance, level, method, parameter, seed};
use clap::Args;
use fathom_base::Bytes;
use fathom_block::layers::Limit;
use fathom_lab::target::limit;
use fathom_probe::{Level, Method, Parameter};
use std::path::PathBuf;

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
    /// Robust statistics, the papers' procedures as printed, or our reading of a rule in use elsewhere [default: robust]
    #[arg(long, value_name = "METHOD", value_parser = method())]
    pub(crate) method: Option<Method>,
    /// Measure only these parameters, and those that they need [default: those that fit the drive]
    #[arg(long, value_name = "PARAMETER", value_delimiter = ',', value_parser = parameter())]
    pub(crate) only: Vec<Parameter>,
    /// How much to measure: `quick` writes at most 4 GiB and takes at most two minutes on the drive's clock [default: full]
    #[arg(long, value_name = "LEVEL", value_parser = level())]
    pub(crate) level: Option<Level>,
    /// Write at most so many bytes, or take at most so long on the drive's clock
    #[arg(long, value_name = "BYTES|TIME", value_parser = budget)]
    pub(crate) budget: Option<Budget>,
    /// Go on with an interrupted run
    #[arg(long, value_name = "DIR", conflicts_with_all = ["target", "seed", "method", "only", "level", "size", "read_only"])]
    pub(crate) resume: Option<PathBuf>,
    /// The size of the scratch file, or of the modelled drive
    #[arg(long, value_name = "BYTES")]
    pub(crate) size: Option<Bytes>,
    /// Put a token bucket in front of a real drive, as the volume of a cloud has it: KEY=VALUE,... as under `[limit]` in a
    /// drive file, such as operations_per_second=3000,operations_burst=9000
    #[arg(long, value_name = "KEY=VALUE", value_parser = limit)]
    pub(crate) limit: Option<Limit>,
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
