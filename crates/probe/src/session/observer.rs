//! The observer of a run: receives progress and checkpoints, and can interrupt the run (Ctrl-C).

use crate::{Parameter, Record};

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The parameter that is being measured.
    pub parameter: Parameter,
    /// The name of the current step.
    pub step: &'a str,
    /// The bytes that the whole run has written so far.
    pub bytes_written: u64,
    /// The most bytes that the run may write.
    pub bound_bytes: u64,
    /// The number of samples that the whole run has taken so far.
    pub samples: u64,
}

/// Observes a run. Every method has a default that does nothing.
pub trait Observer {
    /// Called after every transfer; must be quick.
    fn progress(&mut self, _progress: &Progress<'_>) {}

    /// Called before every transfer. Returning `true` stops the run; it can be resumed.
    fn interrupted(&self) -> bool {
        false
    }

    /// Called after every step that was executed, to write a checkpoint. The observer must report a checkpoint that cannot
    /// be written; it may stop the run through [`Observer::interrupted`].
    fn step_done(&mut self, _record: &Record) {}
}

/// An observer that ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}
