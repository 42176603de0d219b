//! Generators: synthetic workloads made from a few parameters and a seed.
//!
//! A generator's output depends only on `(load, seed)`. It produces one access at a time in constant memory, and draws
//! all random numbers from [`fathom_base::Rng`]. Operation, length, offset and time have separate random streams: two loads
//! that differ in one of these agree in the others under the same seed.
//!
//! [`GENERATORS`] lists the generators. All of them are the same machine ([`Load`]) with different parameters: a mix of
//! reads and writes with given lengths. Each access repeats a recent start, continues where a recent access ended, or goes
//! to an offset drawn from a pattern. A pacing gives the times.
//!
//! The `...-like` generators use figures that were published about a trace, or measured on a freely usable part of it. They
//! resemble the trace in these figures only, so a result must not be reported under the trace's name.
//!
//! Generators do not know the drive and do not limit the requests in flight. [`Pacing::Closed`] means that times do not
//! matter; [`crate::step::Arrival`] sets the queue depth.

mod config;
mod iometer;
mod likes;
mod load;
mod name;
mod pacing;
mod permutation;
mod places;
mod plain;
mod sizes;
mod stream;
mod zipf;

pub use config::{Config, GENERATORS};
pub use load::{Load, Pacing, Pattern, Range, Side};
pub use name::Name;
pub use permutation::Permutation;
pub(crate) use places::Ranks;
pub use sizes::{Size, Sizes};
pub use stream::Generator;
pub use zipf::Zipf;
