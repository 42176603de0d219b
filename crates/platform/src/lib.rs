//! A machine that runs a program of file operations over a drive: threads, processors, a page cache, write-back and a
//! journal.
//!
//! A [`Mount`] is a file system of `fathom_fs` on a part of the drive; the machine is Linux 2.6.23 by default, as seen by the
//! drive:
//! - A read of a page that is not in memory waits for the drive; [`fathom_fs::cache::ReadAhead`] models read-ahead. A
//!   write makes pages dirty and does not wait, unless too many pages are dirty ([`System::dirty_percent`]).
//! - Creating, deleting, growing, writing and (with [`System::access_times`]) reading a file changes blocks of
//!   metadata. A metadata block that is not in memory is read first, unless it is new. A changed block is held until its
//!   transaction is committed.
//! - A transaction commits [`System::commit`] after its first change, or when it fills a quarter of the journal (for
//!   ReiserFS 900 blocks). A commit writes the data of the transaction and waits for it (all dirty data, or with delayed allocation what is being
//!   written), then the metadata blocks sequentially to the journal, then the commit record. The metadata is written to its
//!   place [`System::expire`] later. Operations wait for a full journal.
//! - Data that was dirty for [`System::expire`] is written, and above [`System::background_percent`] dirty pages all of it.
//!   The last actor issues all of these writes, with up to [`System::window`] requests in flight: files in the order in
//!   which they became dirty, pages by offset, one request for each contiguous run. With delayed allocation pages get their
//!   blocks here.
//! - A log-structured file system gives each page a new block when it is written. Its commit is a checkpoint: nodes and
//!   tables instead of a journal, with nothing left to do afterwards. Cleaning reads and writes with an actor of its own, and
//!   operations wait for it. `fsync` writes a checkpoint, too: roll-forward recovery is left out.
//! - [`Step::Sync`] and [`Step::SyncAll`] wait until a file or everything is on the drive.
//! - The dirty pages of a deleted file are dropped.
//! - When all threads have ended, everything is written, as by `sync`.
//!
//! Left out: the serial order of the reads within one operation (they are issued together), buffers for metadata beside the
//! cache, swapping, time slices (computing is first come, first served), `O_DIRECT` and mapped files. Programs open a file
//! for each write and close it afterwards.
//!
//! [`Host::unwritten`] returns the number of pages that are dirty or being written.
//!
//! Within the program everything is an event in one queue. So threads that wake each other do so at once, and every
//! actor that is asked has its answer ready. An actor waits until the next event of the whole machine.

mod cleaner;
mod commit;
mod computing;
mod counter;
mod flush;
mod flusher;
mod host;
mod journal;
mod layer;
mod machine;
pub mod measured;
mod metadata;
mod model;
mod mount;
mod moves;
mod processors;
mod settings;
mod step;
mod sync;
mod task;
mod thread;

pub use counter::Counter;
pub use host::Host;
pub use layer::{Layer, Phase};
pub use machine::{Benchmark, Machine, Script};
pub use model::{
    Adapter, Charged, Clocks, HostWork, Interface, Interrupts, PLATFORMS, Platform, Target,
};
pub use mount::Mount;
pub use processors::Processors;
pub use settings::System;
pub use step::{Failed, Step};
