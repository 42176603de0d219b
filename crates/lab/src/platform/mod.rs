//! What an I/O costs a machine: platforms by name, and the runs that show what a modelled one does.

mod file;
mod limit;
mod measure;
mod meter;
mod model;
mod name;
mod plan;
mod samples;
mod stand;

pub use file::measured_platform;
pub use measure::{MeasureError, MeasureOptions, Measurement, measure};
pub use model::{ModelOptions, model};
pub(crate) use name::charged;
pub use name::{PlatformError, platform, platform_of_run};
pub use plan::{PlanOptions, plan};
pub use samples::{Sample, table};
pub use stand::StandError;
