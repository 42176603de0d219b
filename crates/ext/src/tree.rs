//! Copies directories of the host into an image and out of it.
//!
//! Copied are regular files, directories and symbolic links, with permissions, owners (into an image) and times of the last
//! change in seconds. A file with several names is copied once for each. Devices, sockets and pipes are counted and left
//! out; extended attributes are not copied. Holes are copied into an image as zeroes, and pages of zeroes out of it as
//! holes.

use crate::disk::BLOCK;
use crate::error::ExtError;
use crate::ffi::RawInode;
use crate::image::Image;
use crate::inode::{DIRECTORY, LINK, REGULAR, TYPE};
use crate::library::disk_error;
use crate::names::{ROOT, kind};
use std::fs::{self, File, FileTimes, Metadata, Permissions};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// What was copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Number of files.
    pub files: u64,
    /// Number of directories.
    pub directories: u64,
    /// Number of symbolic links.
    pub links: u64,
    /// Bytes of files.
    pub bytes: u64,
    /// Number of devices, sockets, pipes, and names that are not UTF-8: they were left out.
    pub left_out: u64,
}

impl Image {
    /// Copies what is in a directory of the host into the root of the image.
    ///
    /// # Errors
    /// [`ExtError::Exists`] for a file that is there; [`ExtError::Io`] for what cannot be read; see the operations.
    pub fn import(&mut self, from: &Path) -> Result<Copied, ExtError> {
        let mut copied = Copied::default();
        self.import_directory(from, "", &mut copied)?;
        Ok(copied)
    }

