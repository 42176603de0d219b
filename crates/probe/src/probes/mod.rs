//! The probes: one file per parameter and method, in explicit lists.

pub mod paper;
pub mod robust;
mod written;

use crate::profile::{Estimate, Parameter};
use crate::record::{Method, Record};
use crate::session::{Session, Stop};
use std::ops::Range;

/// What a probe cannot do without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Writing: in a read-only run the parameter cannot be measured.
    pub writes: bool,
    /// The span written once before anything is measured, which probes of a run share.
    pub prepared: bool,
}

/// What is known of a drive before anything is measured: enough to bound the bytes that a probe writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// The part of the drive that the run may touch, in bytes.
    pub region: Range<u64>,
    /// The logical block, in bytes; at least 1.
    pub block_bytes: u64,
    /// How much thinner than printed the papers' grids are; at least 1.
    pub thin: u32,
}

impl Space {
    /// How much may be touched, in bytes.
    pub fn bytes(&self) -> u64 {
        self.region.end.saturating_sub(self.region.start)
    }

    /// The same drive with another region.
    pub(crate) fn within(&self, region: Range<u64>) -> Self {
        Self {
            region,
            ..self.clone()
        }
    }
}

impl Space {
    /// As a record tells it.
    pub(crate) fn of(record: &Record) -> Self {
        let target = &record.meta.target;
        let region = record
            .meta
            .region
            .map_or(0..target.capacity_bytes, |[from, to]| from..to);
        Self {
            region,
            block_bytes: u64::from(target.logical_block_bytes).max(1),
            thin: record.meta.thin.max(1),
        }
    }
}

impl From<&Session<'_>> for Space {
    fn from(session: &Session<'_>) -> Self {
        Self {
            region: session.region(),
            block_bytes: u64::from(session.info().logical_block_bytes).max(1),
            thin: session.thin(),
        }
    }
}

/// Measures one parameter.
///
/// `run` only takes samples, `solve` only reads them: what `run` decides on the way it decides by the same
/// functions. Both see the samples of their own parameter and of those measured before it ([`crate::plan`]).
pub trait Probe: Sync {
    /// What it measures.
    fn parameter(&self) -> Parameter;

    /// What it cannot do without.
    fn needs(&self) -> Needs;

    /// The parameter whose answer it needs: it is measured before, asked for or not.
    fn after(&self) -> Option<Parameter> {
        None
    }

    /// The most that [`Probe::run`] writes beside a shared preparation, in bytes; it is stopped before it writes more. What an
    /// answer really needs, not the sum of everything that could be tried: a drive too uneven to settle costs no more.
    fn bound(&self, space: &Space) -> u64;

    /// What it writes beside a shared preparation on a drive that gives answers, in bytes; a rule of thumb.
    fn expected(&self, space: &Space) -> u64 {
        self.bound(space)
    }

    /// The same on a drive that gives no answer.
    fn fruitless(&self, space: &Space) -> u64 {
        self.expected(space)
    }

    /// What must be left of a budget for it to begin, beside a shared preparation, in bytes: with less it seldom answers.
    fn least(&self, space: &Space) -> u64 {
        self.expected(space)
    }

    /// How much of the region it needs under a budget, in bytes from its start: less than all of it where less shows the same.
    fn reach(&self, space: &Space) -> u64 {
        space.bytes()
    }

    /// Takes the samples, in steps.
    ///
    /// # Errors
    /// What stopped a step.
    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop>;

    /// The answer, from samples that are whole. Its cost is filled in by the caller.
    fn solve(&self, record: &Record) -> Estimate;
}

/// The probes of a method, in the order of [`Parameter::ALL`].
pub fn list(method: Method) -> &'static [&'static dyn Probe] {
    match method {
        Method::Robust => robust::PROBES,
        Method::Paper => paper::PROBES,
    }
}

/// The probe of a parameter, where the method has one.
pub fn find(method: Method, parameter: Parameter) -> Option<&'static dyn Probe> {
    list(method)
        .iter()
        .copied()
        .find(|probe| probe.parameter() == parameter)
}
