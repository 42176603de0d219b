//! What a sync writes: data, then the changed metadata, through the journal if there is one.
//!
//! For each file with dirty pages, in the order in which they became dirty: blocks for the pages that have none, then the
//! size. Data is written in order of place, neighbours with one request; then the metadata, as one transaction. What was
//! freed may be taken again after that. If much metadata is dirty, this happens before all files are written.

use crate::allocation::GROUP_BLOCKS;
use crate::clean::Page;
use crate::disk::BLOCK;
use crate::error::ExtError;
use crate::ffi::RawInode;
use crate::image::Image;
use crate::inode::sb;
use crate::library::disk_error;
use crate::log::{Transaction, write_runs};
use crate::written::Written;
use fathom_fs::alloc::{Want, What};
use fathom_fs::{Extent, FileId};
use std::io::IoSlice;

/// Share of the log that a transaction may take before it is committed, as in JBD2.
const LARGEST_SHARE: u64 = 4;
/// Blocks of one request.
const LONGEST_REQUEST: u64 = 256;
/// Without a journal, as many dirty blocks of metadata make a sync begin.
const MOST_DIRTY: u64 = 8192;

/// A page on its way to the disk.
struct Going {
    place: u64,
    inode: u32,
    page: Page,
}

type Data = Vec<Going>;

impl Image {
    /// Writes all that is dirty, and waits until it is durable.
    ///
    /// # Errors
    /// [`ExtError::Io`], [`ExtError::Full`], [`ExtError::JournalTooSmall`].
    pub fn sync(&mut self) -> Result<Written, ExtError> {
        let mut written = Written::default();
        let mut data = Data::new();
        let files = self.pages.take_order();
        for &number in &files {
            self.announce(number)?;
        }
        for number in files {
            self.write_back(number, &mut data)?;
            if self.delayed && self.is_transaction_large() {
                self.commit(std::mem::take(&mut data), &mut written)?;
            }
        }
        self.tell_synced();
        self.commit(data, &mut written)?;
        written.data.sort_unstable();
        Ok(written)
    }

    pub(crate) fn sync_if_large(&mut self) -> Result<(), ExtError> {
        match self.pages.dirty() > self.dirty_limit_pages || self.is_transaction_large() {
            true => self.sync_unasked(),
            false => Ok(()),
        }
    }

    /// A sync that begins by itself.
    pub(crate) fn sync_unasked(&mut self) -> Result<(), ExtError> {
        let written = self.sync()?;
        self.unseen.push(written);
        Ok(())
    }

    /// What syncs wrote that began by themselves, since the last call.
    pub(crate) fn take_unseen(&mut self) -> Vec<Written> {
        std::mem::take(&mut self.unseen)
    }

    fn is_transaction_large(&self) -> bool {
        let most = self
            .log
            .as_ref()
            .map_or(MOST_DIRTY, |log| log.blocks() / LARGEST_SHARE);
        // Bitmaps and descriptors follow at the commit.
        let groups = 2 * self.changed_inodes.len() as u64;
        self.library.shared().borrow().meta.dirty() + groups > most * 3 / 4
    }

    /// Tells the allocator which blocks are written in place.
    fn announce(&mut self, number: u32) -> Result<(), ExtError> {
        let Some(dirty) = self.pages.of(number) else {
            return Ok(());
        };
        let pages: Vec<u64> = dirty
            .pages
            .range(..dirty.mapped)
            .map(|(page, _)| *page)
            .collect();
        if pages.is_empty() {
            return Ok(());
        }
        let mut inode = self.library.read_inode(number)?;
        for page in pages {
            let block = self.library.block_of(number, &mut inode, page)?;
            let mut shared = self.library.shared().borrow_mut();
            if let (Some(block), Some(allocation)) = (block, &mut shared.allocation) {
                allocation.allocator.rewrites(Extent::new(block, 1));
            }
        }
        Ok(())
    }

    fn tell_synced(&mut self) {
        let mut shared = self.library.shared().borrow_mut();
        if let Some(allocation) = &mut shared.allocation {
            allocation.allocator.synced();
        }
    }

    /// Gives the dirty pages of a file blocks and sets its size.
    fn write_back(&mut self, number: u32, data: &mut Data) -> Result<(), ExtError> {
        let Some(dirty) = self.pages.take(number) else {
            return Ok(());
        };
        let mut inode = self.library.read_inode(number)?;
        inode.set_size(dirty.size.max(inode.size()));
        let mut pages = dirty.pages.into_iter().peekable();
        while let Some((page, block)) = pages.next() {
            if page < dirty.mapped
                && let Some(place) = self.library.block_of(number, &mut inode, page)?
            {
                data.push(Going {
                    place,
                    inode: number,
                    page: Page { page, data: block },
                });
                continue;
            }
            // A run of pages without blocks: all behind the mapped ones, or this one.
            let mut run = vec![block];
            while page >= dirty.mapped
                && let Some((_, block)) = pages.next_if(|(at, _)| *at == page + run.len() as u64)
            {
                run.push(block);
            }
            let places = self.allocate(
                [number, dirty.parent],
                &mut inode,
                [page, page + run.len() as u64],
            )?;
            let places = places
                .into_iter()
                .flat_map(|extent| extent.start..extent.end());
            let going = |(index, place): (usize, u64), data| Going {
                place,
                inode: number,
                page: Page {
                    page: page + index as u64,
                    data,
                },
            };
            data.extend(
                places
                    .enumerate()
                    .zip(run)
                    .map(|(at, block)| going(at, block)),
            );
        }
        self.library.write_inode(number, &mut inode)
    }

