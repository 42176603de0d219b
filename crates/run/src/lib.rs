//! Playing a workload on a device: the run loop, the measurements it takes, and the comparison of runs.
//!
//! The loop is the same for modelled and real drives: the device is the clock. Accesses are streamed, and only those in
//! flight are held in memory. If the device is busy, the loop does not read further accesses from the source; the
//! response time of an access counts from when it was asked for. The loop neither shapes nor schedules accesses: the
//! steps and the arrival of `fathom_workload::step` do that. It opens no file, starts no thread and reads no clock.
//!
//! ```
//! use fathom_base::Dur;
//! use fathom_block::{DeviceInfo, NullDevice};
//! use fathom_run::{Precondition, measure, prepare};
//! use fathom_workload::{generate::Config, program::closed_loop};
//!
//! // Any device will do, such as a drive of `fathom_model`. This one takes 20 microseconds for every request.
//! let mut drive = NullDevice::new(DeviceInfo::default(), Dur::us(20));
//! prepare(&mut drive, Precondition::Filled, 1)?;
//! let mut load = Config::of("zipf".parse()?);
//! load.accesses = Some(1_000);
//! let run = measure(&mut drive, &mut closed_loop(load.generator(1)?, 32))?;
//! println!("{}", run.totals.reads.ok_or("no reads")?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod ab;
mod agenda;
pub mod compare;
mod figures;
mod measure;
mod observer;
mod plan;
mod play;
mod prepare;
mod record;
mod recorder;
mod refused;
mod tally;
mod times;

pub use fathom_stats::batches::{Batches, Interval, half_width};
pub use figures::{Bucket, Distribution, Process, Quantile, Side, Totals, Waiting};
pub use measure::{Measured, measure};
pub use observer::{Moment, Observer, Played};
pub use plan::{Plan, WorkloadRecord};
pub use play::{PlayError, play};
pub use prepare::{Precondition, prepare, prepare_watched};
pub use record::{Counted, CutShort, HostWait, Reshaped, RunRecord};
pub use recorder::{Recorder, Sink};
