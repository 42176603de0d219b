//! A generator in a study file: its name, and what is different from its own numbers.

use super::name::NAMES;
use super::{Generator, Load, Name, Pacing, Pattern, Range, Sizes};
use fathom_base::registry::keyed;
use fathom_base::{BadValue, Bytes, Named, keys};

keys! {
    /// A generator and the settings to override; what is left out stays as the generator has it.
    #[serde(rename_all = "kebab-case", deny_unknown_fields)]
    pub struct Config {
        /// Which generator.
        pub generator: Name,
        /// How many accesses.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub accesses: Option<u64>,
        /// How many of a hundred are reads.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub read_percent: Option<f64>,
        /// Lengths of reads and writes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub sizes: Option<Sizes>,
        /// Lengths of reads, before `sizes`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub read_sizes: Option<Sizes>,
        /// Lengths of writes, before `sizes`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub write_sizes: Option<Sizes>,
        /// Where they may lie.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub range: Option<Range>,
        /// Starts are multiples of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub align: Option<Bytes>,
        /// Places of accesses that neither repeat nor go on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub pattern: Option<Pattern>,
        /// How many of a hundred, of reads and of writes, go on where a recent one of the same side ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub sequential_percent: Option<f64>,
        /// How many of a hundred, of reads and of writes, start where a recent access started.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub repeat_percent: Option<f64>,
        /// How far back the access may lie behind which one goes on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub run_depth: Option<u32>,
        /// How far back a repeated start may lie.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub repeat_depth: Option<u32>,
        /// When.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub pacing: Option<Pacing>,
    }
}

/// Every generator, in the order in which they are listed.
pub const GENERATORS: &[Named] = &keyed::<{ NAMES.len() }>(NAMES, Config::KEYS, None);

fn set<T: Clone>(to: &mut T, from: &Option<T>) {
    if let Some(from) = from {
        to.clone_from(from);
    }
}

impl Config {
    /// A generator with its own numbers.
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

    /// Every number, those of the generator and those that are overridden: what belongs into a run's record.
    ///
    /// # Errors
    /// The first key whose value cannot be.
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

    /// The generator, from the first access.
    ///
    /// # Errors
    /// The first key whose value cannot be.
    pub fn generator(&self, seed: u64) -> Result<Generator, BadValue> {
        Generator::new(&self.load()?, seed)
    }
}
