//! Arguments of the commands on many runs: study, compare, reproduce.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct StudyArgs {
    /// The study file
    pub(crate) study: PathBuf,
    /// Keep the runs in this directory, with summary.txt, cells.csv and report.html; what is there already is not run again;
    /// needed unless --dry
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
