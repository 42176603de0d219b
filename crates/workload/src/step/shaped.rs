//! Steps at work over a stream of accesses, and what they count.

use super::Step;
use super::work::{Problem, Verdict, Work};
use fathom_base::BadValue;
use fathom_block::Access;
use std::convert::Infallible;

/// An access that a step cannot take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "step {number} ({step}) cannot take access {ordinal}, a {} of {} bytes at offset {} of disk {}: {problem}",
    access.op, access.len, access.offset, access.disk
)]
pub struct StepError {
    /// Which step of the list, counted from 1.
    pub number: usize,
    /// Its name.
    pub step: &'static str,
    /// Which access of those that reached the step, counted from 1.
    pub ordinal: u64,
    /// The access, as the step got it.
    pub access: Access,
    /// What is wrong with it.
    pub problem: Problem,
}

/// Why a shaped workload ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError<E: std::error::Error> {
    /// The source failed.
    #[error(transparent)]
    Source(E),
    /// A step could not take an access.
    #[error(transparent)]
    Step(StepError),
}

/// What one step has counted. At any time `entered + added == left + dropped`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Accesses that reached the step and that it could take.
    pub entered: u64,
    /// Accesses that left it.
    pub left: u64,
    /// Accesses that it dropped.
    pub dropped: u64,
    /// Accesses that left it with another time, place, length or disk; the first piece of one that was cut among
    /// them.
    pub changed: u64,
    /// Pieces beyond the first of an access that it cut.
    pub added: u64,
}

/// The counts of a step, with its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepCounts {
    /// The step's name.
    pub step: &'static str,
    /// What it has counted so far.
    pub counts: Counts,
}

struct Stage {
    name: &'static str,
    work: Box<dyn Work>,
    counts: Counts,
}

impl Stage {
    /// What of the access leaves the stage, if anything.
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

/// A workload with steps over it. Ends at the first error.
pub struct Shaped<S> {
    source: S,
    stages: Vec<Stage>,
    ended: bool,
}

/// Puts steps over a source, in their order.
///
/// The source is any iterator of accesses that may fail; [`plain`] makes one of accesses that cannot.
///
/// # Errors
/// A step whose settings cannot be, or one that would need a first pass ([`super::resolve`]).
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

/// Accesses that cannot fail, such as a generator's, as a source for [`apply`].
pub fn plain(
    accesses: impl IntoIterator<Item = Access>,
) -> impl Iterator<Item = Result<Access, Infallible>> {
    accesses.into_iter().map(Ok)
}

impl<S> Shaped<S> {
    /// What the steps stand over.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// What each step has counted so far, in their order.
    pub fn counts(&self) -> Vec<StepCounts> {
        let counted = self.stages.iter().map(|stage| StepCounts {
            step: stage.name,
            counts: stage.counts,
        });
        counted.collect()
    }

    /// The access that has to go on next, with the stage that it goes to: a piece that a stage still holds, the
    /// last stage first. `Err(true)` asks for an access of the source, `Err(false)` says that none is wanted.
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

    /// Sends an access through the stages from `from` on.
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

    fn next(&mut self) -> Option<Self::Item> {
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
