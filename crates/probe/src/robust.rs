//! Code that the robust methods share.
//!
//! A robust method tests against explicit null models and samples until the answer is settled or the budget is spent. It
//! takes its samples in steps, evaluates them with the statistics of [`fathom_stats`], and goes on only if the answer is not
//! settled. A property that is not observed is *absent* or *not identifiable* with a reason, never a guess.

pub(crate) mod blank;
pub(crate) mod limits;
pub(crate) mod overwritten;
pub(crate) mod pace;
pub(crate) mod prepare;
pub(crate) mod samples;
pub(crate) mod size;
pub(crate) mod units;
pub(crate) mod written;
