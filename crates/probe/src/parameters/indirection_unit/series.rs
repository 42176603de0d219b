//! The samples of the indirection unit.

use crate::Series;

/// Flushed writes over their size: at multiples of it, shifted from there by half of it, and anywhere.
pub(crate) const ALIGNED: Series = Series::new("unit_aligned");
pub(crate) const SHIFTED: Series = Series::new("unit_shifted");
pub(crate) const ANYWHERE: Series = Series::new("unit_anywhere");
/// Small flushed writes across multiples of `x`.
pub(crate) const ACROSS: Series = Series::new("unit_across");
/// Writes of a whole unit, and of a unit without one logical block.
pub(crate) const WHOLE: Series = Series::new("unit_whole");
pub(crate) const SHORT: Series = Series::new("unit_short");
/// The same streams of writes at depth 32.
pub(crate) const STREAM_ALIGNED: Series = Series::new("fast_aligned");
pub(crate) const STREAM_SHIFTED: Series = Series::new("fast_shifted");
pub(crate) const STREAM_SHORT: Series = Series::new("fast_short");
pub(crate) const STREAM_WHOLE_AGAIN: Series = Series::new("fast_whole_2");
pub(crate) const STREAM_SHORT_AGAIN: Series = Series::new("fast_short_2");
/// Small reads at random places.
pub(crate) const READ: Series = Series::new("unit_read");
/// The bytes written to the media by such streams, as the drive's log counts them.
pub(crate) const MEDIA_ALIGNED: Series = Series::new("media_aligned");
pub(crate) const MEDIA_SHIFTED: Series = Series::new("media_shifted");
