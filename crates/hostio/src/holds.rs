//! Examines the contents of a device or file, as far as they are inspected.

use crate::buffer::AlignedBuffer;
use crate::finding::Finding;
use crate::node::Node;
use crate::signature::{Contents, Signature, ask_blkid};
use rustix::fs::{Mode, OFlags};
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

/// Alignment of direct reads in bytes, a multiple of every logical block size.
const READ_ALIGN_BYTES: u64 = 64 << 10;

/// Adds the findings about a block device's contents. Returns a hash that changes if the inspected contents change.
pub(crate) fn of_block(path: &Path, node: &Node, found: &mut Vec<Finding>) -> u64 {
    let partitions = node.partitions();
    if !partitions.is_empty() {
        let partitions = partitions.into_iter().map(|p| p.name).collect();
        found.push(Finding::Partitioned { partitions });
    }
    if node.write_protected() {
        found.push(Finding::WriteProtected);
    }
    let size = node.size_bytes();
    let contents = past_the_cache(path)
        .and_then(|file| Contents::read(size, |offset, len| aligned(&file, size, offset, len)));
    held(path, contents, found)
}

/// Adds the findings about the contents read. Returns a hash that changes if these contents change; 0 if they could not be
/// read.
fn held(path: &Path, contents: io::Result<Contents>, found: &mut Vec<Finding>) -> u64 {
    match contents {
        Ok(contents) => {
            let mut signatures = contents.signatures();
            // A long signature needs no second opinion from blkid.
            if signatures.iter().all(Signature::is_short) && !contents.blank() {
                match ask_blkid(path) {
                    Some(told) if told.is_empty() || signatures.is_empty() => signatures = told,
                    _ => {}
                }
                found.extend(signatures.is_empty().then_some(Finding::UnknownData));
            }
            found.extend(signatures.into_iter().map(Finding::Signature));
            contents.stamp()
        }
        Err(error) => {
            found.push(Finding::Unread {
                reason: error.to_string(),
            });
            0
        }
    }
}

/// Opens a device for reading without the page cache. The cache does not show data that was written around it: through
/// another device over the same storage, or by a process with direct I/O.
fn past_the_cache(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags | OFlags::DIRECT, Mode::empty()) {
        Err(rustix::io::Errno::INVAL) => Ok(rustix::fs::open(path, flags, Mode::empty())?.into()),
        other => Ok(other?.into()),
    }
}

/// Reads bytes of a device of `size` bytes, in whole units of [`READ_ALIGN_BYTES`].
fn aligned(file: &File, size: u64, offset: u64, len: usize) -> io::Result<Vec<u8>> {
    let from = offset - offset % READ_ALIGN_BYTES;
    let end = (offset + len as u64)
        .next_multiple_of(READ_ALIGN_BYTES)
        .min(size);
    let mut buffer = AlignedBuffer::new(end - from)?;
    let bytes = &mut buffer.bytes_mut()[..(end - from) as usize];
    file.read_exact_at(bytes, from)?;
    let start = (offset - from) as usize;
    Ok(bytes[start..start + len].to_vec())
}

/// Adds the findings about a regular file. Returns a hash that changes if the inspected contents change.
pub(crate) fn of_file(path: &Path, metadata: &Metadata, found: &mut Vec<Finding>) -> u64 {
    found.push(Finding::ExistingFile);
    let names = metadata.nlink();
    found.extend((names > 1).then_some(Finding::HardLinks { names }));
    let allocated_bytes = metadata.blocks().saturating_mul(512);
    if allocated_bytes < metadata.len() {
        found.push(Finding::Sparse { allocated_bytes });
    }
    let contents = to_look_into(path).and_then(|file| {
        Contents::read(metadata.len(), |offset, len| {
            let mut bytes = vec![0; len];
            file.read_exact_at(&mut bytes, offset)?;
            Ok(bytes)
        })
    });
    held(path, contents, found)
}

/// Opens a file for reading, with the page cache, which includes direct writes to the same file and allows any length. Does
/// not block on a lease, nor on a pipe that has replaced the file.
fn to_look_into(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}
