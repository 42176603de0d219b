//! Who watches a run: progress, checkpoints, Ctrl-C.

use crate::{Parameter, Record};

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// Being measured.
    pub parameter: Parameter,
    /// The step at work.
    pub step: &'a str,
    /// Written so far, in bytes, by the whole run.
    pub bytes_written: u64,
    /// The most bytes that the run may write.
    pub bound_bytes: u64,
    /// Samples taken so far by the whole run.
    pub samples: u64,
}

/// Watches a run. Every method has a default that does nothing.
pub trait Observer {
    /// Called after every transfer: must be quick.
    fn progress(&mut self, _progress: &Progress<'_>) {}

    /// Called before every transfer; `true` stops the run, which can be resumed.
    fn interrupted(&self) -> bool {
        false
    }

    /// Called after every step that was executed, for a checkpoint. A checkpoint that cannot be written is the
    /// observer's to report; it may stop the run through [`Observer::interrupted`].
    fn step_done(&mut self, _record: &Record) {}
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}
