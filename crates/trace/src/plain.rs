//! Decompression of an input, if it is compressed. Memory is bounded, whatever the input's headers ask for.

use super::compress::{Compression, tell};
use super::error::ErrorKind;
use super::parts::{GzipMembers, XzStreams, ZstdFrames};
use std::io::{self, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes examined to detect the compression; the magic number of a tar archive is at byte 257.
const HEAD_BYTES: usize = 512;

/// A decompressed input, with its compression and the number of compressed bytes read.
pub(super) struct Plain {
    pub(super) bytes: Box<dyn Read + Send>,
    pub(super) compression: Compression,
    position: Arc<AtomicU64>,
}

/// Counts the bytes read from an input.
struct Counted {
    input: Box<dyn Read + Send>,
    position: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.position.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Opens an input for reading its decompressed bytes.
pub(super) fn plain(input: Box<dyn Read + Send>) -> Plain {
    let position = Arc::new(AtomicU64::new(0));
    let mut input = Counted {
        input,
        position: Arc::clone(&position),
    };
    let mut head = Vec::with_capacity(HEAD_BYTES);
    let read = input
        .by_ref()
        .take(HEAD_BYTES as u64)
        .read_to_end(&mut head);
    let compression = tell(&head);
    // The bytes read before a failure are returned first.
    let whole = BufReader::new(Cursor::new(head).chain(Failure(read.err())).chain(input));
    let bytes: Box<dyn Read + Send> = match compression {
        Compression::None => Box::new(whole.into_inner()),
        Compression::Gzip => Box::new(GzipMembers::new(whole)),
        Compression::Zstd => Box::new(ZstdFrames::new(whole)),
        Compression::Xz => Box::new(XzStreams::new(whole)),
    };
    Plain {
        bytes,
        compression,
        position,
    }
}

/// A reader that fails once.
struct Failure(Option<io::Error>);

impl Read for Failure {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

impl Plain {
    /// Returns a counter of the bytes read from the input; it advances as reading continues.
    pub(super) fn position(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.position)
    }

    /// Converts an error of `bytes` to the kind that is reported.
    pub(super) fn failure(&self, source: io::Error) -> ErrorKind {
        let offset = self.position.load(Ordering::Relaxed);
        failure(self.compression, source, offset)
    }
}

fn failure(compression: Compression, source: io::Error, offset: u64) -> ErrorKind {
    if compression == Compression::None {
        ErrorKind::Io(source)
    } else if source.kind() == io::ErrorKind::UnexpectedEof {
        ErrorKind::Truncated {
            compression,
            offset,
        }
    } else if source.raw_os_error().is_some() {
        ErrorKind::Io(source)
    } else if source.kind() == io::ErrorKind::OutOfMemory {
        ErrorKind::Window { compression }
    } else {
        ErrorKind::Corrupt {
            compression,
            offset,
            source,
        }
    }
}
