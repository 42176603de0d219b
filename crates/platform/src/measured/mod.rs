//! What the events of a kernel say of where the time of an I/O, and of the processors, goes.
//!
//! [`latencies`] splits the time of single I/Os, as their caller saw it, into phases; [`clocks()`] splits the time of the
//! processors into layers; [`TracingCost`] is what the tracing itself adds. All of it is a function of the records: nothing
//! here reads a clock or a file.
//!
//! Two rules hold in both. Every part lies between two events, so the parts are never negative and their sum is the whole.
//! And what the events do not say is not guessed: an I/O that cannot be told is rejected with its reason
//! ([`Rejection`]), the time of a processor that cannot be told is unattributed, and a layer or phase that no event bounds is
//! `None`. It is then part of another one:
//!
//! - [`Layer::Protocol`](crate::Layer) and the doorbell are in `Driver`; `UncachedReads` are in `Interrupt`.
//! - The instructions before the event of a system call and after the one of its end are in `Application` (as a phase, in
//!   `Entry` and `Return`).
//! - The scheduler's work before the event of a switch is in the layer that led to it; what follows the switch, up to the
//!   thread's next event, is in `ContextSwitch`.
//! - The copy of a buffered read is in `Copy` with the return from the system call. In kernels without
//!   `mm_filemap_get_pages` it is in `ContextSwitch`, or in `Completion` if the caller did not sleep.
//! - With libaio, which submits several requests at once without an event for each, the file system's part of all but the
//!   first is in `Block`. io_uring has an event for each.
//! - What the driver does with the last request of a batch is in `Polling` if the thread polls after it.
//! - `Adapter` and `Transfer` are in `Device`.

mod clocks;
mod cost;
mod doing;
mod interrupts;
mod latency;
mod rejection;
mod route;
mod seen;
mod spent;
mod threads;
mod timeline;

pub use clocks::clocks;
pub use cost::{Part, TracingCost};
pub use latency::{Latencies, Parts, latencies};
pub use rejection::Rejection;
pub use route::{Io, Route};
pub use spent::{Clocks, CpuTime, Load};
