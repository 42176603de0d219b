//! A workload in filebench's language that the user writes.

use super::engine::{Build, Filebench, Limits};
use super::language::Model;
use crate::generate::Range;
use crate::program::layout;
use crate::program::overrides::settings;
use fathom_base::{BadValue, Bytes, Dur, want};
use fathom_fs::FileSystem;
use fathom_platform::{Machine, System};

settings! {
    /// A text in filebench's language, and the machine that it runs on.
    ModelSettings, ModelOverrides {
        /// The text (docs/filebench.md).
        model: String,
        /// Time after which threads end at their next operation; that of `run` if omitted.
        duration: Option<Dur>,
        /// Number of operations after which threads end, if that is earlier.
        operations: Option<u64>,
        /// Writes of a thread by `aiowrite` in flight. The C library has one thread for each open file, 20 at most.
        writes_in_flight: u32,
        /// Whether all processes draw the same numbers, as those of filebench 1.5 do; earlier ones do not.
        same_draws: bool,
        /// Utilisation of the drive before the files are laid out, in percent; 0 is an empty drive.
        utilisation_percent: f64,
        /// Mean length of the files that fill the drive.
        fill_size: Bytes,
        /// The part of the drive that the file system uses; the whole drive if omitted.
        range: Option<Range>,
        /// The file system.
        file_system: FileSystem,
        /// The machine.
        system: System,
    }
}

/// Readers of a database: an example.
pub fn example() -> ModelSettings {
    ModelSettings {
        model: include_str!("personalities/example.f").into(),
        duration: None,
        operations: None,
        writes_in_flight: 20,
        same_draws: true,
        utilisation_percent: 0.0,
        fill_size: Bytes::kib(128),
        range: None,
        file_system: FileSystem::default(),
        system: System::default(),
    }
}

impl ModelSettings {
    /// The time of a run; `None` if the text has an error and no duration is set.
    pub(in super::super) fn length(&self) -> Option<Dur> {
        let of_text = || Model::parse(self.model.as_bytes()).and_then(|model| model.workload());
        self.duration.or_else(|| Some(of_text().ok()?.duration))
    }

    /// Makes the threads for a drive of `capacity` bytes, ready to start.
    ///
    /// # Errors
    /// The first key whose value is invalid or does not fit the drive; an error in the text has its line.
    pub fn build(&self, capacity: u64, seed: u64) -> Result<Machine<Filebench>, BadValue> {
        self.system.check()?;
        layout::check_positive(&[
            (u64::from(self.writes_in_flight), "writes-in-flight"),
            (self.fill_size.0, "fill-size"),
            (self.duration.unwrap_or(Dur::ms(1)).0, "duration"),
        ])?;
        want(
            self.fill_size.0 < 1 << 40,
            "fill-size",
            self.fill_size,
            || "must be below 1TiB".into(),
        )?;
        layout::check_utilisation(self.utilisation_percent)?;
        let workload = Model::parse(self.model.as_bytes()).and_then(|model| model.workload());
        let mut workload =
            workload.map_err(|error| BadValue::new("model", "", error.to_string()))?;
        workload.duration = self.duration.unwrap_or(workload.duration);
        let build = Build {
            limits: Limits {
                operations: self.operations,
                accesses: None,
                writes_in_flight: self.writes_in_flight,
            },
            same_draws: self.same_draws,
            utilisation_percent: self.utilisation_percent,
            around: self.fill_size,
            range: self.range,
            file_system: &self.file_system,
            system: &self.system,
        };
        build.machine(workload, capacity, seed)
    }
}
