//! A directory for runs that nobody wants to keep: removed at the end, or by the next process after this one was killed.

use super::error::StoreError;
use super::staging::Staging;
use std::path::Path;

/// A directory in that for temporary files.
#[derive(Debug)]
pub struct Passing(Staging);

impl Passing {
    /// Makes it, and removes those of processes that were killed.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn new() -> Result<Self, StoreError> {
        Ok(Self(Staging::new(&std::env::temp_dir())?))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0.home
    }
}
