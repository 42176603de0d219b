//! Operations on an image: files and directories made, written, read and removed.
//!
//! A refused operation changes nothing. Data is kept in memory until a sync.

use crate::directory::NewEntry;
use crate::disk::BLOCK;
use crate::error::ExtError;
use crate::ffi::RawInode;
use crate::image::Image;
use crate::inode::{DIRECTORY, LINK, REGULAR, TYPE};
use crate::library::disk_error;
use crate::meta::Block;
use crate::names::{Found, ROOT, kind};
use fathom_fs::FileId;
use fathom_fs::ext::Version;
use std::io;

const PAGE: u64 = BLOCK as u64;
/// Longest file that indirect blocks count: 2^32 sectors of 512 bytes.
const LONGEST_INDIRECT: u64 = (1 << 41) - PAGE;
/// Longest file of extents: 2^32 - 1 pages.
const LONGEST: u64 = (u32::MAX as u64) * PAGE;

/// Gives the bytes of a file from an offset on.
pub(crate) type Fill<'a> = &'a mut dyn FnMut(u64, &mut [u8]) -> io::Result<()>;

impl Image {
    pub(crate) fn group_of(&self, inode: u32) -> u32 {
        (inode - 1) / self.library.inodes_per_group()
    }

    /// Checks that there is room for pages, for those that have no block yet, for the blocks that map them (one for 340
    /// extents at worst), and for blocks of directories. If only a sync is missing to free enough, it is done.
    fn want_room(&mut self, pages: u64) -> Result<(), ExtError> {
        let pages = pages + self.pages.homeless();
        let wanted = pages + pages.div_ceil(340) + 4;
        if wanted > self.free_blocks() {
            self.sync_unasked()?;
        }
        let free = self.free_blocks();
        match wanted <= free {
            true => Ok(()),
            false => Err(ExtError::Full { wanted, free }),
        }
    }

