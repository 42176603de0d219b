//! The series of samples of this parameter.

use crate::Series;

/// Long writes in order, with the flush after them, of bytes that occur nowhere else, of repeated pieces, and of zeros.
pub(super) const UNIQUE: Series = Series::new("unique");
pub(super) const REPEATED: Series = Series::new("repeated");
pub(super) const ZEROS: Series = Series::new("zeros");
/// Small writes at random places, in the same way.
pub(super) const SMALL_UNIQUE: Series = Series::new("small_unique");
pub(super) const SMALL_REPEATED: Series = Series::new("small_repeated");
pub(super) const SMALL_ZEROS: Series = Series::new("small_zeros");
/// Reads of what was written.
pub(super) const READ_UNIQUE: Series = Series::new("read_unique");
pub(super) const READ_REPEATED: Series = Series::new("read_repeated");
pub(super) const READ_ZEROS: Series = Series::new("read_zeros");