    fn import_directory(
        &mut self,
        from: &Path,
        to: &str,
        copied: &mut Copied,
    ) -> Result<(), ExtError> {
        let failed = |source| ExtError::io(from, "read it", source);
        let entries = fs::read_dir(from).map_err(failed)?;
        let entries: Result<Vec<_>, _> = entries.collect();
        let mut entries = entries.map_err(failed)?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let metadata = fs::symlink_metadata(&path);
            let metadata = metadata.map_err(|source| ExtError::io(&path, "read it", source))?;
            let Some(name) = entry.file_name().to_str().map(str::to_owned) else {
                copied.left_out += 1;
                continue;
            };
            let to = if to.is_empty() {
                name
            } else {
                format!("{to}/{name}")
            };
            self.import_entry(&path, &to, &metadata, copied)?;
        }
        Ok(())
    }

    fn import_entry(
        &mut self,
        from: &Path,
        to: &str,
        metadata: &Metadata,
        copied: &mut Copied,
    ) -> Result<(), ExtError> {
        if metadata.is_dir() {
            let place = self.place(to)?;
            if self.entry(place)?.is_none() {
                self.make_directory(to)?;
            }
            copied.directories += 1;
            self.import_directory(from, to, copied)?;
        } else if metadata.is_file() {
            let bytes = self.import_file(from, to, metadata.len())?;
            copied.files += 1;
            copied.bytes += bytes;
        } else if metadata.is_symlink() {
            let target = fs::read_link(from);
            let target = target.map_err(|source| ExtError::io(from, "read it", source))?;
            self.make_link(to, target.as_os_str().as_bytes())?;
            copied.links += 1;
            return Ok(());
        } else {
            copied.left_out += 1;
            return Ok(());
        }
        let place = self.place(to)?;
        let number = self.entry(place)?.unwrap_or(0);
        let mut inode = self.library.read_inode(number)?;
        inode.set_owner(metadata.mode() as u16, metadata.uid(), metadata.gid());
        inode.set_times(metadata.mtime());
        self.library.write_inode(number, &mut inode)
    }

    fn import_file(&mut self, from: &Path, to: &str, bytes: u64) -> Result<u64, ExtError> {
        let failed = |source| ExtError::io(from, "read it", source);
        let mut file = File::open(from).map_err(failed)?;
        // A file that becomes shorter meanwhile is an error; what is appended meanwhile is not copied.
        self.create_with(to, bytes, &mut |_, into| file.read_exact(into))?;
        Ok(bytes)
    }

    /// Makes a symbolic link.
    fn make_link(&mut self, path: &str, target: &[u8]) -> Result<(), ExtError> {
        let place = self.free_place(path)?;
        if target.len() >= BLOCK {
            let name = String::from_utf8_lossy(target).into_owned();
            return Err(ExtError::Name(name));
        }
        let group = self.group_of(place.directory);
        let number = self.library.new_inode(group, LINK | 0o777)?;
        let name = place.name.as_bytes();
        self.library
            .make_link(place.directory, number, name, target)?;
        let changed = self.group_of(number);
        self.changed_inodes.insert(changed);
        // The library has changed a block of it.
        self.directories.remove(&place.directory);
        self.sync_if_large()
    }

    /// Copies all files of the image into a directory of the host, which is made if it is not there.
    ///
    /// # Errors
    /// [`ExtError::Io`] for what cannot be written or is there already.
    pub fn export(&mut self, to: &Path) -> Result<Copied, ExtError> {
        let mut copied = Copied::default();
        fs::create_dir_all(to).map_err(|source| ExtError::io(to, "make it", source))?;
        self.export_directory("", ROOT, to, &mut copied)?;
        Ok(copied)
    }

    fn export_directory(
        &mut self,
        from: &str,
        number: u32,
        to: &Path,
        copied: &mut Copied,
    ) -> Result<(), ExtError> {
        let names = self.load(number)?.names.iter();
        let mut names: Vec<(Box<[u8]>, u32)> = names
            .map(|(name, known)| (name.clone(), known.inode))
            .collect();
        names.sort_unstable();
        for (name, number) in names {
            let Ok(name) = std::str::from_utf8(&name) else {
                copied.left_out += 1;
                continue;
            };
            // Made by the format, and empty.
            if from.is_empty() && name == "lost+found" {
                continue;
            }
            let inode = self.library.read_inode(number)?;
            let path = if from.is_empty() {
                name.to_owned()
            } else {
                format!("{from}/{name}")
            };
            self.export_entry(&path, &inode, number, &to.join(name), copied)?;
        }
        Ok(())
    }

    fn export_entry(
        &mut self,
        from: &str,
        inode: &RawInode,
        number: u32,
        to: &Path,
        copied: &mut Copied,
    ) -> Result<(), ExtError> {
        let failed = |source| ExtError::io(to, "write it", source);
        match inode.mode() & TYPE {
            DIRECTORY => {
                fs::create_dir(to).map_err(failed)?;
                copied.directories += 1;
                self.export_directory(from, number, to, copied)?;
            }
            REGULAR => {
                copied.bytes += self.export_file(from, to)?;
                copied.files += 1;
            }
            LINK => {
                let target = self.link_target(from, number, inode)?;
                symlink(std::ffi::OsStr::from_bytes(&target), to).map_err(failed)?;
                copied.links += 1;
                return Ok(());
            }
            _ => {
                copied.left_out += 1;
                return Ok(());
            }
        }
        let permissions = Permissions::from_mode(u32::from(inode.mode() & !TYPE));
        fs::set_permissions(to, permissions).map_err(failed)?;
        let seconds = Duration::from_secs(inode.modified().unsigned_abs());
        let times = FileTimes::new().set_modified(UNIX_EPOCH + seconds);
        let file = File::open(to).map_err(failed)?;
        file.set_times(times).map_err(failed)
    }

    fn export_file(&mut self, from: &str, to: &Path) -> Result<u64, ExtError> {
        let failed = |source| ExtError::io(to, "write it", source);
        let file = File::create_new(to).map_err(failed)?;
        // Pages of zeroes become holes.
        let bytes = self.read(from, u64::MAX, &mut |at, bytes| match bytes
            .iter()
            .all(|&byte| byte == 0)
        {
            true => Ok(()),
            false => file.write_all_at(bytes, at),
        })?;
        file.set_len(bytes).map_err(failed)?;
        Ok(bytes)
    }

    /// The target of a symbolic link.
    fn link_target(
        &mut self,
        path: &str,
        number: u32,
        inode: &RawInode,
    ) -> Result<Vec<u8>, ExtError> {
        if let Some(target) = inode.short_link() {
            return Ok(target);
        }
        let mut inode = inode.clone();
        let bytes = inode.size() as usize;
        let block = self.library.block_of(number, &mut inode, 0)?;
        let Some(block) = block.filter(|_| bytes < BLOCK) else {
            return Err(kind(path, false));
        };
        let mut data = vec![0; BLOCK];
        let mut shared = self.library.shared().borrow_mut();
        let shared = &mut *shared;
        let offset = block * BLOCK as u64;
        let read = shared.meta.read(shared.disk.as_mut(), offset, &mut data);
        read.map_err(|source| disk_error("read a symbolic link", source))?;
        data.truncate(bytes);
        Ok(data)
    }
}
