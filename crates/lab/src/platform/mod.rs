//! What an I/O costs a machine: platforms by name, and the runs that show what a modelled one does.

mod limit;
mod model;
mod name;
mod plan;
mod stand;

pub use model::{ModelOptions, model};
pub use name::{PlatformError, platform};
pub use plan::{PlanOptions, plan};
pub use stand::StandError;
