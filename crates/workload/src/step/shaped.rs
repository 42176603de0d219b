//! Applies steps to a stream of accesses and counts what each of them does.

use super::Step;
use super::work::{Problem, Verdict, Work};
use fathom_base::BadValue;
use fathom_block::Access;
use std::convert::Infallible;

/// An error of a step that cannot process an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "step {number} ({step}) cannot take access {ordinal}, a {} of {} bytes at offset {} of disk {}: {problem}",
    access.op, access.len, access.offset, access.disk
)]
pub struct StepError {
    /// Position of the step in the list, from 1.
    pub number: usize,
    /// Name of the step.
    pub step: &'static str,
    /// Number of the access among those that reached the step, from 1.
    pub ordinal: u64,
    /// The access, as it reached the step.
    pub access: Access,
    /// The problem with the access.
    pub problem: Problem,
}

/// The reason why a shaped workload ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError<E: std::error::Error> {
    /// The source failed.
    #[error(transparent)]
    Source(E),
    /// A step could not process an access.
    #[error(transparent)]
    Step(StepError),
}

/// The counters of one step. `entered + added == left + dropped` always holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Accesses that reached the step without an error.
    pub entered: u64,
    /// Accesses that left the step.
    pub left: u64,
    /// Accesses that the step dropped.
    pub dropped: u64,
    /// Accesses that left the step with a different time, offset, length or disk. The first piece of a split access
    /// counts here.
    pub changed: u64,
    /// Additional pieces of split accesses: all but the first of each.
    pub added: u64,
}

/// The counters of a step, with the step's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepCounts {
    /// Name of the step.
    pub step: &'static str,
    /// Its counters so far.
    pub counts: Counts,
}

struct Stage {
    name: &'static str,
    work: Box<dyn Work>,
    counts: Counts,
}

impl Stage {
    /// Applies the step to an access and counts the result. Returns `None` if the step drops the access.
    fn shape(&mut self, access: Access) -> Verdict {
        let shaped = self.work.shape(access)?;
        self.counts.entered += 1;
        match shaped {
            Some(shaped) => {
                self.counts.left += 1;
                self.counts.changed += u64::from(shaped != access);
            }
            None => self.counts.dropped += 1,
        }
        Ok(shaped)
    }

    fn rest(&mut self) -> Option<Access> {
        let piece = self.work.rest()?;
        self.counts.added += 1;
        self.counts.left += 1;
        Some(piece)
    }
}

/// A workload with steps applied to it. The iterator ends after the first error.
pub struct Shaped<S> {
    source: S,
    stages: Vec<Stage>,
    ended: bool,
}

/// Applies steps to a source, in order.
///
/// The source is any iterator of accesses that may fail. [`plain`] makes one from accesses that cannot fail.
///
/// # Errors
/// A step with invalid settings, or one that first needs a pass over the trace ([`super::resolve`]).
pub fn apply<S>(steps: &[Step], source: S) -> Result<Shaped<S>, BadValue> {
    let mut stages = Vec::with_capacity(steps.len());
    for (index, step) in steps.iter().enumerate() {
        let (name, settings) = (step.name(), step.settings());
        let part = || format!("step {} ({name})", index + 1);
        settings.check().map_err(|bad| bad.of(part()))?;
        stages.push(Stage {
            name,
            work: settings.work(),
            counts: Counts::default(),
        });
    }
    Ok(Shaped {
        source,
        stages,
        ended: false,
    })
}

/// Converts accesses that cannot fail, such as a generator's, into a source for [`apply`].
pub fn plain(
    accesses: impl IntoIterator<Item = Access>,
) -> impl Iterator<Item = Result<Access, Infallible>> {
    accesses.into_iter().map(Ok)
}

impl<S> Shaped<S> {
    /// Returns the source.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// Returns the counters of all steps so far, in the order of the steps.
    pub fn counts(&self) -> Vec<StepCounts> {
        let counted = self.stages.iter().map(|stage| StepCounts {
            step: stage.name,
            counts: stage.counts,
        });
        counted.collect()
    }

    /// Returns the next pending piece of a split access, with the index of the stage that receives it. Later stages
    /// come first, which preserves the order. Returns `Err(true)` if an access of the source is needed, and
    /// `Err(false)` if a stage accepts no more.
    fn held(&mut self) -> Result<(usize, Access), bool> {
        for (index, stage) in self.stages.iter_mut().enumerate().rev() {
            if let Some(piece) = stage.rest() {
                return Ok((index + 1, piece));
            }
            if stage.work.full() {
                return Err(false);
            }
        }
        Err(true)
    }

    /// Sends an access through the stages from index `from` on.
    fn send(&mut self, from: usize, access: Access) -> Result<Option<Access>, StepError> {
        let mut access = access;
        for (index, stage) in self.stages.iter_mut().enumerate().skip(from) {
            let shaped = stage.shape(access).map_err(|problem| StepError {
                number: index + 1,
                step: stage.name,
                ordinal: stage.counts.entered + 1,
                access,
                problem,
            })?;
            match shaped {
                Some(shaped) => access = shaped,
                None => return Ok(None),
            }
        }
        Ok(Some(access))
    }
}

impl<S, E> Iterator for Shaped<S>
where
    S: Iterator<Item = Result<Access, E>>,
    E: std::error::Error,
{
    type Item = Result<Access, ShapeError<E>>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if self.stages.is_empty() && !self.ended {
            let next = self.source.next();
            self.ended = !matches!(next, Some(Ok(_)));
            return next.map(|access| access.map_err(ShapeError::Source));
        }
        self.next_shaped()
    }
}

impl<S, E> Shaped<S>
where
    S: Iterator<Item = Result<Access, E>>,
    E: std::error::Error,
{
    /// Returns the next access that leaves the last stage.
    fn next_shaped(&mut self) -> Option<Result<Access, ShapeError<E>>> {
        while !self.ended {
            let (stage, access) = match self.held() {
                Ok(held) => held,
                Err(false) => break,
                Err(true) => match self.source.next() {
                    None => break,
                    Some(Ok(access)) => (0, access),
                    Some(Err(error)) => {
                        self.ended = true;
                        return Some(Err(ShapeError::Source(error)));
                    }
                },
            };
            match self.send(stage, access) {
                Ok(None) => {}
                Ok(Some(access)) => return Some(Ok(access)),
                Err(error) => {
                    self.ended = true;
                    return Some(Err(ShapeError::Step(error)));
                }
            }
        }
        self.ended = true;
        None
    }
}
