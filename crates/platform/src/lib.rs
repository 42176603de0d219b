//! A machine that runs a program of files over a drive: threads, processors, a page cache, write-back and a journal.
//!
//! What ext3 in ordered mode and Linux 2.6.23 do in outline, as a drive below sees it:
//! - A read of a page that is not in memory waits for the drive; reading ahead is [`fathom_fs::cache::ReadAhead`]. A write makes pages
//!   dirty and goes on, unless too many are ([`System::dirty_percent`]).
//! - Creating, deleting, growing, writing and (with [`System::access_times`]) reading a file change blocks of metadata.
//!   A block that is not in memory is read first. A changed block is held until its transaction is committed.
//! - A transaction commits so long after its first change ([`System::commit`]), or when it fills a quarter of the
//!   journal: all dirty data is written and waited for, then the blocks of metadata go to the journal one behind the
//!   other, then the commit record behind them. Nobody waits for a commit. The metadata goes to its places
//!   [`System::expire`] later.
//! - Above [`System::background_percent`] dirty pages are written in the background. One actor, the last one, does all
//!   of this, with so many requests in flight ([`System::window`]): files in the order in which they became dirty,
//!   pages by offset, one request for what lies in one piece.
//! - A dirty page whose file is deleted is dropped.
//! - When all threads have ended everything is written, as by `sync`.
//!
//! Left out: reading the blocks of one operation one after the other (they are asked for together), waiting for a
//! journal that is full, buffers for the metadata beside the cache, swapping, time slices (computing is first come,
//! first served), `O_DIRECT` and mapped files.
//!
//! While it runs, [`Host::unwritten`] tells how many pages are dirty or being written.
//!
//! Within the program everything is an event in one queue, so that threads that wake each other do so at once and every
//! actor, when asked, has its answer ready. An actor waits until the next event of the whole machine.

mod counter;
mod flush;
mod flusher;
mod host;
mod journal;
mod machine;
mod metadata;
mod settings;
mod step;
mod task;
mod thread;

pub use counter::Counter;
pub use host::Host;
pub use machine::{Benchmark, Machine, Script};
pub use settings::System;
pub use step::{Failed, Step};
