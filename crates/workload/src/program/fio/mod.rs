//! Job files of fio as a program: one actor for each process that fio would start.
//!
//! Read after fio 3.33's manual (HOWTO.rst) and compared with what that version does. A part of fio's options is
//! supported, and every other one is refused: a job that runs means what it says. `docs/jobs.md` lists what each option
//! takes and where it differs.
//!
//! What does not exist here: files and directories, a page cache, buffered I/O, a clock other than the drive's. The
//! target is a whole drive, and every process of every job works on it.

mod check;
mod content;
mod error;
mod job;
mod jobs;
mod map;
mod options;
mod pace;
mod parse;
mod places;
mod process;
mod region;
mod text;
mod value;
mod written;

pub use content::{Found, HEADER_BYTES};
pub use error::{FioError, Problem, VerifyError};
pub use job::{Amount, Distribution, Each, Engine, Job, Rw, Split};
pub use jobs::{Jobs, ProcessOf};
pub use options::{IGNORED, OPTIONS, OptionEntry};
pub use parse::{JobFile, parse};
pub use region::Region;
