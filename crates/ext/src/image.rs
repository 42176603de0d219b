//! An open image: how it is opened, mounted and closed.
//!
//! [`crate::files`] has the operations, [`crate::sync`] what a sync writes.

use crate::allocation::{Allocation, MakeAllocator, allocator};
use crate::channel::Shared;
use crate::directory::Directory;
use crate::disk::{BLOCK, Disk};
use crate::error::ExtError;
use crate::ffi::SuperBlock;
use crate::host::{self, Use};
use crate::inode::sb;
use crate::jbd2::JournalSuper;
use crate::judge::judge;
use crate::library::{Library, disk_error};
use crate::log::{Log, write_runs};
use crate::pages::Pages;
use crate::written::Written;
use fathom_fs::Policy;
use fathom_fs::ext::Version;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

/// How an image is opened.
pub struct Settings {
    /// The member of the family that it must be.
    pub version: Option<Version>,
    /// The allocator.
    pub allocator: MakeAllocator,
    /// Whether blocks are allocated when pages are written to the image, and not when the program writes them.
    pub delayed: bool,
    /// The time of all changes, in seconds since 1970.
    pub now: i64,
    /// A sync begins by itself when more bytes of data are dirty.
    pub dirty_limit_bytes: u64,
    /// Whether a sync waits until the medium has everything.
    pub durable: bool,
}

impl Settings {
    /// An allocator by name with its usual way of allocation: that of ext3 takes blocks when the program writes.
    ///
    /// # Errors
    /// [`ExtError::UnknownAllocator`], [`ExtError::LogicalBlock`].
    pub fn new(name: &str, logical_block_bytes: u64, now: i64) -> Result<Self, ExtError> {
        Ok(Self {
            version: None,
            allocator: allocator(name, logical_block_bytes)?,
            delayed: name != Policy::Ext3.name(),
            now,
            dirty_limit_bytes: 256 << 20,
            durable: true,
        })
    }
}

/// An open image of ext2, ext3 or ext4. It must be closed with [`Image::close`]; one that is only dropped is like one after
/// a crash.
pub struct Image {
    pub(crate) library: Library,
    /// None without a journal, as in ext2.
    pub(crate) log: Option<Log>,
    pub(crate) version: Version,
    pub(crate) delayed: bool,
    pub(crate) pages: Pages,
    pub(crate) directories: FxHashMap<u32, Directory>,
    /// Groups whose bitmap of inodes has changed.
    pub(crate) changed_inodes: BTreeSet<u32>,
    pub(crate) dirty_limit_pages: u64,
    /// What syncs wrote that began by themselves.
    pub(crate) unseen: Vec<Written>,
    /// The run of groups where the search for a directory's place begins.
    pub(crate) spread: u32,
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Image")
            .field("version", &self.version)
            .field("blocks", &self.blocks())
            .finish_non_exhaustive()
    }
}

/// The bytes of the super block of a disk, judged.
fn examine(disk: &mut dyn Disk, wanted: Option<Version>) -> Result<Version, ExtError> {
    let mut block = [0; BLOCK];
    if disk.blocks() == 0 {
        return Err(ExtError::Foreign("it is empty".into()));
    }
    let read = disk.read(0, &mut block);
    read.map_err(|source| disk_error("read the super block", source))?;
    let mut superblock = SuperBlock::zeroed();
    superblock.set_bytes(0, &block[1024..2048]);
    judge(&superblock, disk.blocks(), wanted)
}

impl Image {
    /// Opens and mounts an image in a file or on a block device. A refused image was not written to.
    ///
    /// # Errors
    /// [`ExtError::Host`] and [`ExtError::InUse`] from the safety lock; [`ExtError::Foreign`], [`ExtError::Corrupt`],
    /// [`ExtError::NeedsReplay`], [`ExtError::Unsupported`], [`ExtError::OtherVersion`]; [`ExtError::Io`].
    pub fn open(path: &Path, settings: Settings) -> Result<Self, ExtError> {
        let disk = host::open(path, Use::Write, settings.durable)?;
        Self::on(Box::new(disk), settings)
    }

    /// Opens and mounts an image on a [`Disk`].
    ///
    /// # Errors
    /// See [`Image::open`].
    pub fn on(mut disk: Box<dyn Disk>, settings: Settings) -> Result<Self, ExtError> {
        let version = examine(disk.as_mut(), settings.version)?;
        let shared = Rc::new(RefCell::new(Shared::new(disk, false)));
        let mut library = Library::open(shared, settings.now, true)?;
        let bitmaps = library.bitmaps()?;
        let blocks = library.superblock().blocks();
        let extents = version == Version::Ext4;
        let allocation = Allocation::new(blocks, &bitmaps, settings.allocator, extents);
        library.allocate_by(allocation);
        let journal = library.superblock().u32(sb::COMPAT) & sb::HAS_JOURNAL != 0;
        let log = journal.then(|| open_log(&mut library)).transpose()?;
        let mut image = Self {
            library,
            log,
            version,
            delayed: settings.delayed,
            pages: Pages::default(),
            directories: FxHashMap::default(),
            changed_inodes: BTreeSet::new(),
            dirty_limit_pages: settings.dirty_limit_bytes / BLOCK as u64,
            unseen: Vec::new(),
            spread: 0,
        };
        image.mount()?;
        Ok(image)
    }

