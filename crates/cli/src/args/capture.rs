//! Arguments of the command that records a real program.

use super::texts;
use clap::{Args, ValueEnum};
use fathom_base::Bytes;
use std::ffi::OsString;
use std::path::PathBuf;

/// The event that is recorded.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Event {
    /// Requests entering the block layer, before merging and scheduling
    Queue,
    /// Requests sent to the driver, after merging and scheduling
    Dispatch,
}

#[derive(Debug, Args)]
pub(crate) struct CaptureArgs {
    /// Record this block device only, a drive or a partition; otherwise all, each as a disk of the trace
    #[arg(long, value_name = "DEVICE")]
    pub(crate) on: Option<PathBuf>,
    /// The trace to write, which `fathom run` plays
    #[arg(long, value_name = "FILE.parquet", default_value = texts::CAPTURED)]
    pub(crate) out: PathBuf,
    /// The requests to record: those of the processes (queue), or those that the drive gets (dispatch)
    #[arg(long, value_enum, default_value_t = Event::Queue)]
    pub(crate) event: Event,
    /// Write the page cache out when the command has ended, and record that too
    #[arg(long)]
    pub(crate) sync: bool,
    /// The kernel's buffer for each CPU
    #[arg(long, value_name = "BYTES", default_value = "8MiB")]
    pub(crate) buffer: Bytes,
    /// Write the trace even if the kernel lost events
    #[arg(long)]
    pub(crate) lossy: bool,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}