    /// Makes an empty file.
    fn make_file<'a>(&mut self, path: &'a str, bytes: u64) -> Result<Found<'a>, ExtError> {
        let place = self.free_place(path)?;
        self.check_length(bytes)?;
        self.want_room(bytes.div_ceil(PAGE))?;
        let group = self.group_of(place.directory);
        let mode = REGULAR | 0o644;
        let number = self.library.new_inode(group, mode)?;
        let name = place.name.as_bytes();
        let entry = NewEntry {
            inode: number,
            kind: 1,
        };
        self.link(place.directory, name, entry)?;
        self.library.count_inode(number, true, false);
        self.changed_inodes.insert(self.group_of(number));
        let extents = self.version == Version::Ext4;
        let mut inode = RawInode::new(mode, extents, self.library.now());
        self.library.write_inode(number, &mut inode)?;
        Ok(Found {
            place,
            number,
            inode,
        })
    }

    fn check_length(&self, bytes: u64) -> Result<(), ExtError> {
        let longest = match self.version {
            Version::Ext4 => LONGEST,
            _ => LONGEST_INDIRECT,
        };
        match bytes <= longest {
            true => Ok(()),
            false => Err(ExtError::TooLong(bytes)),
        }
    }

    /// Creates a file with `bytes` bytes, which `fill` gives. There is no such file after an error.
    pub(crate) fn create_with(
        &mut self,
        path: &str,
        bytes: u64,
        fill: Fill<'_>,
    ) -> Result<(), ExtError> {
        let found = self.make_file(path, bytes)?;
        if let Err(error) = self.append_to(found, bytes, fill) {
            self.delete(path)?;
            return Err(error);
        }
        Ok(())
    }

    /// Appends to a file.
    pub(crate) fn append_with(
        &mut self,
        path: &str,
        bytes: u64,
        fill: Fill<'_>,
    ) -> Result<(), ExtError> {
        let found = self.find_file(path)?;
        self.append_to(found, bytes, fill)
    }

    fn find_file<'a>(&mut self, path: &'a str) -> Result<Found<'a>, ExtError> {
        let found = self.find(path)?;
        match found.inode.mode() & TYPE {
            REGULAR => Ok(found),
            mode => Err(kind(path, mode == DIRECTORY)),
        }
    }

    fn append_to(&mut self, found: Found<'_>, bytes: u64, fill: Fill<'_>) -> Result<(), ExtError> {
        if bytes == 0 {
            return Ok(());
        }
        let Found {
            place,
            number,
            mut inode,
        } = found;
        let dirty = self.pages.of(number);
        let size = dirty.map_or(inode.size(), |dirty| dirty.size);
        let first = size / PAGE;
        let old = !size.is_multiple_of(PAGE)
            && dirty.is_none_or(|dirty| !dirty.pages.contains_key(&first));
        self.check_length(size + bytes)?;
        self.want_room((size + bytes).div_ceil(PAGE) - size.div_ceil(PAGE))?;
        let mut last = None;
        let mut hole = false;
        if old {
            let block = self.library.block_of(number, &mut inode, first)?;
            hole = block.is_none();
            last = match self.pages.take_clean(number, first) {
                Some(data) => Some(data),
                None => Some(self.read_block(block)?),
            };
        }
        self.pages.make(number, size).parent = place.directory;
        let filled = self.fill_pages(number, [size, size + bytes], last, fill);
        let mapped = self.pages.of(number).map_or(0, |dirty| dirty.mapped);
        let reached = filled.as_ref().copied().unwrap_or(size).div_ceil(PAGE);
        let homeless = reached.saturating_sub(mapped.max(size.div_ceil(PAGE))) + u64::from(hole);
        let new = reached - size.div_ceil(PAGE) + u64::from(old);
        self.pages.count(number, new, homeless);
        if !self.delayed && filled.is_ok() {
            self.allocate_now(number, &mut inode, size)?;
        }
        self.close_file(number);
        filled.map_err(|source| disk_error("read what is to be written", source))?;
        self.sync_if_large()
    }

    /// Fills the pages of a range of bytes at the end of a file; `old` has the contents of the first. Returns the new size.
    fn fill_pages(
        &mut self,
        number: u32,
        range: [u64; 2],
        mut old: Option<Box<Block>>,
        fill: Fill<'_>,
    ) -> io::Result<u64> {
        let [size, end] = range;
        let mut at = size;
        while at < end {
            let page = at / PAGE;
            let to = end.min((page + 1) * PAGE);
            let within = (at % PAGE) as usize;
            let is_new = within == 0;
            let mut data = match (
                self.pages.make(number, size).pages.remove(&page),
                old.take(),
            ) {
                (Some(data), _) | (None, Some(data)) => data,
                _ => self.pages.buffer(),
            };
            let count = (to - at) as usize;
            if is_new {
                data[count..].fill(0);
            }
            let filled = fill(at, &mut data[within..within + count]);
            let dirty = self.pages.make(number, size);
            if filled.is_ok() || !is_new {
                dirty.pages.insert(page, data);
            }
            filled?;
            at = to;
            dirty.size = at;
        }
        Ok(end)
    }

    /// Gives the pages behind `size` their blocks, one by one, as a program's writes of 4 KiB do.
    fn allocate_now(
        &mut self,
        number: u32,
        inode: &mut RawInode,
        size: u64,
    ) -> Result<(), ExtError> {
        let dirty = self.pages.of(number);
        let end = dirty.map_or(size, |dirty| dirty.size);
        let parent = dirty.map_or(ROOT, |dirty| dirty.parent);
        for page in size / PAGE..end.div_ceil(PAGE) {
            if self.library.block_of(number, inode, page)?.is_none() {
                inode.set_size(end.min((page + 1) * PAGE));
                self.allocate([number, parent], inode, [page, page + 1])?;
            }
        }
        inode.set_size(end);
        self.pages.housed(number);
        self.library.write_inode(number, inode)
    }

    fn close_file(&mut self, number: u32) {
        let mut shared = self.library.shared().borrow_mut();
        if let Some(allocation) = &mut shared.allocation {
            allocation.close(FileId(number));
        }
    }

    fn read_block(&mut self, block: Option<u64>) -> Result<Box<Block>, ExtError> {
        let mut data = Box::new([0; BLOCK]);
        if let Some(block) = block {
            let read = self
                .library
                .shared()
                .borrow_mut()
                .disk
                .read(block, data.as_mut_slice());
            read.map_err(|source| disk_error("read data", source))?;
        }
        Ok(data)
    }

    /// Length of a file in bytes.
    ///
    /// # Errors
    /// [`ExtError::Missing`], [`ExtError::Kind`].
    pub fn size(&mut self, path: &str) -> Result<u64, ExtError> {
        let found = self.find_file(path)?;
        let dirty = self.pages.of(found.number);
        Ok(dirty.map_or(found.inode.size(), |dirty| dirty.size))
    }

    /// Reads at most `bytes` bytes of a file from its beginning, and gives them page by page with their offset.
    ///
    /// # Errors
    /// [`ExtError::Missing`], [`ExtError::Kind`], [`ExtError::Io`].
    pub fn read(
        &mut self,
        path: &str,
        bytes: u64,
        each: &mut dyn FnMut(u64, &[u8]) -> io::Result<()>,
    ) -> Result<u64, ExtError> {
        let mut found = self.find_file(path)?;
        let (number, inode) = (found.number, &mut found.inode);
        let size = self
            .pages
            .of(number)
            .map_or(inode.size(), |dirty| dirty.size);
        let end = size.min(bytes);
        let given = |result: io::Result<()>| {
            result.map_err(|source| disk_error("pass on what was read", source))
        };
        for page in 0..end.div_ceil(PAGE) {
            let count = (end - page * PAGE).min(PAGE) as usize;
            if let Some(data) = self.pages.get(number, page) {
                given(each(page * PAGE, &data[..count]))?;
                continue;
            }
            let block = self.library.block_of(number, inode, page)?;
            let data = self.read_block(block)?;
            given(each(page * PAGE, &data[..count]))?;
        }
        Ok(end)
    }

    /// Deletes a file or a symbolic link.
    ///
    /// # Errors
    /// [`ExtError::Missing`], [`ExtError::Kind`].
    pub fn delete(&mut self, path: &str) -> Result<(), ExtError> {
        let found = self.find(path)?;
        match found.inode.mode() & TYPE {
            REGULAR | LINK => {}
            mode => return Err(kind(path, mode == DIRECTORY)),
        }
        self.remove(found, false)?;
        self.sync_if_large()
    }

    /// Makes a directory.
    ///
    /// # Errors
    /// [`ExtError::Exists`], [`ExtError::Missing`] for its parent, [`ExtError::Name`], [`ExtError::Full`],
    /// [`ExtError::NoInode`].
    pub fn make_directory(&mut self, path: &str) -> Result<(), ExtError> {
        let place = self.free_place(path)?;
        self.want_room(2)?;
        let group = self.place_directory(place.directory);
        let number = self.library.new_inode(group, DIRECTORY)?;
        let name = place.name.as_bytes();
        self.library.make_directory(place.directory, number, None)?;
        self.changed_inodes.insert(self.group_of(number));
        let entry = NewEntry {
            inode: number,
            kind: 2,
        };
        self.link(place.directory, name, entry)?;
        self.sync_if_large()
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    /// [`ExtError::NotEmpty`], [`ExtError::Missing`], [`ExtError::Kind`].
    pub fn remove_directory(&mut self, path: &str) -> Result<(), ExtError> {
        let found = self.find(path)?;
        if found.inode.mode() & TYPE != DIRECTORY {
            return Err(kind(path, false));
        }
        if !self.load(found.number)?.names.is_empty() {
            return Err(ExtError::NotEmpty(path.into()));
        }
        let parent = found.place.directory;
        self.directories.remove(&found.number);
        self.remove(found, true)?;
        let mut inode = self.library.read_inode(parent)?;
        // Its `..` was a link; 1 stands for more than can be counted.
        inode.set_links(inode.links().max(2) - 1);
        self.library.write_inode(parent, &mut inode)
    }

    /// Removes an entry, and its inode with all blocks if it was the last.
    fn remove(&mut self, found: Found<'_>, directory: bool) -> Result<(), ExtError> {
        let Found {
            place,
            number,
            mut inode,
        } = found;
        let name = place.name.as_bytes();
        self.unlink(place.directory, name)?;
        if !directory && inode.links() > 1 {
            inode.set_links(inode.links() - 1);
            return self.library.write_inode(number, &mut inode);
        }
        self.pages.forget(number);
        self.close_file(number);
        if inode.short_link().is_none() || inode.mode() & TYPE != LINK {
            let owned = self.library.blocks_of(number, &inode)?;
            for block in owned.data.into_iter().chain(owned.map) {
                self.library.free_block(block);
            }
        }
        if let Some(block) = inode.attributes() {
            if self.library.leave_attributes(number, block)? {
                self.library.free_block(block);
            }
            inode.clear_attributes();
        }
        inode.set_links(0);
        inode.set_deleted(self.library.now());
        self.library.write_inode(number, &mut inode)?;
        self.library.count_inode(number, false, directory);
        self.changed_inodes.insert(self.group_of(number));
        Ok(())
    }

    /// The group for a directory: one of the root goes where there are many free inodes and few directories, as Linux
    /// does (Orlov); another stays near its parent.
    fn place_directory(&mut self, parent: u32) -> u32 {
        let groups = self.library.groups();
        if parent != ROOT {
            return self.group_of(parent);
        }
        let flex = self.flex();
        let runs = groups.div_ceil(flex);
        let mut best: Option<[u32; 2]> = None;
        for step in 1..=runs {
            let run = (self.spread + step) % runs;
            let [free, directories] = self.library.inodes_of(run * flex);
            if free > 0 && best.is_none_or(|[least, _]| directories < least) {
                best = Some([directories, run]);
            }
        }
        let run = best.map_or(0, |[_, run]| run);
        self.spread = run;
        run * flex
    }
}
