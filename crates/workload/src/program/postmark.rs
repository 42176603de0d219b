//! Postmark: small files that are created, read, appended to and deleted, as on a mail server.
//!
//! After PostMark 1.5 and 1.51 (J. Katcher, Network Appliance), from its source: a number of files is created and
//! written; then each transaction is a read of a whole file or an append, and a creation or a deletion, each half of
//! the time; then what is left is deleted. Files have lengths uniform from the least to below the most; an append takes
//! one byte up to what is missing to the most, and does nothing to a file that has no byte missing. The table of files
//! has twice as many places as there are files at the start; where all are taken a creation does nothing, and where no
//! file is left the transactions end. It is one process; it does not sync. Rates are bytes over the time from the first
//! creation to the last deletion, as it reports them; it rounds times to seconds and these do not.
//!
//! Appends make files longer than they were created, so that a drive that is nearly full may become full. PostMark does
//! not look whether its writes succeed, and counts their bytes all the same; so does this. The machine's counter
//! `writes-without-room` tells how many found no room.
//!
//! Not as in PostMark: the random numbers (it has a Mersenne twister, so that its seed 712 means nothing here), the size
//! of its writes within one file (pages become dirty by the 128 KiB), and its read of 512 bytes through the buffer of
//! the C library (taken as 4 KiB).
//!
//! `irbw` 5.1 gives sizes and transactions of its types A and B and not how many files there are; `parameter-aware-io`
//! 6.2 gives files, directories, transactions and a size. What they do not say is an assumption, named in the settings.

mod settings;

pub(super) use settings::{FIXED, TYPE_A, TYPE_B};
pub use settings::{Overrides, Settings, fixed, type_a, type_b};

use super::layout;
use fathom_base::{BadValue, Rng, Time, want};
use fathom_fs::files::{BLOCK_BYTES, FileId, Sizes, Volume};
use fathom_platform::{Counter, Failed, Host, Machine, Script, Step};

impl Settings {
    /// Postmark on a drive of `capacity` bytes, ready to start: laid out and filled.
    ///
    /// # Errors
    /// The first key whose value cannot be, or does not fit the drive.
    pub fn build(&self, capacity: u64, seed: u64) -> Result<Machine<Postmark>, BadValue> {
        self.check()?;
        let mut volume = layout::volume(self.range, capacity, self.subdirectories)?;
        let share = self.utilisation_percent / 100.0;
        if self.files == 0 {
            return self.on_filled(volume, share, seed);
        }
        let fill_sizes = self.fill_sizes.unwrap_or(self.sizes);
        layout::check_sizes(fill_sizes, "fill-sizes")?;
        if share > 0.0 {
            volume.fill(share, fill_sizes, &mut Rng::new(seed, 0));
        }
        let needs = self.sizes.max.0.div_ceil(BLOCK_BYTES);
        let needs = self.files.saturating_mul(needs);
        let free = volume.space().free();
        want(needs <= free, "files", self.files, || {
            let longest = self.sizes.max;
            format!("files of up to {longest} need {needs} blocks of 4 KiB, and {free} are free")
        })?;
        let script = Postmark::new(self, volume.directories() as u64, Rng::new(seed, 1));
        Ok(Machine::new(script, volume, self.system.clone()))
    }

    /// Its files are those that the drive is filled with.
    fn on_filled(
        &self,
        mut volume: Volume,
        share: f64,
        seed: u64,
    ) -> Result<Machine<Postmark>, BadValue> {
        let files = volume.fill_with(share, self.sizes, &mut Rng::new(seed, 0));
        let files = files.map_err(|full| {
            let problem = format!("there is no room for the directories: {full}");
            BadValue::new("utilisation-percent", self.utilisation_percent, problem)
        })?;
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
        let mut script = Postmark::new(&of_script, volume.directories() as u64, Rng::new(seed, 1));
        script.find(files);
        Ok(Machine::new(script, volume, self.system.clone()))
    }
}

/// What the process is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Create,
    /// The first half of a transaction: a read or an append.
    Use,
    /// The second half: a creation or a deletion.
    Change,
    Delete,
    Over,
}

/// What it has counted, as PostMark does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Transactions that began.
    pub transactions: u64,
    /// Files created, those before the transactions included.
    pub created: u64,
    /// Files deleted in transactions.
    pub deleted: u64,
    /// Files read.
    pub read: u64,
    /// Files appended to.
    pub appended: u64,
    /// Bytes of files read.
    pub bytes_read: u64,
    /// Bytes written by creations and appends.
    pub bytes_written: u64,
    /// When the files were created.
    pub creation: Time,
    /// When the transactions were done.
    pub transacted: Time,
    /// When the last file was deleted.
    pub deletion: Time,
}

/// The process.
#[derive(Debug)]
pub struct Postmark {
    phase: Phase,
    files: u64,
    transactions: u64,
    directories: u64,
    sizes: Sizes,
    call: u64,
    /// Twice as many places as files at the start.
    table: Vec<Option<FileId>>,
    /// The place behind the one that was taken last.
    place: usize,
    alive: u64,
    /// Whether its files were there before, and stay.
    found: bool,
    /// What to do once the computing for an operation is done.
    then: Option<Step>,
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
            rng,
            counts: Counts::default(),
        }
    }

    /// Starts with the transactions, on files that are there.
    fn find(&mut self, files: Vec<FileId>) {
        self.alive = files.len() as u64;
        self.place = files.len();
        for (place, file) in self.table.iter_mut().zip(files) {
            *place = Some(file);
        }
        self.found = true;
        self.phase = Phase::Use;
    }

    /// What it has counted so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// `find_free_file`: the next place, or else the first free one.
    fn free_place(&mut self) -> Option<usize> {
        let next = self.table.get(self.place) == Some(&None);
        let place = match next {
            true => self.place,
            false => self.table.iter().position(Option::is_none)?,
        };
        self.place = place + 1;
        Some(place)
    }

    /// `find_used_file`: any place until one is taken.
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
        self.table[place] = Some(file);
        self.alive += 1;
        self.counts.created += 1;
        self.counts.bytes_written += len;
        let from = 0;
        Ok(Some(Step::Write { file, from, len }))
    }

    fn delete(&mut self, place: usize, file: FileId, host: &mut Host, now: Time) {
        host.delete(file, now);
        self.table[place] = None;
        self.alive -= 1;
    }

    fn read_or_append(&mut self, host: &mut Host, now: Time) -> Option<Step> {
        let reads = self.rng.chance(0.5);
        let (_, file) = self.used_place()?;
        let size = host.size(file);
        host.open(file, now);
        if reads {
            self.counts.read += 1;
            self.counts.bytes_read += size;
            return Some(Step::Read {
                file,
                from: 0,
                len: size,
                call: self.call,
            });
        }
        let missing = self.sizes.max.0.checked_sub(size).filter(|&m| m > 0)?;
        let len = self.rng.below(missing) + 1;
        self.counts.appended += 1;
        self.counts.bytes_written += len;
        let from = size;
        Some(Step::Write { file, from, len })
    }

    /// The next operation, if it comes to anything.
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
                // What it has found stays.
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
            rate("read-rate", c.bytes_read),
            rate("write-rate", c.bytes_written),
        ]
    }
}
