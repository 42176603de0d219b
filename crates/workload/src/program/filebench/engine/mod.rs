//! Runs a workload of filebench's language on a machine.
//!
//! The behaviour is that of filebench 1.5-alpha3 (`flowop_library.c`, `fileset.c`, `fb_localfs.c`, `eventgen.c`):
//!
//! - Files are taken in rotation over those that exist, or over those that do not, one rotation for a set. With `opennext`
//!   a thread has a rotation of its own, and 128 descriptors that it uses in turn.
//! - Files that exist at the start are placed in random order.
//! - A file that is open elsewhere is not deleted. Where an operation finds no file, the run or the thread ends.
//! - An offset at random is a multiple of the call; the last one that fits is never drawn.
//! - `writewholefile` writes calls of full length, so a file that is longer than one becomes a multiple of it.
//! - `semblock` allows as many posts as it waits for, beyond `highwater`; `sempost` with `blocking` waits until it is
//!   allowed.
//!
//! Different from filebench: directories are not nested, `aiowait` waits (filebench on Linux only looks), `dsync` is
//! `O_DSYNC` without barriers (filebench: `O_SYNC`), a write behind the end of a file begins at its end, and semaphores and
//! limits take no time.

mod events;
mod files;
mod flowops;
mod limits;
mod locks;
mod rngs;
mod script;
mod semaphore;
mod state;
mod thread;

pub use state::Filebench;
pub(super) use state::{Build, Limits};
