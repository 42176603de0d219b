//! Transaction processing: readers, writers and a log writer, which semaphores keep in step; and its settings.

use super::engine::{Build, Filebench, Limits};
use super::language::{Model, ModelError, Value};
use crate::generate::Range;
use crate::program::layout;
use crate::program::overrides::settings;
use fathom_base::{BadValue, Bytes, Dur, want};
use fathom_fs::FileSystem;
use fathom_platform::{Machine, System};

/// The personality in filebench's language.
const TEXT: &str = include_str!("personalities/oltp.f");

settings! {
    /// The settings of transaction processing, and of the machine that it runs on.
    OltpSettings, OltpOverrides {
        /// Number of data files (`nfiles`).
        files: u64,
        /// Length of each data file (`filesize`).
        file_size: Bytes,
        /// Length of the log (`logfilesize`).
        log_size: Bytes,
        /// Number of processes that read (`nshadows`).
        shadows: u64,
        /// Number of processes that write (`ndbwriters`).
        writers: u64,
        /// Bytes per read and write of data (`iosize`).
        io_size: Bytes,
        /// Bytes per write of the log.
        log_io_size: Bytes,
        /// Writes per batch of a writer (`iters`).
        batch: u64,
        /// Writes in flight per writer. The default is one per file, because the C library serves an open file with one
        /// thread; this is an assumption.
        writes_in_flight: u32,
        /// Whether all processes draw the same numbers, as those of filebench 1.5 do: each writer then writes the same
        /// pages. Earlier ones, such as those of `parameter-aware-io`, do not.
        same_draws: bool,
        /// CPU time of a reader after each read (`usermode=200000`). Assumes 1 ns per loop.
        shadow_time: Dur,
        /// CPU time of a writer after each batch (10,000 loops). Assumes 1 ns per loop.
        writer_time: Dur,
        /// Time after which all processes end at their next operation.
        duration: Dur,
        /// Number of reads and writes after which the processes end, if that is earlier.
        operations: Option<u64>,
        /// Utilisation of the drive before the files are laid out, in percent; 0 is an empty drive.
        utilisation_percent: f64,
        /// The part of the drive that the file system uses; the whole drive if omitted.
        range: Option<Range>,
        /// The file system.
        file_system: FileSystem,
        /// The machine.
        system: System,
    }
}

impl OltpSettings {
    /// Makes the processes for a drive of `capacity` bytes, ready to start.
    ///
    /// # Errors
    /// The first key whose value is invalid or does not fit the drive.
    pub fn build(&self, capacity: u64, seed: u64) -> Result<Machine<Filebench>, BadValue> {
        self.check()?;
        let workload = self.model().and_then(|model| model.workload());
        let mut workload =
            workload.map_err(|error| BadValue::new("program", "", error.to_string()))?;
        workload.duration = self.duration;
        let build = Build {
            limits: Limits {
                operations: None,
                accesses: self.operations,
                writes_in_flight: self.writes_in_flight,
            },
            same_draws: self.same_draws,
            utilisation_percent: self.utilisation_percent,
            around: self.file_size,
            range: self.range,
            file_system: &self.file_system,
            system: &self.system,
        };
        build.machine(workload, capacity, seed)
    }

    fn model(&self) -> Result<Model, ModelError> {
        let mut model = Model::parse(TEXT.as_bytes())?;
        for (name, value) in [
            ("nfiles", self.files),
            ("filesize", self.file_size.0),
            ("logfilesize", self.log_size.0),
            ("nshadows", self.shadows),
            ("ndbwriters", self.writers),
            ("iosize", self.io_size.0),
            ("logiosize", self.log_io_size.0),
            ("batch", self.batch),
            // A loop takes a nanosecond.
            ("usermode", self.shadow_time.0),
            ("writermode", self.writer_time.0),
        ] {
            model.set(name, Value::Number(value))?;
        }
        Ok(model)
    }

    fn check(&self) -> Result<(), BadValue> {
        self.system.check()?;
        layout::check_positive(&[
            (self.files, "files"),
            (self.shadows, "shadows"),
            (self.writers, "writers"),
            (self.io_size.0, "io-size"),
            (self.log_io_size.0, "log-io-size"),
            (self.batch, "batch"),
            (u64::from(self.writes_in_flight), "writes-in-flight"),
            (self.duration.0, "duration"),
        ])?;
        for (value, key) in [
            (self.files, "files"),
            (self.shadows, "shadows"),
            (self.writers, "writers"),
        ] {
            want(value < 1 << 15, key, value, || "must be below 32768".into())?;
        }
        want(
            self.file_size.0 >= self.io_size.0 && self.file_size.0 < 1 << 42,
            "file-size",
            self.file_size,
            || "must be at least `io-size` and below 4TiB".into(),
        )?;
        want(
            self.log_size.0 >= self.log_io_size.0 && self.log_size.0 < 1 << 42,
            "log-size",
            self.log_size,
            || "must be at least `log-io-size` and below 4TiB".into(),
        )?;
        for (value, key) in [
            (self.shadow_time, "shadow-time"),
            (self.writer_time, "writer-time"),
        ] {
            want(value.0 < 1 << 40, key, value, || {
                "must be below 18 minutes".into()
            })?;
        }
        want(self.batch < 1 << 40, "batch", self.batch, || {
            "must be below 2^40".into()
        })?;
        layout::check_utilisation(self.utilisation_percent)
    }
}
