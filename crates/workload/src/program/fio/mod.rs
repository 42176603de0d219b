//! Job files of fio as a program, with one actor for each process that fio would start.
//!
//! The implementation follows fio 3.33's manual (HOWTO.rst) and was compared with the behaviour of that version. Every
//! option that changes a job's accesses is either supported or refused; the other options are ignored with a note. A
//! job that runs therefore means what its file says. `docs/jobs.md` lists the values of each option and the differences
//! from fio.
//!
//! There are no files or directories, no page cache, no buffered I/O, and no clock other than the drive's. The target
//! is a whole drive, and every process of every job works on it.

mod check;
mod choices;
mod content;
mod error;
mod harmless;
mod job;
mod jobs;
mod lengths;
mod map;
mod options;
mod others;
mod pace;
mod parse;
mod placement;
mod places;
mod process;
mod region;
mod steer;
mod value;
mod written;
mod zone_fit;
mod zone_mode;
mod zones;

pub use choices::{Amount, Distribution, Each, Engine, Pace, PrioClass, Rw, Sequencer};
pub use content::Found;
pub use error::{FioError, JobError, Problem};
pub use harmless::HARMLESS;
pub use job::{Area, Blocks, Ends, Flushes, Job, Order, Pacing, Schedule};
pub use jobs::{Jobs, ProcessOf};
pub use lengths::{Lengths, Range, Split};
pub use options::{OPTIONS, OptionEntry};
pub use others::{IGNORED, REFUSED};
pub use parse::{Around, JobFile, parse, parse_with};
pub use placement::Placement;
pub use region::Region;
pub use zone_mode::ZoneMode;
