//! A workload through a drive: the run loop, and what it measures on its way.
//!
//! The loop is the same over a modelled drive and a real one: the device is the clock. Accesses stream, nothing
//! is held but what is in flight; an access that the device cannot take yet is not read from its source yet, and
//! its response time counts from when it was asked for. It shapes nothing and decides nothing: that is what the
//! steps and the arrival of [`fathom_workload::step`] say.

mod asked;
mod kept;
mod misfit;
mod requests;
mod run;
mod source;

pub use asked::asked;
pub use misfit::Misfit;
pub(crate) use requests::read_responses;
pub use run::{Plan, RunError, Seen, Watch, check, prepared, run, run_model};
