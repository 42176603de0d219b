//! The first pass over a trace: finds where its disks end, for the steps that need to know.

use super::Step;
use super::shaped::{ShapeError, apply};
use super::work::Survey;
use fathom_base::BadValue;
use fathom_block::Access;

/// Reads a workload to its end. The memory used grows only with the number of disks.
///
/// # Errors
/// The first error of the source.
fn survey<E>(source: impl IntoIterator<Item = Result<Access, E>>) -> Result<Survey, E> {
    let mut found = Survey::default();
    for access in source {
        found.add(&access?);
    }
    Ok(found)
}

/// The reason why steps could not be resolved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError<E: std::error::Error> {
    /// A step before the one to be resolved has invalid settings.
    #[error(transparent)]
    Bad(BadValue),
    /// The trace, or a step before the one to be resolved, failed during the pass.
    #[error(transparent)]
    Shape(ShapeError<E>),
}

/// Fills in omitted settings that depend on the trace: the span of `shrink` and the disks of `concatenate`. Each such
/// step costs one pass over the trace through the steps before it. If nothing is missing, the trace is not opened.
///
/// `open` returns the trace from its start on each call.
///
/// # Errors
/// A step with invalid settings, or the first error of the trace or of a step.
pub fn resolve<E, S>(
    steps: &[Step],
    mut open: impl FnMut() -> Result<S, E>,
) -> Result<Vec<Step>, ResolveError<E>>
where
    E: std::error::Error,
    S: Iterator<Item = Result<Access, E>>,
{
    let mut steps = steps.to_vec();
    for index in 0..steps.len() {
        if !steps[index].settings().needs_survey() {
            continue;
        }
        let source = open().map_err(|error| ResolveError::Shape(ShapeError::Source(error)))?;
        let before = apply(&steps[..index], source).map_err(ResolveError::Bad)?;
        let found = survey(before).map_err(ResolveError::Shape)?;
        steps[index].settings_mut().learn(&found);
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::super::plain;
    use super::*;
    use fathom_base::Time;
    use fathom_block::Op;

    #[test]
    fn a_survey_says_where_each_disk_ends() {
        let access = |at, op, offset, len, disk| Access {
            at: Time(at),
            op,
            offset,
            len,
            disk,
            process: 0,
        };
        let found = survey(plain([
            access(0, Op::Write, 4_000, 1_000, 0),
            access(9, Op::Read, 10, 2_000, 1),
            access(5, Op::Write, 0, 1, 1),
            access(6, Op::Flush, 0, 0, 2),
        ]))
        .unwrap();
        assert_eq!(found.disks, [(0, 5_000), (1, 2_010)].into_iter().collect());
        assert_eq!(found.end(), 5_000);
    }
}
