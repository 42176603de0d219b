//! The block layer above a drive: it merges, splits and plugs requests, and a scheduler decides which request goes
//! next.
//!
//! A [`BlockQueue`] is a device that wraps another device, so it works over a model and over a real drive. A
//! [`Scheduler`] is a state machine without I/O and without a clock: it takes requests and the time, and returns
//! decisions.
//!
//! This crate knows nothing about the internals of a drive. The drive's sizes that a splitter or a scheduler needs are
//! numbers in its configuration; a profile can supply them. There is no page cache above the queue, and the host's
//! processor time is not modelled.
//!
//! A custom scheduler is either a function in a [`Pick`] or an implementation of [`Scheduler`] that orders [`Io`]s
//! ([`Io::end`], [`Io::is_write`]). [`check`] tests whether it keeps the rules.
//!
//! ```
//! use fathom_base::Dur;
//! use fathom_block::{DeviceInfo, NullDevice};
//! use fathom_iosched::{BlockQueue, Pick, QueueConfig};
//!
//! // The shortest request goes first, and of several the oldest.
//! let shortest = Pick::new(|_, held| held.iter().min_by_key(|io| io.len).copied());
//! let drive = NullDevice::new(DeviceInfo::default(), Dur::us(20));
//! let queue = BlockQueue::with_scheduler(drive, QueueConfig::default(), Box::new(shortest))?;
//! # Ok::<(), fathom_base::BadValue>(())
//! ```

pub mod check;
mod config;
mod io;
mod pick;
mod priority;
pub mod queue;
pub mod sched;
mod scheduler;
pub mod split;

pub use config::{Config, SCHEDULERS};
pub use io::{Io, IoKey};
pub use pick::Pick;
pub use priority::{Class, Priority};
pub use queue::{BlockQueue, Bundled, Dispatched, Plug, QueueConfig, QueueStats};
pub use scheduler::{Era, Merging, Scheduler};
pub use split::{SPLITS, Split};
