//! Arguments of `fathom platform` and `fathom plan`.

use super::asked::Asked;
use super::value::rate;
use clap::Args;
use fathom_base::{Bytes, Dur};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct PlatformArgs {
    /// Block devices or files to read, on this machine; nothing is written to them
    #[arg(required_unless_present = "model", conflicts_with_all = ["model", "drive"])]
    pub(crate) target: Vec<PathBuf>,
    /// Show what this modelled platform does instead: NAME or FILE.toml with ,KEY=VALUE,...; `fathom list platforms` shows
    /// all
    #[arg(long, value_name = "PLATFORM")]
    pub(crate) model: Option<String>,
    /// Another drive behind its adapters than the platform's: model:NAME
    #[arg(long, value_name = "DRIVE")]
    pub(crate) drive: Option<String>,
    /// The time of each part of a measurement; there are about 60
    #[arg(
        long,
        value_name = "TIME",
        default_value = "500ms",
        conflicts_with = "model"
    )]
    pub(crate) time: Dur,
    /// Do not record the kernel's events: no layers and phases, and no need of root
    #[arg(long, conflicts_with = "model")]
    pub(crate) no_trace: bool,
    /// The length of a read
    #[arg(long, value_name = "BYTES", default_value = "4KiB")]
    pub(crate) bs: Bytes,
    /// Write platform.json, platform.toml, report.html and samples.parquet into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) asked: Asked,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// The I/Os per second that are wanted, such as 800, 250k or 1.5M
    #[arg(long, value_name = "N", value_parser = rate)]
    pub(crate) iops: u64,
    /// The length of an I/O
    #[arg(long, value_name = "BYTES", default_value = "4KiB")]
    pub(crate) bs: Bytes,
    /// The platform: NAME or FILE.toml with ,KEY=VALUE,...; `fathom list platforms` shows all
    #[arg(long, value_name = "PLATFORM")]
    pub(crate) platform: String,
    /// The drive, a modelled one: model:NAME [default: that of the platform]
    #[arg(long, value_name = "DRIVE")]
    pub(crate) drive: Option<String>,
    /// The highest mean latency of an I/O, such as 500us [default: any]
    #[arg(long, value_name = "TIME")]
    pub(crate) latency_max: Option<Dur>,
    #[command(flatten)]
    pub(crate) asked: Asked,
}
