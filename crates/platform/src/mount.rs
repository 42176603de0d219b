//! A mounted file system: where it lies on the drive, and the dirty pages that have no block yet.

use fathom_base::Bytes;
use fathom_fs::{BLOCK_BYTES, FileId, METADATA, PageKey, Volume};
use rustc_hash::FxHashMap;

/// A file system on a part of a drive, as a program finds it.
#[derive(Debug)]
pub struct Mount {
    /// The file system.
    pub volume: Volume,
    /// Where it begins on the drive; a multiple of 4 KiB.
    pub start: Bytes,
    /// Whether pages get their blocks when they are written to the drive (delayed allocation of ext4) and not when a
    /// program writes them.
    pub delayed: bool,
    /// The directories that programs name by their index.
    pub directories: Vec<FileId>,
}

/// A mount with its pages that have no block yet.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) mount: Mount,
    homeless: FxHashMap<FileId, u64>,
    all: u64,
}

impl Files {
    pub(super) fn new(mount: Mount) -> Self {
        Self {
            mount,
            homeless: FxHashMap::default(),
            all: 0,
        }
    }

    /// Number of dirty pages without a block.
    pub(super) fn homeless(&self) -> u64 {
        self.all
    }

    /// Whether a page gets a block when it is written to the drive: it has none, or the file system moves it.
    pub(super) fn is_homeless(&self, key: PageKey) -> bool {
        let volume = &self.mount.volume;
        volume.moves() || volume.find(key.file, key.page).is_none()
    }

    /// Counts a page that became dirty.
    pub(super) fn soil(&mut self, key: PageKey) {
        if self.mount.delayed && self.is_homeless(key) {
            *self.homeless.entry(key.file).or_default() += 1;
            self.all += 1;
        }
    }

    /// Uncounts pages that are given blocks.
    pub(super) fn house(&mut self, file: FileId, pages: u64) {
        if let Some(count) = self.homeless.get_mut(&file) {
            let pages = pages.min(*count);
            *count -= pages;
            self.all -= pages;
        }
    }

    /// Uncounts all pages of a deleted file.
    pub(super) fn forget(&mut self, file: FileId) {
        self.all -= self.homeless.remove(&file).unwrap_or(0);
    }

    /// The place of a page on the drive, in bytes, and the number of pages from it on, at most `most`, that follow it
    /// there; `None` if it has none.
    pub(super) fn run(&self, key: PageKey, most: u32) -> Option<(u64, u32)> {
        let (block, run) = match key.file {
            METADATA => (u64::from(key.page), u64::from(most)),
            file => self.mount.volume.find(file, key.page)?,
        };
        let pages = run.min(u64::from(most)) as u32;
        Some((self.mount.start.0 + block * BLOCK_BYTES, pages))
    }
}

/// A block of metadata as a page.
pub(super) fn metadata(block: u64) -> PageKey {
    PageKey {
        file: METADATA,
        page: block as u32,
    }
}
