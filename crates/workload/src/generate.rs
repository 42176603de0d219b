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
mod pacing;
mod permutation;
mod places;
mod plain;
mod sizes;
mod stream;
mod zipf;

pub use config::Config;
pub use load::{Load, Pacing, Pattern, Range, Side};
pub use permutation::Permutation;
pub use sizes::{Size, Sizes};
pub use stream::Generator;
pub use zipf::Zipf;

use fathom_base::registry::{Key, Table, Text};
use fathom_base::{About, Kind, names};

/// Generators.
const GENERATOR: Kind = Kind {
    one: "generator",
    list: "workloads",
    summary: "Generators and programs",
    prefix: "generate:",
    option: "",
    text: Text::Prose,
};

/// What can be set of a generator.
const KEYS: &[Key] = match Config::KEYS {
    [_generator, keys @ ..] => keys,
    [] => &[],
};

/// A generator with its own numbers.
const fn generator(summary: &'static str, numbers: fn() -> Table, text: &'static str) -> About {
    About::new(summary).text(text).keys(KEYS).settings(numbers)
}

names! {
    /// A generator by its name.
    pub enum Name of GENERATOR in GENERATORS, pub fn load -> Load {
        Uniform = "uniform", plain::UNIFORM => plain::uniform();
        Sequential = "sequential", plain::SEQUENTIAL => plain::sequential();
        Zipf = "zipf", plain::ZIPF => plain::zipf();
        HotCold = "hot-cold", plain::HOT_COLD => plain::hot_cold();
        Pareto = "pareto", plain::PARETO => plain::pareto();
        IometerFileServer = "iometer-file-server", iometer::FILE_SERVER => iometer::file_server();
        Financial1Like = "financial1-like", likes::FINANCIAL1 => likes::financial1();
        Financial2Like = "financial2-like", likes::FINANCIAL2 => likes::financial2();
        TpccLike = "tpcc-like", likes::TPCC => likes::tpcc();
        WebSearchLike = "websearch-like", likes::WEBSEARCH => likes::websearch();
    }
}
