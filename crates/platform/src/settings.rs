//! The settings of the machine under a program: memory, write-back, read-ahead and processors.

use fathom_base::{BadValue, Bytes, Dur, defaults, want};
use fathom_fs::BLOCK_BYTES;
use serde::{Deserialize, Serialize};

/// Largest number of processors (`CONFIG_NR_CPUS` of Linux on x86-64).
const PROCESSORS_MAX: u32 = 8192;

defaults! {
    /// The machine that a program runs on. The defaults are those of the machine in `irbw` Table 3 and of Linux 2.6.23.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
    pub struct System {
        /// Memory for pages. All of it is page cache.
        pub memory: Bytes = Bytes::gib(2),
        /// Dirty pages, in percent of the memory, above which they are written in the background
        /// (`vm.dirty_background_ratio`: 5 from Linux 2.6.22 on, 10 before).
        pub background_percent: f64 = 5.0,
        /// Dirty pages and pages being written, in percent of the memory, above which writers to files wait
        /// (`vm.dirty_ratio`: 10 from Linux 2.6.22 on, 40 before).
        pub dirty_percent: f64 = 10.0,
        /// Time from the first change of a transaction to its commit (`commit=`); if omitted, that of the file system: 5 s
        /// for ext3 and ext4, 30 s for ReiserFS, 60 s for the checkpoint of a log-structured one.
        pub commit: Option<Dur> = None,
        /// Time after which dirty data is written, and committed metadata is written to its place
        /// (`vm.dirty_expire_centisecs`).
        pub expire: Dur = Dur::ms(30_000),
        /// Whether the drive's cache is flushed before a commit record, which is then forced to the medium (`barrier=1`,
        /// the default of ext4 and of ext3 from Linux 3.1 on).
        pub barriers: bool = false,
        /// Maximum number of write-backs and journal writes in flight (`nr_requests` of the block layer).
        pub window: u32 = 128,
        /// Maximum length of a write-back, which consists of contiguous pages. No request is longer than the drive takes.
        pub longest_write: Bytes = Bytes::mib(1),
        /// Maximum read-ahead, a power of two in pages (`read_ahead_kb`). No read is longer.
        pub read_ahead: Bytes = Bytes::kib(128),
        /// Whether reading a file changes its inode (ext3 without `noatime`).
        pub access_times: bool = true,
        /// Number of processors. Computing is first come, first served.
        pub processors: u32 = 2,
        /// Computing time of an operation on a file: opening, creating, deleting, a system call. An assumption.
        pub operation_time: Dur = Dur::us(10),
        /// Computing time of a page of 4 KiB that is read or written. An assumption: a copy of 4 KiB.
        pub page_time: Dur = Dur::us(2),
    }
}

impl System {
    /// Checks the values.
    ///
    /// # Errors
    /// The first key with an invalid value.
    pub fn check(&self) -> Result<(), BadValue> {
        let percent = |p: f64| p > 0.0 && p <= 100.0;
        let memory = self.memory.0 / BLOCK_BYTES;
        want(
            (1024..1 << 31).contains(&memory),
            "system.memory",
            self.memory,
            || "must be at least 4MiB and below 8TiB".into(),
        )?;
        want(
            percent(self.background_percent),
            "system.background-percent",
            self.background_percent,
            || "must be above 0 and at most 100".into(),
        )?;
        want(
            percent(self.dirty_percent) && self.dirty_percent >= self.background_percent,
            "system.dirty-percent",
            self.dirty_percent,
            || "must be at least `background-percent` and at most 100".into(),
        )?;
        want(
            self.commit.is_none_or(|commit| commit > Dur::ZERO),
            "system.commit",
            self.commit.unwrap_or_default(),
            || "must be above zero".into(),
        )?;
        want(self.window > 0, "system.window", self.window, || {
            "must be at least 1".into()
        })?;
        want(
            self.longest_write.0 >= BLOCK_BYTES && self.longest_write.0 <= 1 << 30,
            "system.longest-write",
            self.longest_write,
            || "must be at least 4KiB and at most 1GiB".into(),
        )?;
        let pages = self.read_ahead.0 / BLOCK_BYTES;
        want(
            pages.is_power_of_two() && pages <= 1 << 16,
            "system.read-ahead",
            self.read_ahead,
            || "must be a power of two, at least 4KiB and at most 256MiB".into(),
        )?;
        want(
            (1..=PROCESSORS_MAX).contains(&self.processors),
            "system.processors",
            self.processors,
            || format!("must be at least 1 and at most {PROCESSORS_MAX}"),
        )
    }

    /// Converts a percentage of the memory to pages.
    pub(crate) fn pages(&self, percent: f64) -> u32 {
        (self.memory.0 as f64 * percent / 100.0 / BLOCK_BYTES as f64) as u32
    }
}
