//! A directory for runs that are not kept. It is removed at the end, or by the next process if this one is killed.

use super::error::StoreError;
use super::staging::Staging;
use std::path::Path;

/// A directory inside the system's directory for temporary files.
#[derive(Debug)]
pub struct Passing(Staging);

impl Passing {
    /// Creates the directory, and removes those of killed processes.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn new() -> Result<Self, StoreError> {
        Ok(Self(Staging::new(&std::env::temp_dir())?))
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.0.home
    }
}
