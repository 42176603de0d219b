//! The series of samples of this parameter.

use crate::Series;

/// A TRIM of `x` bytes that were written before.
pub(super) const TRIM: Series = Series::new("trim");
/// Reads of a trimmed place, the same after a pause, and reads of a written place.
pub(super) const TRIMMED: Series = Series::new("trimmed");
pub(super) const TRIMMED_LATER: Series = Series::new("trimmed_later");
pub(super) const WRITTEN: Series = Series::new("written");
/// Reads with nothing else going on, and with TRIMs in between.
pub(super) const QUIET: Series = Series::new("quiet");
pub(super) const DURING: Series = Series::new("during");
/// Small random writes into a trimmed and into a written place, with the flush after them.
pub(super) const INTO_TRIMMED: Series = Series::new("into_trimmed");
pub(super) const INTO_WRITTEN: Series = Series::new("into_written");
