//! Arguments of several commands.

use super::value::seed;
use clap::Args;

/// How a result is shown, and the random choices that it rests on.
#[derive(Debug, Args)]
pub(crate) struct Asked {
    /// Print everything as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The seed of every random choice, at most 2^63 - 1
    #[arg(long, value_name = "N", value_parser = seed, default_value_t = 0)]
    pub(crate) seed: u64,
    /// No progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
