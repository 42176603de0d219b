//! Filebench: three of its personalities, as run in `parameter-aware-io` 6.3.
//!
//! They follow the workload files that come with filebench (`workloads/webserver.f` of 2007, `fileserver.f` of 2008,
//! `oltp.f` of 2009, and their versions of 2005) and the implementation of their operations (`flowop_library.c`,
//! `fileset.c`). Some of this behaviour is not obvious from the names:
//!
//! - Files are taken in rotation, not at random.
//! - An `appendfilerand` of 16 KiB appends 0 bytes up to below 16 KiB.
//! - An open file is not deleted.
//! - File lengths follow a gamma distribution of shape 1.5, except those of `oltp`, which are all equal
//!   (`filesizegamma=0` in the version of 2005; that of 2009 does not say).
//!
//! The paper gives "filebench (version 1.64 and 1.48)", numbers of files, mean lengths and threads. It does not say how
//! long filebench ran, or which other settings of the workload files were changed. Those settings have the defaults of
//! the workload files here.
//!
//! The files exist before the run, and none of their data is in memory. A run ends after a time or a number of
//! operations; then all dirty data is written.

mod files;
mod gamma;
mod oltp;

pub use files::{FileOverrides, FileServer, FileSettings, Server};
pub use oltp::{Oltp, OltpOverrides, OltpSettings};

use fathom_base::About;
use fathom_base::registry::table_of;
use fathom_base::{Bytes, Dur};
use fathom_fs::FileSystem;

/// The web server of `parameter-aware-io` 6.3.
pub fn webserver() -> FileSettings {
    FileSettings {
        files: 1_000,
        mean_size: Bytes::mib(16),
        ..files::defaults(16, 100.0)
    }
}

/// The file server of `parameter-aware-io` 6.3.
pub fn fileserver() -> FileSettings {
    FileSettings {
        files: 10_000,
        mean_size: Bytes::mib(1),
        ..files::defaults(50, 80.0)
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
