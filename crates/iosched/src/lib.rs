//! The block layer above a drive: requests are merged, split and plugged, and a scheduler says which goes next.
//!
//! A [`BlockQueue`] is a device that wraps a device, so that it stands over a model and over a real drive alike. A
//! [`Scheduler`] is a state machine without I/O and without a clock: requests and the time come in, decisions go out.
//!
//! Nothing here knows what a drive hides. What a splitter or a scheduler needs to know of it is a number in its
//! configuration, which a profile can supply. There is no page cache above, and no time is charged for the host's
//! processor.
//!
//! A scheduler of one's own implements [`Scheduler`] and orders [`Io`]s ([`Io::end`], [`Io::is_write`]); [`check`] says whether
//! it keeps the rules.

pub mod check;
mod config;
mod io;
mod priority;
pub mod queue;
pub mod sched;
mod scheduler;
pub mod split;

pub use config::{Config, SCHEDULERS};
pub use io::{Io, IoKey};
pub use priority::{Class, Priority};
pub use queue::{BlockQueue, Bundled, Dispatched, Plug, QueueConfig, QueueStats};
pub use scheduler::{Era, Merging, Scheduler};
pub use split::{SPLITS, Split};
