//! PostMark's operations on files by name, as the program itself performs them.

use super::Settings;
use super::draws::{Drawn, Draws, Phase};
use fathom_base::{BadValue, want};
use fathom_fs::Operation;

/// The operations of a run of PostMark, in order: directories are made, files created, used and deleted, directories
/// removed. Three to five million a second (`benches/postmark.rs`).
#[derive(Clone, Debug)]
pub struct Operations {
    draws: Draws,
    directories: u64,
    /// Directories made so far, then those removed.
    made: u64,
    removed: u64,
    /// The directory and the number of the file in each slot.
    names: Vec<(u32, u32)>,
    created: u32,
    sync_every: u64,
    /// Operations on files since the last sync.
    since_sync: u64,
}

impl Settings {
    /// The operations of PostMark with these settings, by the name of each file. `files` must not be 0: PostMark then uses
    /// what is on the drive.
    ///
    /// # Errors
    /// The first key with an invalid value.
    pub fn operations(&self, seed: u64) -> Result<Operations, BadValue> {
        self.check()?;
        want(self.files > 0, "files", 0, || {
            "must be above zero: there is no drive with files".into()
        })?;
        Ok(Operations {
            draws: Draws::new(self.parameters(seed)),
            directories: match self.subdirectories {
                0 | 1 => 0,
                all => all,
            },
            made: 0,
            removed: 0,
            names: vec![(0, 0); 2 * self.files as usize],
            created: 0,
            sync_every: self.sync_every,
            since_sync: 0,
        })
    }
}

impl Operations {
    fn name(&self, slot: usize) -> String {
        let (directory, number) = self.names[slot];
        match self.directories {
            0 => number.to_string(),
            _ => format!("s{directory}/{number}"),
        }
    }

    fn operation(&mut self, drawn: Drawn, read: u64) -> Operation {
        match drawn {
            Drawn::Create {
                slot,
                directory,
                bytes,
            } => {
                self.created += 1;
                self.names[slot] = (directory as u32, self.created);
                Operation::Create(self.name(slot), bytes)
            }
            Drawn::Read { slot } => Operation::Read(self.name(slot), read),
            Drawn::Append { slot, bytes } => Operation::Append(self.name(slot), bytes),
            Drawn::Delete { slot } => Operation::Delete(self.name(slot)),
        }
    }
}

impl Iterator for Operations {
    type Item = Operation;

    fn next(&mut self) -> Option<Operation> {
        if self.made < self.directories {
            self.made += 1;
            return Some(Operation::MakeDirectory(format!("s{}", self.made - 1)));
        }
        if self.sync_every > 0 && self.since_sync == self.sync_every {
            self.since_sync = 0;
            return Some(Operation::Sync);
        }
        while self.draws.phase() != Phase::Over {
            if let Some(drawn) = self.draws.step() {
                self.since_sync += 1;
                let read = match drawn {
                    Drawn::Read { slot } => self.draws.bytes(slot),
                    _ => 0,
                };
                return Some(self.operation(drawn, read));
            }
        }
        if self.removed == self.directories {
            return None;
        }
        self.removed += 1;
        Some(Operation::RemoveDirectory(format!("s{}", self.removed - 1)))
    }
}
