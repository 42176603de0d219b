//! The twin of a measured drive: a drive file whose model behaves like what a record has seen.
//!
//! The structure follows from the answers of the profile (`draft`): sizes, counts, memories, limits. What they leave open
//! takes a usual value and is listed as assumed. The times are then fitted (`fit`): candidates are measured
//! (`bench`) in the way of the probe, and compared with the record figure by figure (`figures`).
//!
//! A twin is made from the record alone: the drive file that the record of a modelled drive holds is not looked at.

mod bench;
mod campaign;
mod direct;
mod draft;
mod error;
mod figures;
mod file;
mod fit;
mod kept;
mod make;
mod seen;
mod series;
mod watch;
mod work;

pub use campaign::compare;
pub use error::TwinError;
pub use file::cautions;
pub use kept::{TwinFile, of_run, save, twin_of};
pub use make::{Twin, twin};
pub use watch::{Far, Watcher};
