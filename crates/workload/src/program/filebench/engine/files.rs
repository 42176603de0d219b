//! A set of files at run time: which exist, which are open, and which come next.

use crate::program::filebench::language::FileSet;
use crate::program::layout;
use fathom_base::{BadValue, Rng};
use fathom_fs::FileId;
use fathom_platform::Mount;
use std::collections::BTreeSet;

/// Files are shorter than this, in bytes.
const LENGTH_MAX: u64 = (1 << 42) - 1;

/// A file of the set, whether it exists or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) file: Option<FileId>,
    /// The length that the set gives the file, in bytes.
    pub(super) size: u64,
    pub(super) directory: usize,
    /// Number of descriptors that have the file open.
    pub(super) open: u32,
}

/// The files of a set.
#[derive(Clone, Debug)]
pub(super) struct Files {
    pub(super) entries: Vec<Entry>,
    there: BTreeSet<usize>,
    missing: BTreeSet<usize>,
    /// Where the rotations over the existing and the missing files continue.
    next_there: usize,
    next_missing: usize,
}

/// Returns the first number at or after `from`, and wraps around.
fn rotate(numbers: &BTreeSet<usize>, from: usize) -> Option<usize> {
    let next = numbers.range(from..).next().or_else(|| numbers.first());
    next.copied()
}

/// Number of directories that a set needs.
pub(super) fn directories(set: &FileSet) -> u64 {
    set.entries.div_ceil(set.directory_width.max(1))
}

impl Files {
    /// Draws the lengths, and places the files that exist at the start, in random order.
    pub(super) fn lay_out(
        set: &FileSet,
        first_directory: usize,
        mount: &mut Mount,
        rng: &mut Rng,
    ) -> Result<Self, BadValue> {
        let entry = |number: u64, rng: &mut Rng| Entry {
            file: None,
            size: set.size.draw(rng).min(LENGTH_MAX),
            directory: first_directory + (number / set.directory_width.max(1)) as usize,
            open: 0,
        };
        let mut files = Self {
            entries: (0..set.entries).map(|number| entry(number, rng)).collect(),
            there: BTreeSet::new(),
            missing: BTreeSet::new(),
            next_there: 0,
            next_missing: 0,
        };
        let mut left: BTreeSet<usize> = (0..files.entries.len()).collect();
        while let Some(number) = rotate(&left, rng.below(set.entries) as usize) {
            left.remove(&number);
            if rng.chance(set.preallocated_percent / 100.0) {
                let entry = &mut files.entries[number];
                entry.file = Some(layout::place(mount, entry.directory, entry.size)?);
                files.there.insert(number);
            } else {
                files.missing.insert(number);
            }
        }
        Ok(files)
    }

    /// The next file that exists.
    pub(super) fn pick(&mut self) -> Option<usize> {
        let mut rotor = self.next_there;
        let number = self.pick_by(&mut rotor);
        self.next_there = rotor;
        number
    }

    /// The next file that exists, by another rotation.
    pub(super) fn pick_by(&self, rotor: &mut usize) -> Option<usize> {
        let number = rotate(&self.there, *rotor)?;
        *rotor = number + 1;
        Some(number)
    }

    /// The next file that does not exist.
    pub(super) fn pick_missing(&mut self) -> Option<usize> {
        let number = rotate(&self.missing, self.next_missing)?;
        self.next_missing = number + 1;
        Some(number)
    }

    pub(super) fn file(&self, number: usize) -> Option<FileId> {
        self.entries.get(number)?.file
    }

    pub(super) fn created(&mut self, number: usize, file: FileId) {
        self.entries[number].file = Some(file);
        self.missing.remove(&number);
        self.there.insert(number);
    }

    /// Takes a file out, unless it does not exist or is open.
    pub(super) fn take(&mut self, number: usize) -> Option<FileId> {
        let entry = self.entries.get_mut(number)?;
        if entry.open > 0 {
            return None;
        }
        let file = entry.file.take()?;
        self.there.remove(&number);
        self.missing.insert(number);
        Some(file)
    }
}
