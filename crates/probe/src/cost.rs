//! The write-cost model of `greedy-space` III and IV, fitted to a drive and tested on it.
//!
//! A set of n sectors in one logical block takes `T_merge + n S / B`, for n up to L; sets in several logical blocks add up.
//! [`measure()`] finds L by the paper's search (`search`) unless it is given, measures sets of
//! every size (`sets`), fits the model (`fit`), predicts other sets and measures them too, and repeats Figure 1
//! (`spikes`): the response time of every request, where the counters of a modelled drive give the cause of each spike.
//!
//! It works on any device. It does not know the models: a drive that reports no work has spikes without a cause.
//!
//! Not here: drives that are read, more than one request in flight, and the state of a file system.

mod fit;
mod judge;
mod measure;
mod search;
mod sets;
mod spikes;
mod types;
mod writer;

pub use measure::{Hooks, bound, measure};
pub use types::{
    Block, Cause, Causes, Config, CostError, Estimated, Figure, Fit, Order, Prediction, Rate,
    Response, Row, Source, Verdict, WriteCost,
};
