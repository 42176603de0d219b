//! Postmark's settings, and the three named sets of them.

use crate::generate::Range;
use crate::program::layout;
use crate::program::overrides::settings;
use fathom_base::About;
use fathom_base::registry::table_of;
use fathom_base::{BadValue, Bytes, want};
use fathom_fs::{FileSystem, Sizes};
use fathom_platform::System;

settings! {
    /// The settings of Postmark and of the machine that it runs on.
    Settings, Overrides {
        /// Number of files created before the transactions (`set number`; 500 is PostMark's own default). With 0,
        /// Postmark uses the files that fill the drive: they exist before it starts, none of them is in memory, and
        /// those left at the end are not deleted.
        files: u64,
        /// Number of directories for the files (`set subdirectories`); 0 is taken as one.
        subdirectories: u64,
        /// Number of transactions.
        transactions: u64,
        /// Lengths of the files.
        sizes: Sizes,
        /// PostMark's own seed (`set seed`), to which the seed of the run is added.
        seed: u64,
        /// Number of operations on files after which everything is synced (`sync`, which PostMark never calls); 0 for
        /// never.
        sync_every: u64,
        /// Bytes per read call.
        read_block: Bytes,
        /// Utilisation of the drive before the start, in percent; 0 is an empty drive.
        utilisation_percent: f64,
        /// Lengths of the files that fill the drive; those of Postmark's files if omitted or if `files` is 0.
        fill_sizes: Option<Sizes>,
        /// The part of the drive that the file system uses; the whole drive if omitted.
        range: Option<Range>,
        /// The file system.
        file_system: FileSystem,
        /// The machine.
        system: System,
    }
}

fn of(files: u64, subdirectories: u64, transactions: u64, sizes: (Bytes, Bytes)) -> Settings {
    Settings {
        files,
        subdirectories,
        transactions,
        sizes: Sizes {
            min: sizes.0,
            max: sizes.1,
        },
        seed: 42,
        sync_every: 0,
        read_block: Bytes::kib(4),
        utilisation_percent: 50.0,
        fill_sizes: None,
        range: None,
        file_system: FileSystem::default(),
        system: System::default(),
    }
}

/// Type A of `irbw` 5.1.
pub fn type_a() -> Settings {
    of(0, 0, 5_000, (Bytes::kib(1), Bytes::kib(32)))
}

/// Type B of `irbw` 5.1.
pub fn type_b() -> Settings {
    of(0, 0, 10_000, (Bytes::mib(1), Bytes::mib(16)))
}

/// The setting of `parameter-aware-io` 6.2, at 1 MiB, a middle one of its file sizes.
pub fn fixed() -> Settings {
    Settings {
        utilisation_percent: 0.0,
        seed: 712,
        ..of(200, 200, 3_000, (Bytes::mib(1), Bytes::mib(1)))
    }
}

/// CVFS of Traeger et al. (2008), as recalled; the article was not looked at.
pub fn cvfs() -> Settings {
    on_empty(of(5_000, 50, 20_000, (Bytes(512), Bytes(10_240))))
}

/// CVFS-Large of `greedy-space` V: CVFS with longer files, as recalled.
pub fn cvfs_large() -> Settings {
    on_empty(of(5_000, 50, 20_000, (Bytes(512), Bytes(328_072))))
}

/// FSL of `greedy-space` V, as recalled.
pub fn fsl() -> Settings {
    on_empty(of(20_000, 200, 200_000, (Bytes(512), Bytes(10_240))))
}

/// On an empty drive; one that is filled has files of 1 KiB to 16 MiB (`greedy-space` V).
fn on_empty(settings: Settings) -> Settings {
    Settings {
        utilisation_percent: 0.0,
        fill_sizes: Some(Sizes {
            min: Bytes::kib(1),
            max: Bytes::mib(16),
        }),
        ..settings
    }
}

pub(in super::super) const CVFS: About = About::new("Postmark with 5,000 files of up to 10 KiB: CVFS")
    .text(
        "\
Postmark with 5,000 files of 512 bytes to 10 KiB in 50 directories and 20,000 transactions: the set CVFS of Traeger et \
al. (2008), as recalled and not checked against the article. With much memory and few syncs it stays in the page cache. \
The drive is filled with files of 1 KiB to 16 MiB if `utilisation-percent` is set, as in `greedy-space` V.",
    )
    .settings(|| table_of(&cvfs()));

pub(in super::super) const CVFS_LARGE: About = About::new("Postmark with 5,000 files of up to 320 KiB: CVFS-Large")
    .text(
        "\
Postmark with 5,000 files of 512 bytes to 320 KiB in 50 directories and 20,000 transactions, as in `greedy-space` V \
(Figure 4). The sizes are recalled and not checked against the article of Traeger et al. (2008).",
    )
    .settings(|| table_of(&cvfs_large()));

pub(in super::super) const FSL: About = About::new("Postmark with 20,000 files of up to 10 KiB: FSL")
    .text(
        "\
Postmark with 20,000 files of 512 bytes to 10 KiB in 200 directories and 200,000 transactions, as in `greedy-space` V \
(Figure 5). The sizes are recalled and not checked against the article of Traeger et al. (2008).",
    )
    .settings(|| table_of(&fsl()));

pub(in super::super) const TYPE_A: About = About::new("Postmark with files of 1 to 32 KiB on a drive that is half full")
    .text(
        "\
Postmark 1.5 with files of 1 to 32 KiB and 5,000 transactions on a drive that is filled before, as in `irbw` 5.1 \
(Figures 8a and 9a): \"we first randomly fill up the disk with files until the desired utilization is met, then \
perform\" the transactions. The paper does not say how many files of its own Postmark had. Here the transactions \
use the files that fill the drive, so that reads come from the drive; with `files = 500`, Postmark's own number, \
all of them stay in memory. The paper varies the utilisation; the default is 50 %.",
    )
    .settings(|| table_of(&type_a()));

pub(in super::super) const TYPE_B: About = About::new("Postmark with files of 1 to 16 MiB on a drive that is half full")
    .text(
        "\
Postmark 1.5 with files of 1 to 16 MiB and 10,000 transactions on a drive that is filled before, as in `irbw` 5.1 \
(Figures 8b and 9b). The transactions use the files that fill the drive; see `postmark-type-a`. The paper varies \
the utilisation; the default is 50 %.",
    )
    .settings(|| table_of(&type_b()));

pub(in super::super) const FIXED: About = About::new("Postmark with 200 files of one size in 200 directories")
    .text(
        "\
Postmark 1.51 with files of one size, 200 at once in 200 directories, as in `parameter-aware-io` 6.2 (Figure 9). The \
paper goes from 256 KiB to 8 MiB (`sizes = { min = \"8MiB\", max = \"8MiB\" }`) with 3,000 transactions, and 300 on its \
two slow drives. With files of one size an append does nothing, so half of the transactions read nothing.",
    )
    .settings(|| table_of(&fixed()));

impl Settings {
    /// Validates each value that does not depend on the drive.
    pub(super) fn check(&self) -> Result<(), BadValue> {
        self.system.check()?;
        layout::check_sizes(self.sizes, "sizes")?;
        want(self.files < 1 << 30, "files", self.files, || {
            "must be below 2^30".into()
        })?;
        want(
            self.subdirectories < 1 << 20,
            "subdirectories",
            self.subdirectories,
            || "must be below 2^20".into(),
        )?;
        want(self.read_block.0 > 0, "read-block", self.read_block, || {
            "must be above zero".into()
        })?;
        layout::check_utilisation(self.utilisation_percent)
    }
}
