//! The samples of the reclaim unit.

use crate::Series;

/// Pieces of a stream of overwrites in order; `x` is the bytes written before their end.
pub(crate) const PIECE: Series = Series::new("order_piece");
/// Batches of zones at random; `x` is the length of a zone, in bytes.
pub(crate) const ZONE: Series = Series::new("zone");
