//! Runs a stream of operations on an image.

use crate::contents::fill;
use crate::disk::BLOCK;
use crate::error::ExtError;
use crate::image::Image;
use crate::written::Written;
use fathom_fs::{BLOCK_BYTES, Operation};
use std::collections::BTreeSet;

/// What a stream did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Number of operations, syncs included.
    pub operations: u64,
    /// Number of syncs that the stream asked for.
    pub syncs: u64,
    /// Number of syncs that began because much was dirty.
    pub own_syncs: u64,
    /// Bytes that the operations wrote and read.
    pub bytes: u64,
    /// Bytes of data written to the image, whole blocks.
    pub data_bytes: u64,
    /// Number of requests that wrote data.
    pub data_requests: u64,
    /// Bytes written into the journal.
    pub journal_bytes: u64,
    /// Bytes of metadata written to their places.
    pub metadata_bytes: u64,
    /// Number of logical blocks that data was written to, summed over the syncs that wrote data.
    pub touched: u64,
    /// Number of syncs that wrote data.
    pub touching: u64,
}

impl Summary {
    /// Mean number of logical blocks with data for each sync that wrote data.
    pub fn touched_per_sync(&self) -> f64 {
        self.touched as f64 / self.touching.max(1) as f64
    }

    /// Counts a sync. `logical_block` is the number of blocks of a logical block.
    pub(crate) fn add(&mut self, written: &Written, logical_block: u64) {
        let blocks: u64 = written.data.iter().map(|extent| extent.blocks).sum();
        self.data_bytes += blocks * BLOCK_BYTES;
        self.data_requests += written.data.len() as u64;
        self.journal_bytes += written.journal * BLOCK_BYTES;
        self.metadata_bytes += written.metadata * BLOCK_BYTES;
        let logical = |block: u64| block / logical_block.max(1);
        let extents = written.data.iter();
        let touched = extents.flat_map(|extent| logical(extent.start)..=logical(extent.end() - 1));
        let touched = touched.collect::<BTreeSet<u64>>().len() as u64;
        self.touched += touched;
        self.touching += u64::from(touched > 0);
    }
}

/// Reads operations, one a line, as [`Image::run`] does.
///
/// # Errors
/// [`ExtError::Operation`] for the first line that is none.
pub fn operations(text: &str) -> Result<Vec<Operation>, ExtError> {
    let read = |(index, line): (usize, &str)| {
        let line_number = index + 1;
        line.parse().map_err(|source| ExtError::Operation {
            line: line_number,
            source,
        })
    };
    text.lines().enumerate().map(read).collect()
}

impl Image {
    /// Performs an operation. The contents of files are those of [`crate::fill`]. Returns what a sync wrote.
    ///
    /// # Errors
    /// See the operations of [`Image`].
    pub fn perform(&mut self, operation: &Operation) -> Result<Option<Written>, ExtError> {
        match operation {
            Operation::MakeDirectory(path) => self.make_directory(path)?,
            Operation::Create(path, bytes) => {
                self.create_with(path, *bytes, &mut |at, into| {
                    fill(path, at, into);
                    Ok(())
                })?;
            }
            Operation::Append(path, bytes) => self.append_with(path, *bytes, &mut |at, into| {
                fill(path, at, into);
                Ok(())
            })?,
            Operation::Read(path, bytes) => {
                self.read(path, *bytes, &mut |_, _| Ok(()))?;
            }
            Operation::Delete(path) => self.delete(path)?,
            Operation::RemoveDirectory(path) => self.remove_directory(path)?,
            Operation::Sync => return self.sync().map(Some),
        }
        Ok(None)
    }

    /// Performs the operations of a text, one a line, as [`Self::run_all`].
    ///
    /// # Errors
    /// [`ExtError::Operation`] for a line that is none, and nothing is done; else as [`Self::run_all`].
    pub fn run(
        &mut self,
        text: &str,
        logical_block_bytes: u64,
        each: &mut dyn FnMut(&Written),
    ) -> Result<Summary, ExtError> {
        self.run_all(operations(text)?, logical_block_bytes, each)
    }

    /// Performs operations, and a sync at the end. `each` is told what each sync wrote.
    ///
    /// # Errors
    /// [`ExtError::AtOperation`] for the first one that fails; what was done before stays done.
    pub fn run_all(
        &mut self,
        operations: impl IntoIterator<Item = Operation>,
        logical_block_bytes: u64,
        each: &mut dyn FnMut(&Written),
    ) -> Result<Summary, ExtError> {
        let logical = logical_block_bytes / BLOCK as u64;
        let mut summary = Summary::default();
        for (number, operation) in (1..).zip(operations) {
            let at = |source: ExtError| ExtError::AtOperation {
                number,
                source: Box::new(source),
            };
            let done = self.perform(&operation).map_err(at)?;
            for written in self.take_unseen() {
                summary.own_syncs += 1;
                summary.add(&written, logical);
                each(&written);
            }
            if let Some(written) = done {
                summary.syncs += 1;
                summary.add(&written, logical);
                each(&written);
            }
            summary.operations += 1;
            if let Operation::Create(_, bytes)
            | Operation::Append(_, bytes)
            | Operation::Read(_, bytes) = operation
            {
                summary.bytes += bytes;
            }
        }
        let written = self.sync()?;
        if !written.data.is_empty() {
            summary.own_syncs += 1;
            summary.add(&written, logical);
            each(&written);
        }
        Ok(summary)
    }
}
