//! Runs a workload on a drive: the run loop and its measurements.
//!
//! The loop is the same for a modelled drive and a real one: the device is the clock. Accesses are streamed, and only those
//! in flight are held. If the device cannot take an access yet, the access is not yet read from its source; its response
//! time counts from the time at which it was due. The loop shapes nothing: the steps and the arrival of
//! [`fathom_workload::step`] do that.

mod asked;
mod hosted;
mod kept;
mod misfit;
mod on_model;
mod requests;
mod run;
mod source;

pub use asked::asked;
pub use misfit::Misfit;
pub use on_model::run_model;
pub(crate) use requests::read_responses;
pub use run::{Plan, RunError, Seen, Watch, check, prepared, run};
