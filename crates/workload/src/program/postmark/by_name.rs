//! PostMark on a file system that is there, by the names of its files, and the files that age it before.
//!
//! Not done: the settings of a machine and of a modelled file system have no effect there, and are refused.

use super::{Operations, Overrides, Settings};
use crate::program::layout;
use fathom_base::{BadValue, Rng};
use fathom_fs::{Aged, Ageing, Operation};

/// The operations of a run on a file system that is there.
#[derive(Clone, Debug)]
pub struct ByName {
    /// The files that age the file system; nothing if `utilisation-percent` is 0.
    pub ageing: AgeingFiles,
    /// Those of PostMark.
    pub operations: Operations,
}

impl Settings {
    /// The operations on a file system with this many free blocks. The seed of the run is added to PostMark's own and
    /// draws the files that age.
    ///
    /// # Errors
    /// The first key with an invalid value.
    pub fn by_name(&self, free_blocks: u64, seed: u64) -> Result<ByName, BadValue> {
        let operations = self.operations(seed)?;
        let sizes = self.fill_sizes.unwrap_or(self.sizes);
        layout::check_sizes(sizes, "fill-sizes")?;
        let share = self.utilisation_percent / 100.0;
        let directories = self.subdirectories.max(1);
        let rng = Rng::new(seed, 0);
        Ok(ByName {
            ageing: AgeingFiles {
                steps: Ageing::new(free_blocks, share, directories, sizes, rng),
                to_make: if share > 0.0 { directories } else { 0 },
                made: 0,
                left: Vec::new(),
                created: 0,
            },
            operations,
        })
    }
}

impl Overrides {
    /// Refuses settings that have no effect on a file system that is there.
    ///
    /// # Errors
    /// The first of them.
    pub(in crate::program) fn check_by_name(&self) -> Result<(), BadValue> {
        let without_effect = [
            (self.file_system.is_some(), "file-system"),
            (self.system.is_some(), "system"),
            (self.range.is_some(), "range"),
            (self.read_block.is_some(), "read-block"),
        ];
        match without_effect.into_iter().find(|(set, _)| *set) {
            None => Ok(()),
            Some((_, key)) => Err(BadValue::new(
                key,
                "",
                "has no effect on a file system that is there: leave it out",
            )),
        }
    }
}

/// The files that age a file system, by name: in the directories `a0`, `a1` and so on.
#[derive(Clone, Debug)]
pub struct AgeingFiles {
    steps: Ageing,
    /// Number of directories to make, and of those made.
    to_make: u64,
    made: u64,
    /// Names of the files that are left.
    left: Vec<String>,
    created: u64,
}

impl Iterator for AgeingFiles {
    type Item = Operation;

    fn next(&mut self) -> Option<Operation> {
        if self.made < self.to_make {
            self.made += 1;
            return Some(Operation::MakeDirectory(format!("a{}", self.made - 1)));
        }
        Some(match self.steps.next()? {
            Aged::Create { directory, bytes } => {
                self.created += 1;
                let name = format!("a{directory}/{}", self.created);
                self.left.push(name.clone());
                Operation::Create(name, bytes)
            }
            Aged::Delete(victim) => Operation::Delete(self.left.swap_remove(victim)),
            Aged::Sync => Operation::Sync,
        })
    }
}
