//! Arguments of `fathom twin`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct TwinArgs {
    /// A run of `fathom probe`, or its record
    pub(crate) run: PathBuf,
    /// Write the drive file here; one that is there is replaced
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) out: Option<PathBuf>,
    /// Print the figures and what is assumed as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
