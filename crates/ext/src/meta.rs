//! The blocks of metadata in memory: what the library reads and writes, and which of it has changed.
//!
//! A write that changes nothing makes nothing dirty: the library writes whole tables where one entry changed. A block that
//! is in a committed transaction shares its contents with the cache until the next change.

use crate::disk::{BLOCK, Disk};
use rustc_hash::FxHashMap;
use std::io;
use std::sync::Arc;

/// Contents of a block.
pub(crate) type Block = [u8; BLOCK];
/// Clean blocks are forgotten when more than this many are cached (256 MiB).
const MOST_CACHED: usize = 65_536;

#[derive(Debug)]
struct Cached {
    data: Arc<Block>,
    dirty: bool,
}

/// The cache.
#[derive(Debug, Default)]
pub(crate) struct Meta {
    blocks: FxHashMap<u64, Cached>,
    /// The dirty ones, and some that were forgotten since.
    dirty: Vec<u64>,
}

impl Meta {
    fn cached(&mut self, disk: &mut dyn Disk, block: u64) -> io::Result<&mut Cached> {
        if !self.blocks.contains_key(&block) {
            let mut data = Box::new([0; BLOCK]);
            disk.read(block, data.as_mut_slice())?;
            self.insert(block, Arc::from(data), false);
        }
        let cached = self.blocks.get_mut(&block);
        cached.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn insert(&mut self, block: u64, data: Arc<Block>, dirty: bool) {
        self.blocks.insert(block, Cached { data, dirty });
    }

    /// Reads bytes at an offset in bytes from the beginning.
    pub(crate) fn read(
        &mut self,
        disk: &mut dyn Disk,
        offset: u64,
        into: &mut [u8],
    ) -> io::Result<()> {
        let mut done = 0;
        while done < into.len() {
            let at = offset + done as u64;
            let within = (at % BLOCK as u64) as usize;
            let count = (BLOCK - within).min(into.len() - done);
            let cached = self.cached(disk, at / BLOCK as u64)?;
            into[done..done + count].copy_from_slice(&cached.data[within..within + count]);
            done += count;
        }
        Ok(())
    }

    /// Writes bytes at an offset in bytes from the beginning.
    pub(crate) fn write(
        &mut self,
        disk: &mut dyn Disk,
        offset: u64,
        from: &[u8],
    ) -> io::Result<()> {
        let mut done = 0;
        while done < from.len() {
            let at = offset + done as u64;
            let (block, within) = (at / BLOCK as u64, (at % BLOCK as u64) as usize);
            let bytes = &from[done..(done + BLOCK - within).min(from.len())];
            self.write_within(disk, block, within, bytes)?;
            done += bytes.len();
        }
        Ok(())
    }

    fn write_within(
        &mut self,
        disk: &mut dyn Disk,
        block: u64,
        within: usize,
        bytes: &[u8],
    ) -> io::Result<()> {
        if let Ok(whole) = <&Block>::try_from(bytes)
            && !self.blocks.contains_key(&block)
        {
            // New metadata: what was there before is of no interest.
            self.insert(block, Arc::new(*whole), true);
            self.dirty.push(block);
            return Ok(());
        }
        let cached = self.cached(disk, block)?;
        let range = within..within + bytes.len();
        if cached.data[range.clone()] == *bytes {
            return Ok(());
        }
        Arc::make_mut(&mut cached.data)[range].copy_from_slice(bytes);
        if !cached.dirty {
            cached.dirty = true;
            self.dirty.push(block);
        }
        Ok(())
    }

    /// Changes a block in place; `change` tells whether it did.
    pub(crate) fn change(
        &mut self,
        disk: &mut dyn Disk,
        block: u64,
        change: impl FnOnce(&mut Block) -> bool,
    ) -> io::Result<bool> {
        let cached = self.cached(disk, block)?;
        let changed = change(Arc::make_mut(&mut cached.data));
        if changed && !cached.dirty {
            cached.dirty = true;
            self.dirty.push(block);
        }
        Ok(changed)
    }

    /// Number of dirty blocks, or a little more.
    pub(crate) fn dirty(&self) -> u64 {
        self.dirty.len() as u64
    }

    /// Takes the dirty blocks, in order of place; they are clean then.
    pub(crate) fn take_dirty(&mut self) -> Vec<(u64, Arc<Block>)> {
        let mut numbers = std::mem::take(&mut self.dirty);
        numbers.sort_unstable();
        numbers.dedup();
        let mut taken = Vec::with_capacity(numbers.len());
        for block in numbers {
            if let Some(cached) = self.blocks.get_mut(&block)
                && std::mem::take(&mut cached.dirty)
            {
                taken.push((block, cached.data.clone()));
            }
        }
        taken
    }

    /// Forgets a block: it is no metadata any more.
    pub(crate) fn forget(&mut self, block: u64) {
        self.blocks.remove(&block);
    }

    /// Forgets clean blocks if there are many. A block whose place has older contents is kept: `needed` tells.
    pub(crate) fn shrink(&mut self, needed: impl Fn(u64) -> bool) {
        if self.blocks.len() > MOST_CACHED {
            self.blocks
                .retain(|&block, cached| cached.dirty || needed(block));
        }
    }
}
