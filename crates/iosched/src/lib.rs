//! The block layer above a drive: requests are merged, split and plugged, and a scheduler says which goes next.
//!
//! A [`BlockQueue`] is a device that wraps a device, so that it stands over a model and over a real drive alike. A
//! [`Scheduler`] is a state machine without I/O and without a clock: requests and the time come in, decisions go out.
//!
//! Nothing here knows what a drive hides. What a splitter or a scheduler needs to know of it is a number in its
//! configuration, which a profile can supply. There is no page cache above, and no time is charged for the host's
//! processor.
//!
//! A scheduler of one's own is a function in a [`Pick`], or implements [`Scheduler`], which orders [`Io`]s ([`Io::end`],
//! [`Io::is_write`]); [`check`] says whether it keeps the rules.
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
