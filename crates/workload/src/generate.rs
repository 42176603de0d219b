//! Generators: workloads made from a few numbers and a seed, for where no trace is at hand or none is wanted.
//!
//! A generator is a function of `(load, seed)`, gives one access after the other in constant memory, and draws
//! from [`fathom_base::Rng`] alone. What it draws for (operation, length, place, time) comes from separate
//! streams, so that two loads that differ in one of them agree in the others under one seed.
//!
//! [`GENERATORS`] lists them. All are one machine ([`Load`]) with other numbers: a mix of reads and writes, with
//! lengths, each of which repeats a recent start, goes on where a recent access ended, or goes to a place drawn
//! from a pattern; at times of a pacing. The `...-like` ones carry figures that were published about a trace, or
//! measured on the part of it that is free to use. They are like the trace in those figures and in nothing else,
//! and a result on one never says the trace's name.
//!
//! Nothing here knows a drive or decides how many accesses are in flight: [`Pacing::Closed`] says that times do
//! not matter, and [`crate::step::Arrival`] how many may be outstanding.

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
pub use sizes::{Size, Sizes};
pub use stream::Generator;
pub use zipf::Zipf;
