//! libext2fs behind safe functions: an open file system and its super block.
//!
//! The files beside it have bitmaps, inodes, what maps files to blocks, directories, and the parts of a new file system.
//! Nothing here decides what happens when.
#![allow(unsafe_code, reason = "calls of a C library")]

mod bitmaps;
mod format;
mod inodes;
mod map;
mod names;

use crate::allocation::Allocation;
use crate::channel::{MANAGER, Shared, install, opening};
use crate::error::ExtError;
use crate::ffi::{self, Code, Filsys, SuperBlock};
use crate::inode::sb;
use rustc_hash::FxHashSet;
use std::cell::RefCell;
use std::ffi::CStr;
use std::ptr::{self, NonNull};
use std::rc::Rc;

/// An open file system.
pub(crate) struct Library {
    /// Declared before what it points to, and freed first.
    fs: NonNull<Filsys>,
    shared: Rc<RefCell<Shared>>,
    now: i64,
    /// Groups whose bitmap of blocks has never been written: the library marks it as written when it gives an inode there.
    unwritten: FxHashSet<u32>,
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: the file system is open, and nothing uses it after this.
        unsafe { ffi::ext2fs_free(self.fs.as_ptr()) };
    }
}

impl Library {
    /// Opens the file system. `now` is the time of all changes, in seconds since 1970.
    ///
    /// # Errors
    /// Those of the library, and of the disk.
    pub(crate) fn open(
        shared: Rc<RefCell<Shared>>,
        now: i64,
        write: bool,
    ) -> Result<Self, ExtError> {
        let flags = ffi::FLAG_64BITS | if write { ffi::FLAG_RW } else { 0 };
        let mut fs = ptr::null_mut();
        // SAFETY: the strings end with zero, and the place for the result lives; the manager is ours.
        let code = opening(&shared, || unsafe {
            ffi::ext2fs_open2(
                c"image".as_ptr(),
                ptr::null(),
                flags,
                0,
                0,
                &MANAGER,
                &mut fs,
            )
        });
        let mut library = Self::begin(code, fs, shared, now, "open the file system")?;
        library.check_descriptors()?;
        Ok(library)
    }

    /// Begins a new file system with the fields of a super block.
    ///
    /// # Errors
    /// Those of the library.
    pub(crate) fn initialize(
        shared: Rc<RefCell<Shared>>,
        now: i64,
        mut fields: SuperBlock,
    ) -> Result<Self, ExtError> {
        let mut fs = ptr::null_mut();
        let flags = ffi::FLAG_64BITS;
        // SAFETY: as above; the super block is one.
        let code = opening(&shared, || unsafe {
            ffi::ext2fs_initialize(c"image".as_ptr(), flags, &mut fields, &MANAGER, &mut fs)
        });
        Self::begin(code, fs, shared, now, "begin a file system")
    }

    fn begin(
        code: Code,
        fs: *mut Filsys,
        shared: Rc<RefCell<Shared>>,
        now: i64,
        what: &'static str,
    ) -> Result<Self, ExtError> {
        check(&shared, code, what)?;
        let fs = NonNull::new(fs).ok_or(ExtError::Library {
            what,
            message: "no file system".into(),
        })?;
        let mut library = Self {
            fs,
            shared,
            now,
            unwritten: FxHashSet::default(),
        };
        library.fields().now = now;
        Ok(library)
    }

    /// Checks that the descriptors of groups name places in the volume, and their check sums.
    fn check_descriptors(&mut self) -> Result<(), ExtError> {
        let fs = self.fs.as_ptr();
        // SAFETY: the file system is open and has the groups.
        let wrong = (0..self.groups())
            .find(|&group| unsafe { ffi::ext2fs_group_desc_csum_verify(fs, group) } == 0);
        // SAFETY: as above.
        let code = unsafe { ffi::ext2fs_check_desc(fs) };
        match (wrong, code) {
            (None, 0) => Ok(()),
            (Some(group), _) => Err(ExtError::Corrupt {
                what: format!("the check sum of the descriptor of group {group} is wrong"),
            }),
            (None, _) => Err(ExtError::Corrupt {
                what: "the descriptors of groups name places that overlap or do not exist".into(),
            }),
        }
    }

    /// Lets the allocator choose all blocks from now on.
    pub(crate) fn allocate_by(&mut self, allocation: Allocation) {
        self.shared.borrow_mut().allocation = Some(allocation);
        let filsys = self.fs.as_ptr();
        let flag = ffi::GROUP_BLOCKS_UNWRITTEN;
        self.unwritten = (0..self.groups())
            // SAFETY: the file system is open and has the group.
            .filter(|&group| unsafe { ffi::ext2fs_bg_flags_test(filsys, group, flag) } != 0)
            .collect();
        let fields = self.fields();
        fields.flags |= ffi::FLAG_MASTER_SB_ONLY;
        let fs: *mut Filsys = fields;
        // SAFETY: the file system is open and freed before `shared`, of which it holds a count.
        unsafe { install(fs, &self.shared) };
    }

