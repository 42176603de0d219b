//! The interface of a measuring method: [`Probe`].

use crate::{Estimate, Parameter, Record, Session, Space, Stop};

/// Returns the answer of another parameter, solved from the same record.
pub type Answers<'a> = dyn Fn(Parameter) -> Estimate + 'a;

/// The parts of the budgets that one parameter may take at the quick level beside many others, in percent. One that a busy drive
/// makes slow, or whose memory hides what is asked, would leave nothing to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quick {
    /// The part of the time.
    pub time_percent: u64,
    /// The part of the bytes, apart from a shared preparation.
    pub bytes_percent: u64,
}

impl Default for Quick {
    fn default() -> Self {
        Self {
            time_percent: 25,
            bytes_percent: 12,
        }
    }
}

/// A method of measuring one parameter.
///
/// `run` only takes samples and `solve` only reads them. Decisions that `run` makes while measuring use the functions that
/// `solve` uses. Both see the samples of their own parameter and of those measured before it ([`crate::plan`]).
pub trait Probe: Sync {
    /// The parameter whose answer this probe needs. It is measured first, even if it was not asked for.
    fn after(&self) -> Option<Parameter> {
        None
    }

    /// The most that [`Probe::run`] writes apart from a shared preparation, in bytes; the run stops it before it writes
    /// more. The bound covers what an answer needs, not the sum of everything that could be tried, so a drive that is too
    /// uneven to settle costs no more.
    fn bound(&self, space: &Space) -> u64;

    /// A rough estimate of the bytes written apart from a shared preparation, on a drive that gives an answer.
    fn expected(&self, space: &Space) -> u64 {
        self.bound(space)
    }

    /// A rough estimate of the bytes written apart from a shared preparation, on a drive that gives no answer.
    fn fruitless(&self, space: &Space) -> u64 {
        self.expected(space)
    }

    /// The bytes of budget that must be left, apart from a shared preparation, for the probe to begin. With less it seldom
    /// finds an answer.
    fn least(&self, space: &Space) -> u64 {
        self.expected(space)
    }

    /// The bytes that the probe needs under a budget, from the start of the region. Less than the whole region where a part
    /// shows the same.
    fn reach(&self, space: &Space) -> u64 {
        space.bytes()
    }

    /// Its part of the budgets at the quick level, beside many other parameters.
    fn quick(&self) -> Quick {
        Quick::default()
    }

    /// Takes the samples, in steps.
    ///
    /// # Errors
    /// The [`Stop`] of the first step that failed.
    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop>;

    /// Returns the answer, from a complete set of samples. The caller fills in unit, method and cost.
    fn solve(&self, record: &Record, others: &Answers<'_>) -> Estimate;
}
