//! Decompression of an input, if it is compressed. Memory is bounded, whatever the input's headers ask for.

use super::compress::{Compression, tell};
use super::error::ErrorKind;
use super::input::Input;
use super::parts::{GzipMember, Parts, Trailing, XzPart, ZstdFrame};
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes examined to detect the compression; the magic number of a tar archive is at byte 257.
const HEAD_BYTES: usize = 512;

/// A decompressed input, with its compression and the number of compressed bytes read.
pub(super) struct Plain {
    pub(super) bytes: Box<dyn Read + Send>,
    pub(super) compression: Compression,
    position: Arc<AtomicU64>,
    /// Number of decompressed bytes that a checksum has confirmed.
    confirmed: Arc<AtomicU64>,
}

/// Opens an input for reading its decompressed bytes.
pub(super) fn plain(input: Box<dyn Read + Send>) -> Plain {
    let position = Arc::new(AtomicU64::new(0));
    let mut input = Input::new(input, Arc::clone(&position));
    let compression = tell(input.peek(HEAD_BYTES));
    let confirmed = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&confirmed);
    let bytes: Box<dyn Read + Send> = match compression {
        Compression::None => Box::new(input),
        Compression::Gzip => Box::new(Parts::<GzipMember>::new(input, count)),
        Compression::Zstd => Box::new(Parts::<ZstdFrame>::new(input, count)),
        Compression::Xz => Box::new(Parts::<XzPart>::new(input, count)),
    };
    Plain {
        bytes,
        compression,
        position,
        confirmed,
    }
}

impl Plain {
    /// Returns a counter of the bytes read from the input; it advances as reading continues.
    pub(super) fn position(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.position)
    }

    /// Returns true if checksums confirm the first `bytes` decompressed bytes, or if the input is not compressed.
    pub(super) fn confirms(&self, bytes: u64) -> bool {
        self.compression == Compression::None || bytes <= self.confirmed.load(Ordering::Relaxed)
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
    } else if let Some(&Trailing { bytes }) = source.get_ref().and_then(|e| e.downcast_ref()) {
        ErrorKind::Trailing { compression, bytes }
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
