//! The series of samples of this parameter.

use crate::Series;

/// Pieces of a fill in sequence: of an empty drive, and again.
pub(super) const EMPTY: Series = Series::new("empty");
pub(super) const AGAIN: Series = Series::new("again");
/// Pieces that follow after a pause of an exhausted cache, by the length of the pause in seconds.
pub(super) const AFTER: [Series; 4] = [
    Series::new("after_1_s"),
    Series::new("after_10_s"),
    Series::new("after_60_s"),
    Series::new("after_600_s"),
];
/// Pieces from half full and from nearly full on.
pub(super) const HALF: Series = Series::new("half_full");
pub(super) const NEARLY: Series = Series::new("nearly_full");
/// Reads of the slow pieces at once, and after a pause.
pub(super) const READ_HOT: Series = Series::new("read_hot");
pub(super) const READ_COOL: Series = Series::new("read_cool");

/// Small reads of what was written before the drop and after it, while the cache is full.
pub(super) const READ_HEAD: Series = Series::new("read_before_drop");
pub(super) const READ_TAIL: Series = Series::new("read_after_drop");

/// Small reads of data in the cache, and of data on a full drive.
pub(super) const READ_FAST: Series = Series::new("read_in_cache");
pub(super) const READ_FULL: Series = Series::new("read_when_full");

/// Reads and writes of a full drive, with `x` in flight together.
pub(super) const LOAD_READ: Series = Series::new("load_read");
pub(super) const LOAD_WRITE: Series = Series::new("load_write");
