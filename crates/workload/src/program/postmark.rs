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
//! - There is one process, and it does not sync.
//! - Rates are bytes divided by the time from the first creation to the last deletion, as PostMark reports them.
//!   PostMark rounds times to seconds; this does not.
//!
//! Appends make files longer than they were created, so a nearly full drive may become full. PostMark does not check
//! whether its writes succeed and counts their bytes anyway; this does the same. The machine's counter
//! `writes-without-room` is the number of writes that found no space.
//!
//! Differences from PostMark: the random numbers (PostMark uses a Mersenne twister, so its seed 712 means nothing
//! here), the size of the writes within a file (pages become dirty in units of 128 KiB), and the 512-byte reads through
//! the buffer of the C library (taken as 4 KiB).
//!
//! `irbw` 5.1 gives the sizes and transactions of its types A and B, but not the number of files. `parameter-aware-io`
//! 6.2 gives files, directories, transactions and a size. All other values are assumptions, named in the settings.

mod settings;

pub(super) use settings::{CVFS, CVFS_LARGE, FIXED, FSL, TYPE_A, TYPE_B};
pub use settings::{Overrides, Settings, cvfs, cvfs_large, fixed, fsl, type_a, type_b};

use super::layout;
use fathom_base::{BadValue, Rng, Time, want};
use fathom_fs::{BLOCK_BYTES, FileId, Sizes};
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
        let script = Postmark::new(self, mount.directories.len() as u64, Rng::new(seed, 1));
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
        let mut script = Postmark::new(
            &of_script,
            mount.directories.len() as u64,
            Rng::new(seed, 1),
        );
        script.find(files);
        Ok(Machine::new(script, mount, self.system.clone()))
    }
}

/// The phase of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Create,
    /// The first half of a transaction: a read or an append.
    Use,
    /// The second half of a transaction: a creation or a deletion.
    Change,
    Delete,
    Over,
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
    phase: Phase,
    files: u64,
    transactions: u64,
    directories: u64,
    sizes: Sizes,
    call: u64,
    /// The table of files, with twice as many entries as there are initial files.
    table: Vec<Option<FileId>>,
    /// The index after the entry that was filled last; in the last phase, the entry to delete next.
    place: usize,
    alive: u64,
    /// True if the files existed before the run; they are not deleted at its end.
    found: bool,
    /// The step that follows the CPU time of the current operation.
    then: Option<Step>,
    /// Number of operations between two syncs, and of those left until the next.
    sync_every: u64,
    sync_in: u64,
    rng: Rng,
    counts: Counts,
}

impl Postmark {
    fn new(settings: &Settings, directories: u64, rng: Rng) -> Self {
        Self {
            phase: Phase::Create,
            files: settings.files,
            transactions: settings.transactions,
            directories,
            sizes: settings.sizes,
            call: settings.read_block.0,
            table: vec![None; 2 * settings.files as usize],
            place: 0,
            alive: 0,
            found: false,
            then: None,
            sync_every: settings.sync_every,
            sync_in: settings.sync_every,
            rng,
            counts: Counts::default(),
        }
    }

    /// Uses existing files, and starts with the transactions.
    fn find(&mut self, files: Vec<FileId>) {
        self.alive = files.len() as u64;
        self.place = files.len();
        for (place, file) in self.table.iter_mut().zip(files) {
            *place = Some(file);
        }
        self.found = true;
        self.phase = Phase::Use;
    }

    /// Returns the counters so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// `find_free_file`: returns the next entry if it is free, otherwise the first free one.
    fn free_place(&mut self) -> Option<usize> {
        let next = self.table.get(self.place) == Some(&None);
        let place = match next {
            true => self.place,
            false => self.table.iter().position(Option::is_none)?,
        };
        self.place = place + 1;
        Some(place)
    }

    /// `find_used_file`: draws entries until one is in use.
    fn used_place(&mut self) -> Option<(usize, FileId)> {
        if self.alive == 0 {
            return None;
        }
        loop {
            let place = self.rng.below(self.table.len() as u64) as usize;
            if let Some(file) = self.table[place] {
                return Some((place, file));
            }
        }
    }

    fn create(&mut self, host: &mut Host, now: Time) -> Result<Option<Step>, Failed> {
        let Some(place) = self.free_place() else {
            return Ok(None);
        };
        let directory = self.rng.below(self.directories) as usize;
        let len = self.sizes.draw(&mut self.rng);
        let file = host.create(directory, now)?;
        self.sync_in = self.sync_in.saturating_sub(1);
        self.table[place] = Some(file);
        self.alive += 1;
        self.counts.created += 1;
        self.counts.bytes_written += len;
        Ok(Some(Step::write(file, 0, len)))
    }

    fn delete(&mut self, place: usize, file: FileId, host: &mut Host, now: Time) {
        self.sync_in = self.sync_in.saturating_sub(1);
        host.delete(file, now);
        self.table[place] = None;
        self.alive -= 1;
    }

    fn read_or_append(&mut self, host: &mut Host, now: Time) -> Option<Step> {
        let reads = self.rng.chance(0.5);
        let (_, file) = self.used_place()?;
        self.sync_in = self.sync_in.saturating_sub(1);
        let size = host.size(file);
        host.open(file, now);
        if reads {
            self.counts.read += 1;
            self.counts.bytes_read += size;
            return Some(Step::read(file, size, self.call));
        }
        let missing = self.sizes.max.0.checked_sub(size).filter(|&m| m > 0)?;
        let len = self.rng.below(missing) + 1;
        self.counts.appended += 1;
        self.counts.bytes_written += len;
        Some(Step::write(file, size, len))
    }

    /// Performs the next operation. Returns `None` if it causes no read or write of a file.
    fn operation(&mut self, host: &mut Host, now: Time) -> Result<Option<Step>, Failed> {
        match self.phase {
            Phase::Create if self.counts.created < self.files => self.create(host, now),
            Phase::Create => {
                self.counts.creation = now;
                self.phase = Phase::Use;
                Ok(None)
            }
            Phase::Use if self.counts.transactions < self.transactions && self.alive > 0 => {
                self.counts.transactions += 1;
                self.phase = Phase::Change;
                Ok(self.read_or_append(host, now))
            }
            Phase::Use => {
                self.counts.transacted = now;
                self.phase = Phase::Delete;
                // Files that existed before the run are not deleted.
                self.place = if self.found { self.table.len() } else { 0 };
                Ok(None)
            }
            Phase::Change => {
                self.phase = Phase::Use;
                if self.rng.chance(0.5) {
                    return self.create(host, now);
                }
                if let Some((place, file)) = self.used_place() {
                    self.delete(place, file, host, now);
                    self.counts.deleted += 1;
                }
                Ok(None)
            }
            Phase::Delete => {
                while self.table.get(self.place) == Some(&None) {
                    self.place += 1;
                }
                match self.table.get(self.place) {
                    Some(&Some(file)) => self.delete(self.place, file, host, now),
                    _ => {
                        self.counts.deletion = now;
                        self.phase = Phase::Over;
                    }
                }
                Ok(None)
            }
            Phase::Over => Ok(Some(Step::End)),
        }
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
        Some(self.counts.transactions as f64 / self.transactions.max(1) as f64)
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
