//! The web, file and mail server: personalities with a set of files, and their settings.

use super::engine::{Build, Filebench, Limits};
use super::language::{Distribution, Model, ModelError, Shape, Value};
use crate::generate::Range;
use crate::program::layout;
use crate::program::overrides::settings;
use fathom_base::{BadValue, Bytes, Dur, want};
use fathom_fs::FileSystem;
use fathom_platform::{Machine, System};

/// The shape of the file lengths.
const SHAPE: f64 = 1.5;

settings! {
    /// The settings of a personality with a set of files, and of the machine that it runs on.
    FileSettings, FileOverrides {
        /// Number of files in the set (`nfiles`).
        files: u64,
        /// Percentage of the files that exist at the start (`prealloc`).
        preallocated_percent: f64,
        /// Mean length of the files (`filesize`).
        mean_size: Bytes,
        /// Files per directory (`meandirwidth`).
        directory_width: u64,
        /// Number of threads (`nthreads`).
        threads: u64,
        /// Bytes per read call, and per write call of a whole file (`iosize`).
        io_size: Bytes,
        /// Appends have fewer bytes than this, uniformly distributed (`meanappendsize`).
        append_size: Bytes,
        /// Time after which threads end at their next operation (`run`).
        duration: Dur,
        /// Number of operations after which threads end, if that is earlier.
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

/// A personality with a set of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    /// Reads whole files and appends to a log.
    Web,
    /// Creates, writes, appends to, reads, deletes and stats files.
    File,
    /// Deletes, creates, appends to and reads small files, and syncs what it writes.
    Mail,
}

impl Server {
    /// The personality in filebench's language.
    fn text(self) -> &'static str {
        match self {
            Self::Web => include_str!("personalities/webserver.f"),
            Self::File => include_str!("personalities/fileserver.f"),
            Self::Mail => include_str!("personalities/varmail.f"),
        }
    }
}

/// Returns the settings that the personalities share.
pub(super) fn defaults(threads: u64, preallocated_percent: f64) -> FileSettings {
    FileSettings {
        files: 1_000,
        preallocated_percent,
        mean_size: Bytes::kib(16),
        directory_width: 20,
        threads,
        io_size: Bytes::mib(1),
        append_size: Bytes::kib(16),
        duration: Dur::ms(60_000),
        operations: None,
        utilisation_percent: 0.0,
        range: None,
        file_system: FileSystem::default(),
        system: System::default(),
    }
}

impl FileSettings {
    /// Makes the server for a drive of `capacity` bytes, ready to start.
    ///
    /// # Errors
    /// The first key whose value is invalid or does not fit the drive.
    pub fn build(
        &self,
        server: Server,
        capacity: u64,
        seed: u64,
    ) -> Result<Machine<Filebench>, BadValue> {
        self.check()?;
        let mut workload = self.model(server).and_then(|model| model.workload());
        if let Ok(workload) = &mut workload {
            workload.duration = self.duration;
            if let Some(set) = workload.file_sets.first_mut() {
                set.preallocated_percent = self.preallocated_percent;
            }
        }
        let workload = workload.map_err(|error| BadValue::new("program", "", error.to_string()))?;
        let build = Build {
            limits: Limits {
                operations: self.operations,
                writes_in_flight: 1,
                ..Limits::default()
            },
            // There is a single process.
            same_draws: false,
            utilisation_percent: self.utilisation_percent,
            around: self.mean_size,
            range: self.range,
            file_system: &self.file_system,
            system: &self.system,
        };
        build.machine(workload, capacity, seed)
    }

    fn model(&self, server: Server) -> Result<Model, ModelError> {
        let mut model = Model::parse(server.text().as_bytes())?;
        let size = Distribution {
            shape: Shape::Gamma {
                mean: self.mean_size.0 as f64,
                gamma: SHAPE,
            },
            min: 1,
            max: u64::MAX,
            round: 0,
        };
        let mut set = |name, value| model.set(name, value);
        set("filesize", Value::Random(size))?;
        set("nfiles", Value::Number(self.files))?;
        set("meandirwidth", Value::Number(self.directory_width))?;
        set("nthreads", Value::Number(self.threads))?;
        set("iosize", Value::Number(self.io_size.0))?;
        set("meanappendsize", Value::Number(self.append_size.0))?;
        Ok(model)
    }

    /// Validates each value that does not depend on the drive.
    fn check(&self) -> Result<(), BadValue> {
        self.system.check()?;
        layout::check_positive(&[
            (self.files, "files"),
            (self.mean_size.0, "mean-size"),
            (self.directory_width, "directory-width"),
            (self.threads, "threads"),
            (self.io_size.0, "io-size"),
            (self.append_size.0, "append-size"),
            (self.duration.0, "duration"),
        ])?;
        want(self.files < 1 << 24, "files", self.files, || {
            "must be below 2^24".into()
        })?;
        want(self.threads < 1 << 16, "threads", self.threads, || {
            "must be below 65536".into()
        })?;
        let too_long = || "must be below 1TiB".into();
        let sizes = [
            (self.mean_size.0, "mean-size"),
            (self.io_size.0, "io-size"),
            (self.append_size.0, "append-size"),
            (self.directory_width, "directory-width"),
        ];
        for (value, key) in sizes {
            want(value < 1 << 40, key, value, too_long)?;
        }
        want(
            (0.0..=100.0).contains(&self.preallocated_percent),
            "preallocated-percent",
            self.preallocated_percent,
            || "must be in 0..=100".into(),
        )?;
        layout::check_utilisation(self.utilisation_percent)
    }
}

#[cfg(test)]
mod tests {
    use super::super::language::Amount;
    use super::*;

    #[test]
    fn the_personalities_have_filebenchs_own_numbers() {
        for (server, files, mean, threads, flowops) in [
            (Server::Web, 1_000, 16_384.0, 100, 31),
            (Server::File, 10_000, 131_072.0, 50, 11),
            (Server::Mail, 1_000, 16_384.0, 16, 13),
        ] {
            let workload = Model::parse(server.text().as_bytes())
                .unwrap()
                .workload()
                .unwrap();
            let (set, of) = (&workload.file_sets[0], &workload.threads[0]);
            assert_eq!(
                (set.entries, of.instances, of.flowops.len()),
                (files, threads, flowops)
            );
            let Amount::Random(size) = set.size else {
                panic!("{set:?}")
            };
            assert_eq!(size.shape, Shape::Gamma { mean, gamma: 1.5 });
        }
    }
}
