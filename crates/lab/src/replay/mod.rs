//! A workload through a drive: the run loop, and what it measures on its way.
//!
//! The loop is the same over a modelled drive and a real one: the device is the clock. Accesses stream, nothing
//! is held but what is in flight; an access that the device cannot take yet is not read from its source yet, and
//! its response time counts from when it was asked for. It shapes nothing and decides nothing: that is what the
//! steps and the arrival of [`fathom_workload::step`] say.

mod agenda;
mod asked;
mod batches;
mod gauge;
mod misfit;
mod outcome;
mod play;
mod prepare;
mod refused;
mod requests;
mod run;

pub use asked::asked;
pub(crate) use batches::half_width;
pub use batches::{Batches, Interval};
pub use gauge::{Gauge, Moment, Observer};
pub use misfit::Misfit;
pub use outcome::{
    Bucket, Counted, CutShort, Distribution, Outcome, Process, Quantile, Reshaped, Side, Totals,
    Waiting,
};
pub use play::{PlayError, Played, Subject, play};
pub use prepare::{Precondition, prepare};
pub use requests::{RequestFile, read_responses};
pub use run::{
    Plan, RunError, Seen, Watch, check, prepared, run, run_model, run_model_watched, run_watched,
};
