//! Loads a drive or file with random reads and measures what they cost the caller: time, processor time, context switches.
//!
//! [`run()`] starts the threads of a [`LoadConfig`]. Each thread reads blocks of one size at random places of one target, by
//! one [`Engine`], and reports a [`ThreadLoad`]. [`ClockFacts`] has the facts about the processor's clock that convert
//! clocks and time.
//!
//! Every target is opened read-only. The only effect outside of this process is on the page cache: [`Caching::Miss`] drops
//! the target's pages from it, and [`Caching::Hit`] reads the target into it.
//!
//! It does not look into the kernel: the costs by layer come from the kernel's trace events.

mod aio;
mod config;
mod cpus;
mod facts;
mod helper;
mod latency;
mod offsets;
mod pass;
mod queue;
mod report;
mod run;
mod seen;
mod sync;
mod target;
mod ticks;
mod uring;
mod usage;
mod worker;

pub use config::{Caching, Engine, LoadConfig, StampClock};
pub use cpus::{CpuTimes, CpuWatch};
pub use facts::ClockFacts;
pub use helper::KernelThread;
pub use latency::Latency;
pub use report::{LoadReport, ThreadLoad};
pub use run::run;
pub use seen::Stamp;
pub use usage::Usage;
