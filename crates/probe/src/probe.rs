//! What a method of measuring a parameter does.

use crate::{Estimate, Parameter, Record, Session, Space, Stop};

/// The answers of other parameters, from the same record.
pub type Answers<'a> = dyn Fn(Parameter) -> Estimate + 'a;

/// Measures one parameter.
///
/// `run` only takes samples, `solve` only reads them: what `run` decides on the way it decides by the same
/// functions. Both see the samples of their own parameter and of those measured before it ([`crate::plan`]).
pub trait Probe: Sync {
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

    /// The answer, from samples that are whole. Unit, method and cost are filled in by the caller.
    fn solve(&self, record: &Record, others: &Answers<'_>) -> Estimate;
}