    pub(crate) fn shared(&self) -> &RefCell<Shared> {
        &self.shared
    }

    fn fields(&mut self) -> &mut Filsys {
        // SAFETY: the pointer is that of an open file system, and no call of the library is in progress.
        unsafe { self.fs.as_mut() }
    }

    /// Time of all changes.
    pub(crate) fn now(&self) -> i64 {
        self.now
    }

    /// The super block in memory.
    pub(crate) fn superblock(&self) -> &SuperBlock {
        // SAFETY: the library has allocated it with the file system.
        unsafe { &*self.fs.as_ref().superblock }
    }

    /// Changes the super block in memory; the next flush writes it.
    pub(crate) fn change_superblock(&mut self, change: impl FnOnce(&mut SuperBlock)) {
        let superblock = self.fields().superblock;
        // SAFETY: as above, and no one else has a reference to it.
        unsafe {
            change(&mut *superblock);
            ffi::ext2fs_mark_super_dirty(self.fs.as_ptr());
        }
    }

    /// Makes the seed of the check sums follow the identity in the super block.
    pub(crate) fn seed_checksums(&mut self) {
        // SAFETY: the file system is open.
        unsafe { ffi::ext2fs_init_csum_seed(self.fs.as_ptr()) };
    }

    pub(crate) fn groups(&self) -> u32 {
        // SAFETY: the pointer is that of an open file system.
        unsafe { self.fs.as_ref().group_desc_count }
    }

    pub(crate) fn inodes_per_group(&self) -> u32 {
        self.superblock().u32(sb::GROUP_INODES)
    }

    /// Number of free inodes and of directories of a group.
    pub(crate) fn inodes_of(&mut self, group: u32) -> [u32; 2] {
        let fs = self.fs.as_ptr();
        let group = group.min(self.groups() - 1);
        // SAFETY: the file system is open and has the group.
        unsafe {
            [
                ffi::ext2fs_bg_free_inodes_count(fs, group),
                ffi::ext2fs_bg_used_dirs_count(fs, group),
            ]
        }
    }

    /// The first block of the inode table of a group.
    pub(crate) fn inode_table(&mut self, group: u32) -> u64 {
        // SAFETY: the file system is open; an unknown group is 0 there.
        unsafe { ffi::ext2fs_inode_table_loc(self.fs.as_ptr(), group) }
    }

    /// Notes that all inodes of a group are zero on the disk.
    pub(crate) fn note_zeroed(&mut self, group: u32) {
        // SAFETY: the file system is open and has the group.
        unsafe {
            ffi::ext2fs_bg_flags_set(self.fs.as_ptr(), group, ffi::GROUP_INODES_ZEROED);
            ffi::ext2fs_group_desc_csum_set(self.fs.as_ptr(), group);
        }
    }

    /// Ends a file system that was begun with [`Library::initialize`]: writes everything.
    ///
    /// # Errors
    /// Those of the library, and of the disk.
    pub(crate) fn finish(self) -> Result<(), ExtError> {
        // SAFETY: the file system is open. A failed close frees nothing, and this value frees it then; after a close
        // that succeeded there is nothing to free.
        let code = unsafe { ffi::ext2fs_close2(self.fs.as_ptr(), ffi::FLUSH_NO_SYNC) };
        let checked = self.check(code, "write the file system");
        if code == 0 {
            let shared = Rc::clone(&self.shared);
            // The count of `shared` that the forgotten value held is given back.
            let this = std::mem::ManuallyDrop::new(self);
            // SAFETY: the field is not used again, because the value is never dropped.
            drop(unsafe { ptr::read(&this.shared) });
            drop(shared);
        }
        checked
    }

    fn check(&self, code: Code, what: &'static str) -> Result<(), ExtError> {
        check(&self.shared, code, what)
    }
}

/// An error of the disk under an image.
pub(crate) fn disk_error(what: &'static str, source: std::io::Error) -> ExtError {
    ExtError::Disk { what, source }
}

fn check(shared: &RefCell<Shared>, code: Code, what: &'static str) -> Result<(), ExtError> {
    if code == 0 {
        return Ok(());
    }
    let mut shared = shared.borrow_mut();
    if let Some(source) = shared.failure.take() {
        return Err(disk_error(what, source));
    }
    let free = shared
        .allocation
        .as_ref()
        .map_or(0, |allocation| allocation.space.free());
    Err(match code {
        ffi::BLOCK_ALLOC_FAIL => ExtError::Full { wanted: 1, free },
        ffi::INODE_ALLOC_FAIL => ExtError::NoInode,
        _ => {
            // SAFETY: the library answers with a constant or static text that ends with zero.
            let text = unsafe { CStr::from_ptr(ffi::error_message(code)) };
            ExtError::Library {
                what,
                message: text.to_string_lossy().into_owned(),
            }
        }
    })
}
