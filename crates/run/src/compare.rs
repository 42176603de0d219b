//! How the response times of two runs relate, with intervals.
//!
//! The ratio of two means has Fieller's interval (E. C. Fieller, "Some problems in interval estimation", J. R. Statist. Soc.
//! B 16, 1954) over batch means. Where both runs played the same accesses, the means come from the same batches of accesses,
//! and how they go together narrows the interval: it holds exactly those ratios for which the paired differences
//! `y - ratio * x` may be zero on average.

mod pairs;
mod ratio;

pub use pairs::{Pairs, Responses, Timed};
pub use ratio::{Basis, Mean, Ratio, Verdict, fieller};
