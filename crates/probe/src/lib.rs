//! Measures from outside what a drive hides: probes, the statistics that answer from their samples, the record
//! of what was measured and the profile of what is known.
//!
//! Sees a drive only through [`fathom_block::Device`]. Depends on no model: the black box stays black.
//!
//! ```
//! use fathom_base::Dur;
//! use fathom_block::{DeviceInfo, NullDevice};
//! use fathom_probe::{Parameter, RunConfig, Unobserved, run};
//!
//! // Any device will do; this one takes 20 microseconds for everything.
//! let mut device = NullDevice::new(DeviceInfo::default(), Dur::us(20));
//! let config = RunConfig { parameters: vec![Parameter::ClusteredPage], ..RunConfig::default() };
//! let record = run::run(&mut device, &config, None, &mut Unobserved)?;
//! for (parameter, answer) in run::solve(&record).parameters {
//!     println!("{parameter}: {}", answer.verdict);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod plan;
pub mod probes;
pub mod profile;
pub mod record;
pub mod run;
pub mod session;

pub use profile::{Cost, Estimate, Parameter, Profile, Value, Verdict};
pub use record::{Method, Record, RecordMeta, Sample, Series, Step};
pub use run::{RunConfig, RunError};
pub use session::{Io, Observer, Progress, Session, Stop, Unobserved};