    /// Number of groups whose metadata lie together.
    pub(crate) fn flex(&self) -> u32 {
        let superblock = self.library.superblock();
        match superblock.u32(sb::INCOMPAT) & sb::FLEX_BG {
            0 => 1,
            _ => 1 << (superblock.u32(sb::LOG_FLEX) & 0x1f).min(16),
        }
    }

    /// Where the format would put a file: Linux leaves the first group of a run of groups to directories.
    fn home(&self, number: u32) -> u64 {
        let group = self.group_of(number);
        let flex = self.flex();
        let group = match flex {
            4.. => (group / flex * flex + 1).min(self.library.groups() - 1),
            _ => group,
        };
        u64::from(group) * GROUP_BLOCKS
    }

    /// Gives a range of pages, which are a hole, their blocks. `files` are the file and its directory.
    pub(crate) fn allocate(
        &mut self,
        files: [u32; 2],
        inode: &mut RawInode,
        pages: [u64; 2],
    ) -> Result<Vec<Extent>, ExtError> {
        let [number, parent] = files;
        let [mut page, end] = pages;
        let before = page.checked_sub(1);
        let mut after = match before {
            Some(before) => self.library.block_of(number, inode, before)?,
            None => None,
        };
        let home = self.home(number);
        let mut taken = Vec::new();
        while page < end {
            let want = Want {
                file: FileId(number),
                what: What::Data,
                page: page as u32,
                blocks: end - page,
                size: inode.size().div_ceil(BLOCK as u64).max(end),
                open: !self.delayed,
                home,
                after,
                extents: inode.has_extents(),
                inode: number - 1,
                parent: FileId(parent),
                processor: 0,
            };
            let extent = self.take(&want)?;
            self.library.enter_blocks(number, inode, page, extent)?;
            page += extent.blocks;
            after = Some(extent.end() - 1);
            taken.push(extent);
        }
        Ok(taken)
    }

    fn take(&mut self, want: &Want) -> Result<Extent, ExtError> {
        let mut shared = self.library.shared().borrow_mut();
        let allocation = shared.allocation.as_mut();
        let taken = allocation.and_then(|allocation| {
            let space = &mut allocation.space;
            allocation.allocator.allocate(space, want)
        });
        taken.ok_or(ExtError::Full {
            wanted: want.blocks,
            free: 0,
        })
    }

    /// Writes data, then all changed metadata.
    fn commit(&mut self, mut data: Data, written: &mut Written) -> Result<(), ExtError> {
        data.sort_unstable_by_key(|going| going.place);
        self.write_data(&data, written)?;
        for Going { inode, page, .. } in data {
            self.pages.keep(inode, page);
        }
        let blocks: Vec<u32> = {
            let mut shared = self.library.shared().borrow_mut();
            let changed = shared
                .allocation
                .as_mut()
                .map(|of| std::mem::take(&mut of.changed));
            changed.into_iter().flatten().collect()
        };
        let inodes: Vec<u32> = std::mem::take(&mut self.changed_inodes)
            .into_iter()
            .collect();
        self.library.flush(&blocks, &inodes)?;
        let mut shared = self.library.shared().borrow_mut();
        let shared = &mut *shared;
        let freed = match &shared.allocation {
            Some(allocation) => allocation.freed.clone(),
            None => Vec::new(),
        };
        freed.iter().for_each(|&block| shared.meta.forget(block));
        let transaction = Transaction {
            blocks: shared.meta.take_dirty(),
            freed,
        };
        let disk = shared.disk.as_mut();
        let failed = |source| disk_error("write metadata", source);
        let log = self.log.as_mut();
        if transaction.blocks.is_empty() && transaction.freed.is_empty() {
            return disk.flush().map_err(failed);
        }
        match log {
            None => {
                disk.flush().map_err(failed)?;
                written.metadata += transaction.blocks.len() as u64;
                let written = write_runs(disk, &transaction.blocks);
                written.and_then(|()| disk.flush()).map_err(failed)?;
            }
            Some(log) => {
                let needed = log.needs(&transaction);
                let blocks = log.blocks();
                if needed > blocks {
                    return Err(ExtError::JournalTooSmall { needed, blocks });
                }
                written.transactions += 1;
                written.add(
                    log.commit(disk, transaction, self.library.now())
                        .map_err(failed)?,
                );
                if log.is_half_full() {
                    written.add(log.checkpoint(disk).map_err(failed)?);
                }
                shared.meta.shrink(|block| log.has(block));
            }
        }
        if let Some(allocation) = &mut shared.allocation {
            allocation.release();
        }
        Ok(())
    }

    fn write_data(&mut self, data: &Data, written: &mut Written) -> Result<(), ExtError> {
        let numbers: Vec<u64> = data.iter().map(|going| going.place).collect();
        let mut shared = self.library.shared().borrow_mut();
        let mut blocks = data.iter();
        for run in Extent::runs(&numbers) {
            let mut at = run.start;
            while at < run.end() {
                let count = (run.end() - at).min(LONGEST_REQUEST);
                let parts = blocks.by_ref().take(count as usize);
                let parts: Vec<IoSlice<'_>> = parts
                    .map(|going| IoSlice::new(going.page.data.as_slice()))
                    .collect();
                let result = shared.disk.write_parts(at, &parts);
                result.map_err(|source| disk_error("write data", source))?;
                at += count;
            }
            written.data.push(run);
        }
        Ok(())
    }
}