    /// Opens an image for reading only. Nothing is ever written.
    ///
    /// # Errors
    /// See [`Image::open`].
    pub fn read_only(path: &Path) -> Result<Self, ExtError> {
        let mut disk = host::open(path, Use::Read, false)?;
        let version = examine(&mut disk, None)?;
        let shared = Rc::new(RefCell::new(Shared::new(Box::new(disk), false)));
        Ok(Self {
            library: Library::open(shared, 0, false)?,
            log: None,
            version,
            delayed: true,
            pages: Pages::default(),
            directories: FxHashMap::default(),
            changed_inodes: BTreeSet::new(),
            dirty_limit_pages: 0,
            unseen: Vec::new(),
            spread: 0,
        })
    }

    /// The member of the family.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Number of blocks.
    pub fn blocks(&self) -> u64 {
        self.library.superblock().blocks()
    }

    /// Number of free blocks, those set aside included.
    pub fn free_blocks(&self) -> u64 {
        let shared = self.library.shared().borrow();
        let allocation = shared.allocation.as_ref();
        allocation.map_or(0, Allocation::available)
    }

    /// Marks the image as in use: a journal is to be replayed, or ext2 to be checked, until it is closed.
    fn mount(&mut self) -> Result<(), ExtError> {
        let journal = self.log.is_some();
        self.library.change_superblock(|superblock| match journal {
            true => set(superblock, sb::INCOMPAT, sb::RECOVER, true),
            false => superblock.set_u16(sb::STATE, 0),
        });
        self.write_in_place()?;
        self.mark_log(true)
    }

    /// Writes everything, and marks the image as clean.
    ///
    /// # Errors
    /// See [`Image::sync`].
    pub fn close(mut self) -> Result<(), ExtError> {
        self.sync()?;
        if let Some(log) = &mut self.log {
            let mut shared = self.library.shared().borrow_mut();
            let done = log.checkpoint(shared.disk.as_mut());
            done.map_err(|source| disk_error("empty the journal", source))?;
        }
        self.mark_log(false)?;
        let journal = self.log.is_some();
        self.library.change_superblock(|superblock| match journal {
            true => set(superblock, sb::INCOMPAT, sb::RECOVER, false),
            false => superblock.set_u16(sb::STATE, sb::STATE_VALID),
        });
        self.write_in_place()
    }

    fn mark_log(&mut self, in_use: bool) -> Result<(), ExtError> {
        let Some(log) = &mut self.log else {
            return Ok(());
        };
        let mut shared = self.library.shared().borrow_mut();
        let marked = log.mark(shared.disk.as_mut(), in_use);
        marked.map_err(|source| disk_error("write the journal", source))
    }

    /// Writes the super block, and what else is dirty, to its place.
    fn write_in_place(&mut self) -> Result<(), ExtError> {
        self.library.flush(&[], &[])?;
        let mut shared = self.library.shared().borrow_mut();
        let blocks = shared.meta.take_dirty();
        let disk = shared.disk.as_mut();
        let written = write_runs(disk, &blocks).and_then(|()| disk.flush());
        written.map_err(|source| disk_error("write the super block", source))
    }
}

fn set(superblock: &mut SuperBlock, at: usize, bit: u32, on: bool) {
    let value = superblock.u32(at) & !bit | if on { bit } else { 0 };
    superblock.set_u32(at, value);
}

/// Reads the super block of the journal and where its blocks lie.
fn open_log(library: &mut Library) -> Result<Log, ExtError> {
    let corrupt = |what: &str| ExtError::Corrupt { what: what.into() };
    let number = library.superblock().u32(sb::JOURNAL_INODE);
    if number == 0 {
        let what = "a journal on another device".into();
        return Err(ExtError::Unsupported { what });
    }
    let mut inode = library.read_inode(number)?;
    let mut places = Vec::new();
    for page in 0..inode.size() / BLOCK as u64 {
        let place = library.block_of(number, &mut inode, page)?;
        places.push(place.ok_or_else(|| corrupt("the journal has a hole"))?);
    }
    let mut block = [0; BLOCK];
    let first = *places
        .first()
        .ok_or_else(|| corrupt("the journal is empty"))?;
    let read = library.shared().borrow_mut().disk.read(first, &mut block);
    read.map_err(|source| disk_error("read the journal", source))?;
    let mut superblock =
        JournalSuper::new(block).ok_or_else(|| corrupt("the super block of the journal"))?;
    if superblock.start() != 0 {
        let what = "the journal has transactions that must be replayed";
        return Err(ExtError::NeedsReplay { what });
    }
    if superblock.unknown_features() != 0 {
        let what = "a journal with features that are not known".into();
        return Err(ExtError::Unsupported { what });
    }
    let fits = u64::from(superblock.first()) < u64::from(superblock.blocks())
        && superblock.first() > 0
        && u64::from(superblock.blocks()) <= places.len() as u64;
    if !fits {
        return Err(corrupt("the size of the journal"));
    }
    places.truncate(superblock.blocks() as usize);
    let on = |word: usize, bit: u32| library.superblock().u32(word) & bit != 0;
    let (wide, checksums) = (
        on(sb::INCOMPAT, sb::WIDE),
        on(sb::RO_COMPAT, sb::METADATA_CSUM),
    );
    superblock.set_features(wide, checksums);
    Ok(Log::new(superblock, places))
}
