//! Paths in an image.

use crate::error::ExtError;
use crate::ffi::RawInode;
use crate::image::Image;
use crate::inode::{DIRECTORY, TYPE};
use crate::library::Library;

/// The root directory.
pub(crate) const ROOT: u32 = 2;

/// An entry that is or may be: its directory and its name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) directory: u32,
    pub(crate) name: &'a str,
}

impl Image {
    /// The inode of a name in a directory.
    pub(crate) fn entry(&mut self, place: Place<'_>) -> Result<Option<u32>, ExtError> {
        let directory = self.load(place.directory)?;
        let known = directory.names.get(place.name.as_bytes());
        Ok(known.map(|known| known.inode))
    }

    /// The directory and the name of a path.
    pub(crate) fn place<'a>(&mut self, path: &'a str) -> Result<Place<'a>, ExtError> {
        let (parents, name) = path.rsplit_once('/').unwrap_or(("", path));
        Library::check_name(name.as_bytes())?;
        let directory = self.directory(parents)?;
        Ok(Place { directory, name })
    }

    /// The inode of a directory; an empty path is the root.
    pub(crate) fn directory(&mut self, path: &str) -> Result<u32, ExtError> {
        let mut directory = ROOT;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let found = self.entry(Place { directory, name })?;
            directory = found.ok_or_else(|| ExtError::Missing(path.into()))?;
            // What has been read as a directory is one.
            if !self.directories.contains_key(&directory)
                && self.library.read_inode(directory)?.mode() & TYPE != DIRECTORY
            {
                return Err(kind(path, false));
            }
        }
        Ok(directory)
    }

    /// What a path names, with its place and inode.
    pub(crate) fn find<'a>(&mut self, path: &'a str) -> Result<Found<'a>, ExtError> {
        let place = self.place(path)?;
        let number = self.entry(place)?;
        let number = number.ok_or_else(|| ExtError::Missing(path.into()))?;
        Ok(Found {
            place,
            number,
            inode: self.library.read_inode(number)?,
        })
    }

    /// The place of a new entry.
    pub(crate) fn free_place<'a>(&mut self, path: &'a str) -> Result<Place<'a>, ExtError> {
        let place = self.place(path)?;
        match self.entry(place)? {
            None => Ok(place),
            Some(_) => Err(ExtError::Exists(path.into())),
        }
    }
}

/// An existing entry.
pub(crate) struct Found<'a> {
    pub(crate) place: Place<'a>,
    pub(crate) number: u32,
    pub(crate) inode: RawInode,
}

/// The error of an operation for the other kind: `directory` tells what the path is.
pub(crate) fn kind(path: &str, directory: bool) -> ExtError {
    ExtError::Kind {
        path: path.into(),
        directory,
    }
}
