//! Measures the hidden parameters of a drive from outside: the parameters and their methods, the record of the samples and
//! the profile of the answers.
//!
//! Accesses a drive only through [`fathom_block::Device`]. Does not depend on the drive models: a modelled drive is a black
//! box too.
//!
//! Code that reads a record selects samples by their [`Series`]: `ALIGNED`, `SHIFTED`, `RANDOM`, `RANDOM_READ`,
//! `SEQUENTIAL_READ`, `MISS`, `HIT`, `EMPTY_BUFFER`, `FULL_BUFFER`, `FLUSH_AFTER`, `SCATTERED`, `CONSECUTIVE`, `REWRITE`,
//! `DISTINCT`, `PLACE`, `ACROSS`, `STREAM_ACROSS`, `STREAM_WITHIN` and others. A custom step makes its requests through
//! [`Io`], one after the other or several in flight ([`Io::read_queued`]). [`Io::serve`] times each request of a closed or
//! open loop, for [`Io::sample_served`] and [`Io::sample_rate`]; [`Io::sample_host`] keeps the host's processor time; [`Io::payload`] and [`Io::write_through`] set the mode of writes; [`Io::log`] asks
//! for the drive's own log.
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

pub mod about;
mod catalog;
pub mod condition;
mod config;
pub mod cost;
mod elsewhere;
mod error;
mod look;
mod method;
mod paper;
mod parameters;
pub mod plan;
mod probe;
pub mod profile;
mod reach;
pub mod record;
mod reported;
mod robust;
pub mod run;
mod series;
pub mod session;
mod solve;
mod space;
mod value;
mod watch;

pub use about::About;
pub use method::Method;
pub use parameters::Parameter;
pub use probe::{Answers, Probe, Quick};
pub use profile::{Estimate, Profile, Verdict};
pub use record::{Cost, Level, Look, Marks, Record, RecordMeta, Reference, Sample, Step};
pub use reported::{Contradiction, Reported};
pub use run::{RunConfig, RunError};
pub use series::Series;
pub use session::{Ask, Io, Observer, Progress, Served, Session, Stop, Unobserved};
pub use space::Space;
pub use value::{Unit, Value};
