//! A program in a study file: its name, and what is different from its own settings.

use super::{filebench, postmark};
use crate::generate::Range;
use fathom_base::{Bytes, Dur};
use fathom_fs::files::{FileId, LEAST_BYTES, Sizes, Volume};
use fathom_platform::{BadProgram, Benchmark, want};
use serde::{Deserialize, Serialize};

/// A program as it is listed and explained.
#[derive(Clone, Copy, Debug)]
pub struct ProgramEntry {
    /// What it is called in a study file.
    pub name: &'static str,
    /// What it is, in one line.
    pub help: &'static str,
    /// What it does and where its numbers come from.
    pub explanation: &'static str,
}

macro_rules! programs {
    ($($variant:ident: $name:literal, $overrides:path, $own:path, $build:path, $help:literal, $explanation:expr;)*) => {
        /// A program and the settings to override; what is left out stays as the program has it.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "program")]
        pub enum Config {
            $(
                #[doc = $help]
                #[serde(rename = $name)]
                $variant($overrides),
            )*
        }

        /// A program by its name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum Name {
            $(
                #[doc = $help]
                #[serde(rename = $name)]
                $variant,
            )*
        }

        impl Name {
            /// Every program, in the order in which they are listed.
            pub const ALL: &[Name] = &[$(Name::$variant),*];

            /// What it is called and what it does.
            pub fn entry(self) -> &'static ProgramEntry {
                &PROGRAMS[self as usize]
            }

            /// It with its own settings.
            pub fn config(self) -> Config {
                match self {
                    $(Name::$variant => Config::$variant(Default::default()),)*
                }
            }
        }

        impl Config {
            /// Which program.
            pub fn name(&self) -> Name {
                match self {
                    $(Config::$variant(_) => Name::$variant,)*
                }
            }

            /// The program on a drive of `capacity` bytes, ready to start: its files are laid out, and the drive is
            /// filled as far as it says. The same seed gives the same run on equal drives.
            ///
            /// # Errors
            /// The first key whose value cannot be, or does not fit the drive.
            pub fn build(&self, capacity: u64, seed: u64) -> Result<Box<dyn Benchmark>, BadProgram> {
                Ok(match self {
                    $(Config::$variant(overrides) => {
                        Box::new($build(&overrides.onto($own()), capacity, seed)?)
                    })*
                })
            }
        }

        /// Every program, in the order in which they are listed.
        pub const PROGRAMS: &[ProgramEntry] = &[
            $(ProgramEntry { name: $name, help: $help, explanation: $explanation }),*
        ];
    };
}

programs! {
    PostmarkA: "postmark-type-a", postmark::Overrides, postmark::type_a, postmark::Settings::build, "Postmark with files of 1 to 32 KiB on a drive that is half full", postmark::TYPE_A;
    PostmarkB: "postmark-type-b", postmark::Overrides, postmark::type_b, postmark::Settings::build, "Postmark with files of 1 to 16 MiB on a drive that is half full", postmark::TYPE_B;
    PostmarkFixed: "postmark-fixed", postmark::Overrides, postmark::fixed, postmark::Settings::build, "Postmark with 200 files of one size in 200 directories", postmark::FIXED;
    Webserver: "filebench-webserver", filebench::FileOverrides, filebench::webserver, filebench::FileSettings::build_webserver, "filebench's web server: whole files are read, a log is written", filebench::WEBSERVER;
    Fileserver: "filebench-fileserver", filebench::FileOverrides, filebench::fileserver, filebench::FileSettings::build_fileserver, "filebench's file server: files are created, appended to, read, deleted", filebench::FILESERVER;
    Oltp: "filebench-oltp", filebench::OltpOverrides, filebench::oltp, filebench::OltpSettings::build, "filebench's transaction processing: small writes to the drive, paced by readers", filebench::OLTP;
}

impl Config {
    /// Leaves a part of its transactions, or of its time: one of `divisor` (at least 1).
    pub fn shorten(&mut self, divisor: u64) {
        let divisor = divisor.max(1);
        let transactions = |all: Option<u64>, own: u64| Some((all.unwrap_or(own) / divisor).max(1));
        let duration = |all: Option<Dur>, own: Dur| Some(Dur(all.unwrap_or(own).0 / divisor));
        match self {
            Self::PostmarkA(o) => {
                o.transactions = transactions(o.transactions, postmark::type_a().transactions);
            }
            Self::PostmarkB(o) => {
                o.transactions = transactions(o.transactions, postmark::type_b().transactions);
            }
            Self::PostmarkFixed(o) => {
                o.transactions = transactions(o.transactions, postmark::fixed().transactions);
            }
            Self::Webserver(o) => {
                o.duration = duration(o.duration, filebench::webserver().duration);
            }
            Self::Fileserver(o) => {
                o.duration = duration(o.duration, filebench::fileserver().duration);
            }
            Self::Oltp(o) => o.duration = duration(o.duration, filebench::oltp().duration),
        }
    }
}

/// Lays out the part of a drive that a program has.
pub(super) fn volume(
    range: Option<Range>,
    capacity: u64,
    directories: u64,
) -> Result<Volume, BadProgram> {
    let range = range.unwrap_or(Range {
        start: Bytes(0),
        len: Bytes(capacity),
    });
    want(
        range.start.0.saturating_add(range.len.0) <= capacity,
        "range",
        format!("must end within the drive of {capacity} bytes"),
    )?;
    want(
        range.len.0 >= LEAST_BYTES && range.len.0 < 1 << 43,
        "range",
        "must be at least 16MiB and below 8TiB long",
    )?;
    Volume::new(range.start, range.len, directories as usize).map_err(|full| BadProgram {
        key: "range",
        problem: format!("no room for the journal and {directories} directories: {full}"),
    })
}

/// A file of `bytes` that is there before the run.
pub(super) fn place(
    volume: &mut Volume,
    directory: usize,
    bytes: u64,
) -> Result<FileId, BadProgram> {
    let placed = volume.create(directory).and_then(|(file, _)| {
        volume.grow(file, bytes)?;
        Ok(file)
    });
    placed.map_err(|full| BadProgram {
        key: "files",
        problem: format!("the files do not fit the drive: {full}"),
    })
}

pub(super) fn check_sizes(sizes: Sizes, key: &'static str) -> Result<(), BadProgram> {
    want(
        0 < sizes.min.0 && sizes.min <= sizes.max && sizes.max.0 < 1 << 40,
        key,
        "`min` must be at least one byte, and `max` at least `min` and below 1TiB",
    )
}
