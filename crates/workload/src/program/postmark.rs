//! Postmark: small files that are created, read, appended to and deleted, as on a mail server.
//!
//! This follows the source of PostMark 1.5 and 1.51 (J. Katcher, Network Appliance). First a number of files is created
//! and written. Then the transactions run. Each is a read of a whole file or an append, followed by a creation or a
//! deletion; each choice is even. Finally the remaining files are deleted.
//!
//! - File lengths are uniform from the minimum up to, but not including, the maximum.
//! - An append adds one byte up to as many as are missing to the maximum. It does nothing to a file at the maximum.
//! - The table of files has twice as many entries as there are initial files. If it is full, a creation does nothing.
//!   If no file is left, the transactions end.
//! - There is one process. It does not sync, unless [`Settings::sync_every`] says so.
//! - Rates are bytes divided by the time from the first creation to the last deletion, as PostMark reports them.
//!   PostMark rounds times to seconds; this does not.
//!
//! Appends make files longer than they were created, so a nearly full drive may become full. PostMark does not check
//! whether its writes succeed and counts their bytes anyway; this does the same. The machine's counter
//! `writes-without-room` is the number of writes, and of creations, that found no space.
//!
//! The operations are PostMark's own, drawn from its generator with its seed ([`Operations`] lists them by name).
//! Differences: the size of the writes within a file (pages become dirty in units of 128 KiB), and the 512-byte reads
//! through the buffer of the C library (taken as 4 KiB).
//!
//! `irbw` 5.1 gives the sizes and transactions of its types A and B, but not the number of files. `parameter-aware-io`
//! 6.2 gives files, directories, transactions and a size. All other values are assumptions, named in the settings.

mod by_name;
mod draws;
mod operations;
mod settings;
mod twister;

pub use by_name::{AgeingFiles, ByName};
pub use operations::Operations;
pub(super) use settings::{CVFS, CVFS_LARGE, FIXED, FSL, TYPE_A, TYPE_B};
pub use settings::{Overrides, Settings, cvfs, cvfs_large, fixed, fsl, type_a, type_b};

use super::layout;
use draws::{Drawn, Draws, Parameters, Phase};
use fathom_base::{BadValue, Time, want};
use fathom_fs::{BLOCK_BYTES, FileId, FsError};
use fathom_platform::{Counter, Failed, Host, Machine, Mount, Script, Step};

impl Settings {
    /// Makes Postmark for a drive of `capacity` bytes, ready to start: laid out and filled.
    ///
    /// # Errors
    /// The first key whose value is invalid or does not fit the drive.
    pub fn build(&self, capacity: u64, seed: u64) -> Result<Machine<Postmark>, BadValue> {
        self.check()?;
        let mut mount =
            layout::mount(&self.file_system, self.range, capacity, self.subdirectories)?;
        if self.files == 0 {
            return self.on_filled(mount, seed);
        }
        let fill_sizes = self.fill_sizes.unwrap_or(self.sizes);
        layout::check_sizes(fill_sizes, "fill-sizes")?;
        layout::fill(&mut mount, self.utilisation_percent, fill_sizes, seed)?;
        let needs = self.sizes.max.0.div_ceil(BLOCK_BYTES);
        let needs = self.files.saturating_mul(needs);
        let free = mount.volume.space().free();
        want(needs <= free, "files", self.files, || {
            let longest = self.sizes.max;
            format!("files of up to {longest} need {needs} blocks of 4 KiB, and {free} are free")
        })?;
        let script = Postmark::new(self, seed);
        Ok(Machine::new(script, mount, self.system.clone()))
    }

    /// Makes Postmark with the files that fill the drive as its own files.
    fn on_filled(&self, mut mount: Mount, seed: u64) -> Result<Machine<Postmark>, BadValue> {
        let files = layout::fill(&mut mount, self.utilisation_percent, self.sizes, seed)?;
        want(
            !files.is_empty(),
            "utilisation-percent",
            self.utilisation_percent,
            || "must fill the drive with a file at least, where `files` is 0".into(),
        )?;
        let of_script = Settings {
            files: files.len() as u64,
            ..self.clone()
        };
        let mut script = Postmark::new(&of_script, seed);
        script.find(&mount, files);
        Ok(Machine::new(script, mount, self.system.clone()))
    }

    /// What PostMark is told. Its seed is its own (`seed`) plus that of the run.
    fn parameters(&self, seed: u64) -> Parameters {
        Parameters {
            files: self.files,
            subdirectories: self.subdirectories,
            transactions: self.transactions,
            sizes: self.sizes,
            seed: self.seed.wrapping_add(seed) as u32,
        }
    }
}

/// Postmark's counters, as PostMark counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Transactions started.
    pub transactions: u64,
    /// Files created, including those before the transactions.
    pub created: u64,
    /// Files deleted by transactions.
    pub deleted: u64,
    /// Files read.
    pub read: u64,
    /// Files appended to.
    pub appended: u64,
    /// Bytes read from files.
    pub bytes_read: u64,
    /// Bytes written by creations and appends.
    pub bytes_written: u64,
    /// The time at which the initial files were created.
    pub creation: Time,
    /// The time at which the transactions were done.
    pub transacted: Time,
    /// The time at which the last file was deleted.
    pub deletion: Time,
}

