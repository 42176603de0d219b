//! The settings of the web server and the file server.

use crate::generate::Range;
use crate::program::overrides::settings;
use fathom_base::{BadValue, Bytes, Dur, want};
use fathom_platform::System;

settings! {
    /// A personality with a set of files, and what it runs on.
    FileSettings, FileOverrides {
        /// Files of the set (`nfiles`).
        files: u64,
        /// How many of a hundred are there at the start (`prealloc`).
        preallocated_percent: f64,
        /// Their mean length (`meanfilesize`).
        mean_size: Bytes,
        /// Files in a directory (`meandirwidth`).
        directory_width: u64,
        /// Threads (`nthreads`).
        threads: u64,
        /// Bytes of a call that reads (`iosize`).
        io_size: Bytes,
        /// An append has less than so many bytes, all lengths as likely (`meanappendsize`).
        append_size: Bytes,
        /// After which time threads end at their next operation.
        duration: Dur,
        /// After how many operations they end, if before.
        operations: Option<u64>,
        /// How much of the drive is used before its files are laid out, in percent; 0 is nothing.
        utilisation_percent: f64,
        /// Which part of the drive the file system has; all where left out.
        range: Option<Range>,
        /// The machine.
        system: System,
    }
}

/// What the workload files of both have in common.
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
        system: System::default(),
    }
}

impl FileSettings {
    /// Whether each value can be, whatever the drive.
    pub(super) fn check(&self) -> Result<(), BadValue> {
        self.system.check()?;
        let positive = [
            (self.files, "files"),
            (self.mean_size.0, "mean-size"),
            (self.directory_width, "directory-width"),
            (self.threads, "threads"),
            (self.io_size.0, "io-size"),
            (self.append_size.0, "append-size"),
            (self.duration.0, "duration"),
        ];
        for (value, key) in positive {
            want(value > 0, key, 0, || "must be above zero".into())?;
        }
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
        want(
            (0.0..100.0).contains(&self.utilisation_percent),
            "utilisation-percent",
            self.utilisation_percent,
            || "must be at least 0 and below 100".into(),
        )
    }
}
