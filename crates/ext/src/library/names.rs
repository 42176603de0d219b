//! Directories: their entries, and how they change. The library searches them from their beginning.
#![allow(unsafe_code, reason = "calls of a C library")]

use super::Library;
use crate::error::ExtError;
use crate::ffi::{self, DirEntry};
use fathom_fs::alloc::What;
use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;

/// An entry of a directory.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: Vec<u8>,
    pub(crate) inode: u32,
}

unsafe extern "C" fn collect(
    _directory: u32,
    _kind: c_int,
    entry: *mut DirEntry,
    _offset: c_int,
    _bytes: c_int,
    _block: *mut c_char,
    data: *mut c_void,
) -> c_int {
    // SAFETY: `entries` passes one of these. The library has checked that the name lies within its block; the fields are
    // read without a reference to the whole entry, which may be longer than what is left of the block.
    unsafe {
        let entries = &mut *data.cast::<Vec<Entry>>();
        let bytes = usize::from((&raw const (*entry).name_len).read_unaligned() & 0xff);
        let name = (&raw const (*entry).name).cast::<u8>();
        entries.push(Entry {
            name: std::slice::from_raw_parts(name, bytes).to_vec(),
            inode: (&raw const (*entry).inode).read_unaligned(),
        });
    }
    0
}

/// A name as a string of C.
fn text(name: &[u8]) -> Result<CString, ExtError> {
    let bad = || ExtError::Name(String::from_utf8_lossy(name).into_owned());
    let fits = (1..=255).contains(&name.len()) && !name.contains(&b'/');
    if !fits {
        return Err(bad());
    }
    CString::new(name).map_err(|_| bad())
}

impl Library {
    /// The entries of a directory without `.` and `..`.
    pub(crate) fn entries(&mut self, directory: u32) -> Result<Vec<Entry>, ExtError> {
        let mut entries: Vec<Entry> = Vec::new();
        // SAFETY: the file system is open; the function expects what is passed to it, which lives.
        let code = unsafe {
            let data: *mut Vec<Entry> = &mut entries;
            let (fs, buffer) = (self.fs.as_ptr(), ptr::null_mut());
            ffi::ext2fs_dir_iterate2(fs, directory, 0, buffer, collect, data.cast())
        };
        self.check(code, "read a directory")?;
        entries.retain(|entry| !matches!(entry.name.as_slice(), b"." | b".."));
        Ok(entries)
    }

    /// Checks a name.
    pub(crate) fn check_name(name: &[u8]) -> Result<(), ExtError> {
        text(name).map(|_| ())
    }

    /// Enters a name; the directory grows if it has no room. `kind` is the type of the entry (`EXT2_FT_REG_FILE` 1,
    /// directory 2, symbolic link 7).
    pub(crate) fn link(
        &mut self,
        directory: u32,
        name: &[u8],
        inode: u32,
        kind: c_int,
    ) -> Result<(), ExtError> {
        let name = text(name)?;
        let fs = self.fs.as_ptr();
        // SAFETY: the file system is open; the name ends with zero.
        let mut code = unsafe { ffi::ext2fs_link(fs, directory, name.as_ptr(), inode, kind) };
        if code == ffi::DIR_NO_SPACE {
            self.expand(directory)?;
            // SAFETY: as above.
            code = unsafe { ffi::ext2fs_link(fs, directory, name.as_ptr(), inode, kind) };
        }
        self.check(code, "enter a name")
    }

    /// Makes a directory longer by a block.
    pub(crate) fn expand(&mut self, directory: u32) -> Result<(), ExtError> {
        self.allocates(What::Directory);
        // SAFETY: the file system is open.
        let code = unsafe { ffi::ext2fs_expand_dir(self.fs.as_ptr(), directory) };
        self.allocates(What::Map);
        self.check(code, "make a directory longer")
    }

    /// Removes a name.
    pub(crate) fn unlink(
        &mut self,
        directory: u32,
        name: &[u8],
        inode: u32,
    ) -> Result<(), ExtError> {
        let name = text(name)?;
        // SAFETY: as above.
        let code =
            unsafe { ffi::ext2fs_unlink(self.fs.as_ptr(), directory, name.as_ptr(), inode, 0) };
        self.check(code, "remove a name")
    }

    /// Makes a directory of an inode that is free, with its entry. The root has neither a name nor a parent.
    pub(crate) fn make_directory(
        &mut self,
        parent: u32,
        inode: u32,
        name: Option<&[u8]>,
    ) -> Result<(), ExtError> {
        let name = name.map(text).transpose()?;
        let pointer = || name.as_ref().map_or(ptr::null(), |name| name.as_ptr());
        self.allocates(What::Directory);
        let fs = self.fs.as_ptr();
        // SAFETY: the file system is open; the name ends with zero or is null, which the library allows for the root.
        let mut code = unsafe { ffi::ext2fs_mkdir(fs, parent, inode, pointer()) };
        if code == ffi::DIR_NO_SPACE {
            self.expand(parent)?;
            self.allocates(What::Directory);
            // SAFETY: as above.
            code = unsafe { ffi::ext2fs_mkdir(fs, parent, inode, pointer()) };
        }
        self.allocates(What::Map);
        self.check(code, "make a directory")
    }

    /// Makes a symbolic link of an inode that is free, with its entry.
    pub(crate) fn make_link(
        &mut self,
        parent: u32,
        inode: u32,
        name: &[u8],
        target: &[u8],
    ) -> Result<(), ExtError> {
        let name = text(name)?;
        let bad = || ExtError::Name(String::from_utf8_lossy(target).into_owned());
        let target = CString::new(target).map_err(|_| bad())?;
        let fs = self.fs.as_ptr();
        // SAFETY: the file system is open; both texts end with zero.
        let make =
            || unsafe { ffi::ext2fs_symlink(fs, parent, inode, name.as_ptr(), target.as_ptr()) };
        let mut code = make();
        if code == ffi::DIR_NO_SPACE {
            self.expand(parent)?;
            code = make();
        }
        self.check(code, "make a symbolic link")
    }

    fn allocates(&mut self, what: What) {
        if let Some(allocation) = &mut self.shared.borrow_mut().allocation {
            allocation.what = what;
        }
    }
}
