//! How the directories of an image change.
//!
//! A directory that has a hash index is changed by the library, which drops the index; others are changed in place.

use crate::directory::{Directory, NewEntry};
use crate::error::ExtError;
use crate::image::Image;

impl Image {
    /// A directory.
    pub(crate) fn load(&mut self, number: u32) -> Result<&mut Directory, ExtError> {
        if !self.directories.contains_key(&number) {
            let directory = Directory::load(&mut self.library, number)?;
            self.directories.insert(number, directory);
        }
        Ok(self.directories.entry(number).or_default())
    }

    /// Enters a name into a directory, which grows if it has no room.
    pub(crate) fn link(
        &mut self,
        number: u32,
        name: &[u8],
        entry: NewEntry,
    ) -> Result<(), ExtError> {
        let directory = self.load(number)?;
        if directory.is_indexed() {
            let kind = i32::from(entry.kind);
            self.library.link(number, name, entry.inode, kind)?;
            // The library has dropped the index.
            self.directories.remove(&number);
            return Ok(());
        }
        let page = match directory.room(name) {
            Some(page) => page,
            None => {
                let page = directory.pages();
                self.library.expand(number)?;
                let directory = self.directories.entry(number).or_default();
                directory.add_page(&mut self.library, number, page as u64)?;
                page
            }
        };
        let directory = self.directories.entry(number).or_default();
        directory.enter(&self.library, page, name, entry)
    }

    /// Removes a name.
    pub(crate) fn unlink(&mut self, number: u32, name: &[u8]) -> Result<(), ExtError> {
        let directory = self.load(number)?;
        if directory.is_indexed() {
            let inode = directory.names.remove(name).map_or(0, |known| known.inode);
            return self.library.unlink(number, name, inode);
        }
        let directory = self.directories.entry(number).or_default();
        directory.remove(&self.library, name)
    }
}
