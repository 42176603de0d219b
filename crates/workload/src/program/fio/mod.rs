//! Job files of fio as a program: one actor for each process that fio would start.
//!
//! Read after fio 3.33's manual (HOWTO.rst) and compared with what that version does. The options that
//! change what a job asks for are read or refused, and the others are noted: a job that runs means what it says.
//! `docs/jobs.md` lists what each option takes and where it differs.
//!
//! What does not exist here: files and directories, a page cache, buffered I/O, a clock other than the drive's. The
//! target is a whole drive, and every process of every job works on it.

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
mod places;
mod process;
mod region;
mod steer;
mod text;
mod value;
mod written;

pub use choices::{Amount, Distribution, Each, Engine, Pace, PrioClass, Rw, Sequencer};
pub use content::Found;
pub use error::{FioError, Problem, VerifyError};
pub use harmless::HARMLESS;
pub use job::{Area, Blocks, Ends, Flushes, Job, Order, Pacing, Schedule};
pub use jobs::{Jobs, ProcessOf};
pub use lengths::{Lengths, Range, Split};
pub use options::{OPTIONS, OptionEntry};
pub use others::{IGNORED, REFUSED};
pub use parse::{Around, JobFile, parse, parse_with};
pub use region::Region;
