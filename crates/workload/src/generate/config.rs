//! The configuration of a generator in a study file: its name and the parameters to override.

use super::name::NAMES;
use super::{Generator, Load, Name, Pacing, Pattern, Range, Sizes};
use fathom_base::registry::keyed;
use fathom_base::{BadValue, Bytes, Named, keys};

keys! {
    /// A generator with the parameters to override. Omitted parameters keep the generator's values.
    #[serde(rename_all = "kebab-case", deny_unknown_fields)]
    pub struct Config {
        /// The generator.
        pub generator: Name,
        /// Number of accesses.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub accesses: Option<u64>,
        /// Percentage of reads.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub read_percent: Option<f64>,
        /// Lengths of reads and writes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub sizes: Option<Sizes>,
        /// Lengths of reads; takes precedence over `sizes`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub read_sizes: Option<Sizes>,
        /// Lengths of writes; takes precedence over `sizes`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub write_sizes: Option<Sizes>,
        /// The address range of all accesses.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub range: Option<Range>,
        /// Offsets are multiples of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub align: Option<Bytes>,
        /// Distribution of the offsets of accesses that neither repeat nor continue a recent one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub pattern: Option<Pattern>,
        /// Percentage of reads, and of writes, that continue where a recent access of the same operation ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub sequential_percent: Option<f64>,
        /// Percentage of reads, and of writes, that start where a recent access started.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub repeat_percent: Option<f64>,
        /// Number of recent accesses of the same operation that an access may continue.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub run_depth: Option<u32>,
        /// Number of recent accesses whose start may be repeated.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub repeat_depth: Option<u32>,
        /// The times of the accesses.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub pacing: Option<Pacing>,
    }
}

/// All generators, in the order in which they are listed.
pub const GENERATORS: &[Named] = &keyed::<{ NAMES.len() }>(NAMES, Config::KEYS, None);

fn set<T: Clone>(to: &mut T, from: &Option<T>) {
    if let Some(from) = from {
        to.clone_from(from);
    }
}

impl Config {
    /// Makes a configuration without overrides.
    pub fn of(generator: Name) -> Self {
        Self {
            generator,
            accesses: None,
            read_percent: None,
            sizes: None,
            read_sizes: None,
            write_sizes: None,
            range: None,
            align: None,
            pattern: None,
            sequential_percent: None,
            repeat_percent: None,
            run_depth: None,
            repeat_depth: None,
            pacing: None,
        }
    }

    /// Returns all parameters after the overrides, as a run's record stores them.
    ///
    /// # Errors
    /// The first key with an invalid value.
    pub fn load(&self) -> Result<Load, BadValue> {
        let mut load = self.generator.load();
        set(&mut load.accesses, &self.accesses);
        set(&mut load.read_percent, &self.read_percent);
        let sides = [
            (&mut load.reads, &self.read_sizes),
            (&mut load.writes, &self.write_sizes),
        ];
        for (side, own_sizes) in sides {
            set(&mut side.sizes, &self.sizes);
            set(&mut side.sizes, own_sizes);
            set(&mut side.sequential_percent, &self.sequential_percent);
            set(&mut side.repeat_percent, &self.repeat_percent);
        }
        set(&mut load.range, &self.range);
        set(&mut load.align, &self.align);
        set(&mut load.pattern, &self.pattern);
        set(&mut load.run_depth, &self.run_depth);
        set(&mut load.repeat_depth, &self.repeat_depth);
        set(&mut load.pacing, &self.pacing);
        load.check()?;
        Ok(load)
    }

    /// Makes the generator, at its first access.
    ///
    /// # Errors
    /// The first key with an invalid value.
    pub fn generator(&self, seed: u64) -> Result<Generator, BadValue> {
        Generator::new(&self.load()?, seed)
    }
}
