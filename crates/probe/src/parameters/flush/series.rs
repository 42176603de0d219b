//! The series of samples of this parameter.

use crate::Series;

/// Flushes with nothing to write.
pub(super) const CLEAN: Series = Series::new("clean");
/// Flushes after a write of `x` bytes.
pub(super) const DIRTY: Series = Series::new("dirty");
/// Small writes without a flush.
pub(super) const PLAIN: Series = Series::new("plain");
/// The same writes with forced unit access.
pub(super) const FUA: Series = Series::new("fua");
