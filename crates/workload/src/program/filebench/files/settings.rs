//! The settings of the web server and the file server.

use crate::generate::Range;
use crate::program::layout;
use crate::program::overrides::settings;
use fathom_base::{BadValue, Bytes, Dur, want};
use fathom_fs::FileSystem;
use fathom_platform::System;

settings! {
    /// The settings of a personality with a set of files, and of the machine that it runs on.
    FileSettings, FileOverrides {
        /// Number of files in the set (`nfiles`).
        files: u64,
        /// Percentage of the files that exist at the start (`prealloc`).
        preallocated_percent: f64,
        /// Mean length of the files (`meanfilesize`).
        mean_size: Bytes,
        /// Files per directory (`meandirwidth`).
        directory_width: u64,
        /// Number of threads (`nthreads`).
        threads: u64,
        /// Bytes per read call (`iosize`).
        io_size: Bytes,
        /// Appends have fewer bytes than this, uniformly distributed (`meanappendsize`).
        append_size: Bytes,
        /// Time after which threads end at their next operation.
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

/// Returns the settings that both workload files share.
pub(in super::super) fn defaults(threads: u64, preallocated_percent: f64) -> FileSettings {
    FileSettings {
        files: 1_000,
        preallocated_percent,
        mean_size: Bytes::kib(128),
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
    /// Validates each value that does not depend on the drive.
    pub(super) fn check(&self) -> Result<(), BadValue> {
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
        want(self.files < 1 << 30, "files", self.files, || {
            "must be below 2^30".into()
        })?;
        want(self.threads < 1 << 16, "threads", self.threads, || {
            "must be below 65536".into()
        })?;
        want(
            self.mean_size.0 < 1 << 40,
            "mean-size",
            self.mean_size,
            || "must be below 1TiB".into(),
        )?;
        want(
            (0.0..=100.0).contains(&self.preallocated_percent),
            "preallocated-percent",
            self.preallocated_percent,
            || "must be in 0..=100".into(),
        )?;
        layout::check_utilisation(self.utilisation_percent)
    }
}
