//! What PostMark draws: its table of files and its order of operations, without names and without a file system.
//!
//! After the source of PostMark 1.51. The generator is seeded before the table is filled; the buffer that files are written
//! from takes two numbers for each byte of the longest file first.

use super::twister::Twister;
use fathom_fs::Sizes;

/// An operation on the file in a slot of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drawn {
    /// Creates a file in a directory (always 0 without subdirectories) and writes `bytes` bytes.
    Create {
        slot: usize,
        directory: u64,
        bytes: u64,
    },
    /// Reads a whole file.
    Read { slot: usize },
    /// Appends `bytes` bytes to a file.
    Append { slot: usize, bytes: u64 },
    /// Deletes a file.
    Delete { slot: usize },
}

/// The phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    Create,
    /// The first half of a transaction: a read or an append.
    Use,
    /// The second half of a transaction: a creation or a deletion.
    Change,
    Delete,
    Over,
}

/// The parameters that PostMark is given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameters {
    /// Number of files created before the transactions (`set number`).
    pub(super) files: u64,
    pub(super) subdirectories: u64,
    pub(super) transactions: u64,
    pub(super) sizes: Sizes,
    pub(super) seed: u32,
}

/// The state of a run.
#[derive(Clone, Debug)]
pub(super) struct Draws {
    random: Twister,
    of: Parameters,
    /// The length of each file in bytes; 0 in a free slot. Twice as many slots as there are initial files.
    table: Vec<u64>,
    /// The slot after the one that was filled last (`file_allocated`); in the last phase, the one to empty next.
    place: usize,
    /// No slot below this one is free.
    lowest: usize,
    phase: Phase,
    created: u64,
    alive: u64,
    transactions: u64,
    /// Whether the files existed before the run; they are not deleted at its end.
    found: bool,
}

impl Draws {
    pub(super) fn new(of: Parameters) -> Self {
        let mut random = Twister::new(of.seed);
        // PostMark counts the bytes of its buffer in 31 bits; it has none from 1 GiB on.
        if of.sizes.max.0 < 1 << 30 {
            random.skip(2 * of.sizes.max.0);
        }
        Self {
            random,
            table: vec![0; 2 * of.files as usize],
            of,
            place: 0,
            lowest: 0,
            phase: Phase::Create,
            created: 0,
            alive: 0,
            transactions: 0,
            found: false,
        }
    }

    /// Starts with the transactions, on files of these lengths.
    pub(super) fn find(&mut self, bytes: &[u64]) {
        self.table = vec![0; 2 * bytes.len()];
        self.table[..bytes.len()].copy_from_slice(bytes);
        self.place = bytes.len();
        self.lowest = 0;
        self.alive = bytes.len() as u64;
        self.found = true;
        self.phase = Phase::Use;
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    /// Number of transactions begun.
    pub(super) fn transactions(&self) -> u64 {
        self.transactions
    }

    /// The length of the file in a slot, in bytes; 0 if there is none.
    pub(super) fn bytes(&self, slot: usize) -> u64 {
        self.table[slot]
    }

    /// Takes the next step: an operation, or none if it has no effect or a phase ends.
    pub(super) fn step(&mut self) -> Option<Drawn> {
        match self.phase {
            Phase::Create if self.created < self.of.files => self.create(),
            Phase::Create => {
                self.phase = Phase::Use;
                None
            }
            Phase::Use if self.transactions < self.of.transactions && self.alive > 0 => {
                self.transactions += 1;
                self.phase = Phase::Change;
                match self.random.below(10) < 5 {
                    true => Some(Drawn::Read { slot: self.used() }),
                    false => self.append(),
                }
            }
            Phase::Use => {
                self.phase = Phase::Delete;
                self.place = if self.found { self.table.len() } else { 0 };
                None
            }
            Phase::Change => {
                self.phase = Phase::Use;
                match self.random.below(10) < 5 {
                    true => self.create(),
                    false => {
                        let slot = self.used();
                        Some(self.delete(slot))
                    }
                }
            }
            Phase::Delete => {
                while self.table.get(self.place) == Some(&0) {
                    self.place += 1;
                }
                if self.place < self.table.len() {
                    return Some(self.delete(self.place));
                }
                self.phase = Phase::Over;
                None
            }
            Phase::Over => None,
        }
    }

    /// `find_free_file`: the next slot if it is free, otherwise the first free one.
    fn free(&mut self) -> Option<usize> {
        let slot = match self.table.get(self.place) == Some(&0) {
            true => self.place,
            false => {
                let rest = &self.table[self.lowest..];
                let first = rest.iter().position(|&bytes| bytes == 0);
                self.lowest += first.unwrap_or(rest.len());
                first.map(|_| self.lowest)?
            }
        };
        self.place = slot + 1;
        Some(slot)
    }

    /// `find_used_file`: draws slots until one is in use; at least one is.
    fn used(&mut self) -> usize {
        loop {
            let slot = self.random.below(self.table.len() as u64) as usize;
            if self.table[slot] > 0 {
                return slot;
            }
        }
    }

    fn create(&mut self) -> Option<Drawn> {
        let slot = self.free()?;
        let directory = match self.of.subdirectories {
            0 | 1 => 0,
            all => self.random.below(all),
        };
        let Sizes { min, max } = self.of.sizes;
        let bytes = min.0 + self.random.below(max.0 - min.0);
        self.table[slot] = bytes;
        self.created += 1;
        self.alive += 1;
        Some(Drawn::Create {
            slot,
            directory,
            bytes,
        })
    }

    fn append(&mut self) -> Option<Drawn> {
        let slot = self.used();
        let missing = self.of.sizes.max.0.saturating_sub(self.table[slot]);
        if missing == 0 {
            return None;
        }
        let bytes = self.random.below(missing) + 1;
        self.table[slot] += bytes;
        Some(Drawn::Append { slot, bytes })
    }

    fn delete(&mut self, slot: usize) -> Drawn {
        self.table[slot] = 0;
        self.lowest = self.lowest.min(slot);
        self.alive -= 1;
        Drawn::Delete { slot }
    }
}
