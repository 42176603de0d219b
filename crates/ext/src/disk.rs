//! What an image is written to: blocks of 4 KiB that are read, written and flushed.

use fathom_fs::BLOCK_BYTES;
use std::fs::File;
use std::io::{self, IoSlice};
use std::os::unix::fs::FileExt as _;

/// Bytes of a block.
pub(crate) const BLOCK: usize = BLOCK_BYTES as usize;
/// Blocks that are written as zeroes with one call.
const ZEROES: usize = 64;

/// A place for an image. Blocks are counted from 0. Writes may be lost or come in any order until they are flushed.
pub trait Disk: Send {
    /// Number of blocks.
    fn blocks(&self) -> u64;

    /// Reads blocks from `block` on; the buffer is a whole number of them.
    ///
    /// # Errors
    /// Those of the operating system; the blocks lie beyond the end.
    fn read(&mut self, block: u64, into: &mut [u8]) -> io::Result<()>;

    /// Writes blocks from `block` on; the buffer is a whole number of them.
    ///
    /// # Errors
    /// Those of the operating system; the blocks lie beyond the end.
    fn write(&mut self, block: u64, from: &[u8]) -> io::Result<()>;

    /// Writes blocks from `block` on that lie in several places of memory, each a whole number of blocks.
    ///
    /// # Errors
    /// See [`Disk::write`].
    fn write_parts(&mut self, block: u64, parts: &[IoSlice<'_>]) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(parts.len() * BLOCK);
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        self.write(block, &bytes)
    }

    /// Makes all writes so far durable.
    ///
    /// # Errors
    /// Those of the operating system.
    fn flush(&mut self) -> io::Result<()>;

    /// Makes blocks zero.
    ///
    /// # Errors
    /// See [`Disk::write`].
    fn zero(&mut self, block: u64, blocks: u64) -> io::Result<()> {
        write_zeroes(self, block, blocks)
    }
}

fn write_zeroes(disk: &mut (impl Disk + ?Sized), block: u64, blocks: u64) -> io::Result<()> {
    let zeroes = vec![0; ZEROES * BLOCK];
    let mut at = block;
    while at < block + blocks {
        let run = (block + blocks - at).min(ZEROES as u64);
        disk.write(at, &zeroes[..run as usize * BLOCK])?;
        at += run;
    }
    Ok(())
}

/// An open file or block device.
#[derive(Debug)]
pub(crate) struct FileDisk {
    file: File,
    blocks: u64,
    /// Whether all that was never written is zero.
    fresh: bool,
    /// Whether a flush waits for the medium.
    durable: bool,
}

impl FileDisk {
    pub(crate) fn new(file: File, blocks: u64, fresh: bool, durable: bool) -> Self {
        Self {
            file,
            blocks,
            fresh,
            durable,
        }
    }

    fn check(&self, block: u64, bytes: usize) -> io::Result<()> {
        match block
            .checked_add((bytes / BLOCK) as u64)
            .is_some_and(|end| end <= self.blocks)
        {
            true => Ok(()),
            false => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
        }
    }
}

impl Disk for FileDisk {
    fn blocks(&self) -> u64 {
        self.blocks
    }

    fn read(&mut self, block: u64, into: &mut [u8]) -> io::Result<()> {
        self.check(block, into.len())?;
        self.file.read_exact_at(into, block * BLOCK_BYTES)
    }

    fn write(&mut self, block: u64, from: &[u8]) -> io::Result<()> {
        self.check(block, from.len())?;
        self.file.write_all_at(from, block * BLOCK_BYTES)
    }

    fn write_parts(&mut self, block: u64, parts: &[IoSlice<'_>]) -> io::Result<()> {
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        self.check(block, bytes)?;
        let offset = block * BLOCK_BYTES;
        let mut done = rustix::io::pwritev(&self.file, parts, offset)?;
        // The rest of a write that was cut short.
        let mut at = offset;
        for part in parts {
            let written = done.min(part.len());
            done -= written;
            if written < part.len() {
                let rest = &part[written..];
                self.file.write_all_at(rest, at + written as u64)?;
            }
            at += part.len() as u64;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.durable {
            true => self.file.sync_data(),
            false => Ok(()),
        }
    }

    fn zero(&mut self, block: u64, blocks: u64) -> io::Result<()> {
        if self.fresh {
            return Ok(());
        }
        write_zeroes(self, block, blocks)
    }
}
