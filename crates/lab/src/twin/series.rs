//! The series of a record that a twin is fitted to, by their names in the record.

use fathom_probe::Series;

pub(super) const ALONE: Series = Series::new("alone");
pub(super) const SOLO: Series = Series::new("solo");
pub(super) const SOLO_OF_TWO: Series = Series::new("solo_of_two");
pub(super) const PAIR: Series = Series::new("pair");
pub(super) const NOTHING: Series = Series::new("nothing");
pub(super) const NOTHING_PAIR: Series = Series::new("nothing_pair");
pub(super) const CLOSED: Series = Series::new("closed_loop");
pub(super) const AT_KNEE: Series = Series::new("at_knee");
pub(super) const BATCH: Series = Series::new("batch");
pub(super) const EMPTY: Series = Series::new("empty");
pub(super) const CLEAN: Series = Series::new("clean");
pub(super) const DIRTY: Series = Series::new("dirty");
pub(super) const PLAIN: Series = Series::new("plain");
pub(super) const FUA: Series = Series::new("fua");
pub(super) const TYPICAL_WRITING: Series = Series::new("typical_writing");
pub(super) const SLOWEST_WRITING: Series = Series::new("slowest_writing");
pub(super) const TAIL_WRITING: Series = Series::new("tail_writing");
pub(super) const AFTER_WRITE: Series = Series::new("after_write");
pub(super) const AFTER_SHORT: Series = Series::new("after_1_s");
pub(super) const SPARSE: Series = Series::new("overwrite_few");
pub(super) const IN_ORDER: Series = Series::new("overwrite_order");
pub(super) const NEAR: Series = Series::new("overwrite_near");
pub(super) const HALF: Series = Series::new("half_full");
pub(super) const NEARLY: Series = Series::new("nearly_full");
pub(super) const LOAD_READ: Series = Series::new("load_read");
pub(super) const LOAD_WRITE: Series = Series::new("load_write");
pub(super) const READ_COOL: Series = Series::new("read_cool");
pub(super) const READ_FAST: Series = Series::new("read_in_cache");
pub(super) const READ_FULL: Series = Series::new("read_when_full");
