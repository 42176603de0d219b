//! What robust methods share.
//!
//! They decide by explicit null models and sample until the answer is settled or the budget is gone. Each takes its samples in
//! steps, looks at them with the statistics of [`fathom_stats`], and goes on only where that is not settled. What is not seen is
//! *absent* or *not identifiable* with a reason, never a guess.

pub(crate) mod prepare;
pub(crate) mod samples;
pub(crate) mod size;
pub(crate) mod units;
pub(crate) mod written;
