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
pub use load::{BadLoad, Load, Pacing, Pattern, Range, Side};
pub use permutation::Permutation;
pub use sizes::{Size, Sizes};
pub use stream::Generator;
pub use zipf::Zipf;

use serde::{Deserialize, Serialize};

/// A generator as it is listed and explained.
#[derive(Clone, Copy, Debug)]
pub struct GeneratorEntry {
    /// What it is called in a study file.
    pub name: &'static str,
    /// What it is, in one line.
    pub help: &'static str,
    /// What it does and where its numbers come from.
    pub explanation: &'static str,
}

/// No generator has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no generator `{0}`")]
pub struct UnknownGenerator(pub String);

macro_rules! generators {
    ($($variant:ident: $name:literal, $load:path, $help:literal, $explanation:expr;)*) => {
        /// A generator by its name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum Name {
            $(
                #[doc = $help]
                #[serde(rename = $name)]
                $variant,
            )*
        }

        impl std::str::FromStr for Name {
            type Err = UnknownGenerator;

            fn from_str(name: &str) -> Result<Self, UnknownGenerator> {
                let found = Name::ALL.iter().find(|n| n.entry().name == name);
                found.copied().ok_or_else(|| UnknownGenerator(name.to_owned()))
            }
        }

        impl Name {
            /// Every generator, in the order in which they are listed.
            pub const ALL: &[Name] = &[$(Name::$variant),*];

            /// What it is called and what it does.
            pub fn entry(self) -> &'static GeneratorEntry {
                &GENERATORS[self as usize]
            }

            /// Its numbers, where nothing else is said.
            pub fn load(self) -> Load {
                match self {
                    $(Name::$variant => $load(),)*
                }
            }
        }

        /// Every generator, in the order in which they are listed.
        pub const GENERATORS: &[GeneratorEntry] = &[
            $(GeneratorEntry { name: $name, help: $help, explanation: $explanation }),*
        ];
    };
}

generators! {
    Uniform: "uniform", plain::uniform, "uniformly random addresses", plain::UNIFORM;
    Sequential: "sequential", plain::sequential, "each access follows the one before, and wraps around", plain::SEQUENTIAL;
    Zipf: "zipf", plain::zipf, "Zipf-distributed addresses: a power law", plain::ZIPF;
    HotCold: "hot-cold", plain::hot_cold, "a hot share of the space and a cold rest", plain::HOT_COLD;
    Pareto: "pareto", plain::pareto, "self-similar: 20 % of the space takes 80 % of the accesses, recursively", plain::PARETO;
    IometerFileServer: "iometer-file-server", iometer::file_server, "Iometer's file server: small and large, mostly reads, all at random", iometer::FILE_SERVER_EXPLANATION;
    Financial1Like: "financial1-like", likes::financial1, "OLTP, write-dominant, like Financial1 in its published figures", likes::FINANCIAL1;
    Financial2Like: "financial2-like", likes::financial2, "OLTP, read-dominant, like Financial2 in its published figures", likes::FINANCIAL2;
    TpccLike: "tpcc-like", likes::tpcc, "TPC-C on a large array: random, mostly 8 KiB", likes::TPCC;
    WebSearchLike: "websearch-like", likes::websearch, "a search engine's reads, like WebSearch1 in its published figures", likes::WEBSEARCH;
}
