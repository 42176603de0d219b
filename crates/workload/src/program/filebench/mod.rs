//! Filebench: workloads in its own language, and four of its personalities.
//!
//! [`language`] reads a subset of filebench's workload model language (docs/filebench.md), and the engine beside it runs
//! what was read. The web server, file server, transaction processing and mail server are texts in that language
//! (`personalities/*.f`) with the numbers of filebench's own; settings change their variables.
//!
//! `parameter-aware-io` 6.3 gives "filebench (version 1.64 and 1.48)", numbers of files, mean lengths and threads, and
//! "configurations with relatively large request sizes" without a size (`io-size`). It does not say how long filebench ran.
//! Its numbers are the defaults of the first three; what it does not give has filebench's.
//!
//! The files exist before the run, and none of their data is in memory. A run ends after a time or a number of
//! operations; then all dirty data is written.

mod engine;
pub mod language;
mod oltp;
mod own;
mod servers;

pub use engine::Filebench;
pub use oltp::{OltpOverrides, OltpSettings};
pub use own::{ModelOverrides, ModelSettings, example};
pub use servers::{FileOverrides, FileSettings, Server};

use fathom_base::About;
use fathom_base::registry::table_of;
use fathom_base::{Bytes, Dur};
use fathom_fs::FileSystem;

/// The web server of `parameter-aware-io` 6.3.
pub fn webserver() -> FileSettings {
    FileSettings {
        files: 1_000,
        mean_size: Bytes::mib(16),
        ..servers::defaults(16, 100.0)
    }
}

/// The file server of `parameter-aware-io` 6.3.
pub fn fileserver() -> FileSettings {
    FileSettings {
        files: 10_000,
        mean_size: Bytes::mib(1),
        ..servers::defaults(50, 80.0)
    }
}

/// The mail server (`varmail`) as filebench has it.
pub fn varmail() -> FileSettings {
    FileSettings {
        directory_width: 1_000_000,
        ..servers::defaults(16, 80.0)
    }
}

/// The transaction processing of `parameter-aware-io` 6.3.
pub fn oltp() -> OltpSettings {
    OltpSettings {
        files: 10,
        file_size: Bytes::mib(10),
        log_size: Bytes::mib(10),
        shadows: 200,
        writers: 10,
        io_size: Bytes::kib(2),
        log_io_size: Bytes::kib(256),
        batch: 100,
        writes_in_flight: 10,
        same_draws: false,
        shadow_time: Dur::us(200),
        writer_time: Dur::us(10),
        duration: Dur::ms(60_000),
        operations: None,
        utilisation_percent: 0.0,
        range: None,
        file_system: FileSystem::default(),
        system: Default::default(),
    }
}

pub(super) const WEBSERVER: About = About::new("filebench's web server: whole files are read, a log is written")
    .text(
        "\
Filebench's web server: 16 threads, each of which opens, reads whole and closes ten files and then appends up to 16 KiB \
to a log that all share. 1,000 files of 16 MiB on average, gamma-distributed, as in `parameter-aware-io` 6.3 (100 files \
on its two slow drives); the workload file has 16 KiB and 100 threads. Reads are calls of 1 MiB.",
    )
    .settings(|| table_of(&webserver()));

pub(super) const FILESERVER: About = About::new("filebench's file server: files are created, appended to, read, deleted")
    .text(
        "\
Filebench's file server: 50 threads, each of which creates a file and writes it whole, appends up to 16 KiB to another, \
reads a third whole, deletes one and stats one. 10,000 files of 1 MiB on average, gamma-distributed, of which 80 % \
exist at the start, as in `parameter-aware-io` 6.3; the workload file has 128 KiB.",
    )
    .settings(|| table_of(&fileserver()));

pub(super) const VARMAIL: About = About::new("filebench's mail server: small files are written, synced and read")
    .text(
        "\
Filebench's varmail: 16 threads, each of which deletes a file, creates one, appends up to 16 KiB and syncs it, reads \
another, appends up to 16 KiB and syncs it, and reads a third. 1,000 files of 16 KiB on average in one directory, \
gamma-distributed, of which 80 % exist at the start. It waits for the drive at each of its syncs.",
    )
    .settings(|| table_of(&varmail()));

pub(super) const OWN: About = About::new("a workload that you write in filebench's language")
    .text(
        "\
A workload in a subset of filebench's workload model language, as the text `model`: sets of files, processes, threads and \
their operations (docs/filebench.md). An error names its line. The default is an example: 8 threads read 4 KiB at random \
from a file of 1 GiB and compute for 100 µs.",
    )
    .settings(|| table_of(&example()));

pub(super) const OLTP: About = About::new("filebench's transaction processing: small writes to the drive, paced by readers")
    .text(
        "\
Filebench's transaction processing: 200 shadow processes read 2 KiB at random and compute; for every 1,000 reads each of \
10 writers writes 100 times 2 KiB at random, and for every 3,200 a log writer writes 256 KiB; all of them write to the \
drive (O_DSYNC). Readers wait when they are 2,000 reads ahead of the writers' requests (1,000 ahead of the log \
writer's). 10 files of 10 MiB and a log of 10 MiB, as in the workload file and `parameter-aware-io` 6.3; they fit \
into memory, so after the first seconds the drive gets almost only writes.",
    )
    .settings(|| table_of(&oltp()));
