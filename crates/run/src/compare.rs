//! How the response times of two runs relate, with intervals.
//!
//! [`fathom_stats::ratio`] has the statistics. Where both runs played the same accesses, they are compared access by access.

mod pairs;

pub use fathom_stats::ratio::{Basis, Mean, Ratio, Verdict};
pub use pairs::{Pairs, Responses, Timed};
