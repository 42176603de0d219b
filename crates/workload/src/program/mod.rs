//! Programs: streams and closed loops of accesses, fio jobs, and file benchmarks. A file benchmark is a script on a
//! machine ([`fathom_platform`]) with files and a page cache ([`fathom_fs`]). [`PROGRAMS`] lists the file benchmarks.

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
