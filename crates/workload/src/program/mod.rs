//! Programs: streams and closed loops, fio's jobs, and benchmarks of files, which are a script on a machine
//! ([`fathom_platform`]) with files and a page cache ([`fathom_fs`]). [`PROGRAMS`] lists the last.

mod config;
pub mod filebench;
pub mod fio;
mod layout;
mod overrides;
pub mod postmark;
mod processes;
mod slots;
mod stream;

pub use config::{Config, PROGRAMS};
pub use processes::Processes;
pub use stream::{Stream, closed_loop};