/// The Postmark process.
#[derive(Debug)]
pub struct Postmark {
    draws: Draws,
    transactions: u64,
    call: u64,
    /// The files in PostMark's table.
    files: Vec<Option<FileId>>,
    /// The step that follows the CPU time of the current operation.
    then: Option<Step>,
    /// Number of operations between two syncs, and of those left until the next.
    sync_every: u64,
    sync_in: u64,
    counts: Counts,
}

impl Postmark {
    fn new(settings: &Settings, seed: u64) -> Self {
        Self {
            draws: Draws::new(settings.parameters(seed)),
            transactions: settings.transactions,
            call: settings.read_block.0,
            files: vec![None; 2 * settings.files as usize],
            then: None,
            sync_every: settings.sync_every,
            sync_in: settings.sync_every,
            counts: Counts::default(),
        }
    }

    /// Uses existing files, and starts with the transactions.
    fn find(&mut self, mount: &Mount, files: Vec<FileId>) {
        let bytes: Vec<u64> = files.iter().map(|&file| mount.volume.size(file)).collect();
        self.draws.find(&bytes);
        for (slot, file) in self.files.iter_mut().zip(files) {
            *slot = Some(file);
        }
    }

    /// Returns the counters so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Performs the next operation. Returns `None` if it causes no read or write of a file.
    fn operation(&mut self, host: &mut Host, now: Time) -> Result<Option<Step>, Failed> {
        let before = self.draws.phase();
        let drawn = self.draws.step();
        self.counts.transactions = self.draws.transactions();
        let after = self.draws.phase();
        match (before, after) {
            (Phase::Create, Phase::Use) => self.counts.creation = now,
            (Phase::Use, Phase::Delete) => self.counts.transacted = now,
            (Phase::Delete, Phase::Over) => self.counts.deletion = now,
            (Phase::Over, _) => return Ok(Some(Step::End)),
            _ => {}
        }
        let Some(drawn) = drawn else {
            return Ok(None);
        };
        self.sync_in = self.sync_in.saturating_sub(1);
        self.perform(drawn, before == Phase::Change, host, now)
    }

    fn perform(
        &mut self,
        drawn: Drawn,
        transacts: bool,
        host: &mut Host,
        now: Time,
    ) -> Result<Option<Step>, Failed> {
        let of = |slot: usize| self.files.get(slot).copied().flatten();
        Ok(match drawn {
            Drawn::Create {
                slot,
                directory,
                bytes,
            } => {
                let file = match host.create(directory as usize, now) {
                    Ok(file) => Some(file),
                    // PostMark does not check it, and counts the file and its bytes.
                    Err(Failed::Refused(FsError::Full { .. })) => {
                        host.gave_up();
                        None
                    }
                    Err(error) => return Err(error),
                };
                self.files[slot] = file;
                self.counts.created += 1;
                self.counts.bytes_written += bytes;
                file.map(|file| Step::write(file, 0, bytes))
            }
            Drawn::Read { slot } => {
                let file = of(slot);
                file.into_iter().for_each(|file| host.open(file, now));
                let bytes = self.draws.bytes(slot);
                self.counts.read += 1;
                self.counts.bytes_read += bytes;
                file.map(|file| Step::read(file, bytes, self.call))
            }
            Drawn::Append { slot, bytes } => {
                let file = of(slot);
                file.into_iter().for_each(|file| host.open(file, now));
                self.counts.appended += 1;
                self.counts.bytes_written += bytes;
                // A write that found no room left the file shorter than PostMark believes.
                file.map(|file| Step::write(file, host.size(file), bytes))
            }
            Drawn::Delete { slot } => {
                let file = self.files[slot].take();
                file.into_iter().for_each(|file| host.delete(file, now));
                self.counts.deleted += u64::from(transacts);
                None
            }
        })
    }
}

impl Script for Postmark {
    fn threads(&self) -> usize {
        1
    }

    fn step(&mut self, _thread: usize, host: &mut Host, now: Time) -> Result<Step, Failed> {
        if let Some(step) = self.then.take() {
            return Ok(step);
        }
        if self.sync_every > 0 && self.sync_in == 0 {
            self.sync_in = self.sync_every;
            return Ok(Step::SyncAll);
        }
        match self.operation(host, now)? {
            Some(Step::End) => Ok(Step::End),
            then => {
                self.then = then;
                Ok(Step::Compute(host.operation()))
            }
        }
    }

    fn part(&self, _now: Time) -> Option<f64> {
        Some(self.draws.transactions() as f64 / self.transactions.max(1) as f64)
    }

    fn counters(&self) -> Vec<Counter> {
        let c = &self.counts;
        let total = c.deletion.since(Time::ZERO);
        let rate = |name, bytes: u64| Counter {
            name,
            value: bytes as f64 / total.as_secs_f64().max(1e-9) / 1e6,
            unit: "MB/s",
        };
        let since = |name, to: Time, from: Time| Counter::seconds(name, to.since(from));
        vec![
            Counter::count("transactions", c.transactions, ""),
            Counter::count("files-created", c.created, ""),
            Counter::count("files-deleted", c.deleted, ""),
            Counter::count("files-read", c.read, ""),
            Counter::count("files-appended", c.appended, ""),
            Counter::count("bytes-read", c.bytes_read, "B"),
            Counter::count("bytes-written", c.bytes_written, "B"),
            since("creation", c.creation, Time::ZERO),
            since("of-transactions", c.transacted, c.creation),
            since("deletion", c.deletion, c.transacted),
            Counter::seconds("elapsed", total),
            rate("read-rate", c.bytes_read),
            rate("write-rate", c.bytes_written),
        ]
    }
}
