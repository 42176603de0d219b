//! Plain bytes out of what may be compressed, told by its first bytes; memory is bounded whatever the input says.

use super::error::{ErrorKind, TraceError};
use flate2::bufread::MultiGzDecoder;
use liblzma::read::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};
use std::fmt;
use std::io::{self, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The largest window of a zstd frame, as a power of two: what `zstd --ultra -22` writes.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;
/// The most memory that an xz stream may ask for; `xz -9` asks for 65 MiB.
const XZ_MEMORY_BYTES_MAX: u64 = 256 << 20;
/// What is looked at to tell: a tar archive says so at byte 257.
const HEAD_BYTES: usize = 512;

/// How an input is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// Zstandard (RFC 8878), one frame or several.
    Zstd,
    /// gzip (RFC 1952), one member or several.
    Gzip,
    /// xz, one stream or several.
    Xz,
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Compression::None => "uncompressed",
            Compression::Zstd => "zstd",
            Compression::Gzip => "gzip",
            Compression::Xz => "xz",
        })
    }
}

/// What the first bytes say: how the input is compressed, if it is.
pub(super) fn tell(head: &[u8]) -> Compression {
    // A zstd file may start with a skippable frame (RFC 8878, 3.1.2).
    let skippable = head.len() >= 4 && head[0] & 0xf0 == 0x50 && head[1..4] == [0x2a, 0x4d, 0x18];
    if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) || skippable {
        Compression::Zstd
    } else if head.starts_with(&[0x1f, 0x8b]) {
        Compression::Gzip
    } else if head.starts_with(&[0xfd, b'7', b'z', b'X', b'Z', 0]) {
        Compression::Xz
    } else {
        Compression::None
    }
}

/// What is packed in a way that is not read.
pub(super) fn archive(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(b"PK\x03\x04") {
        Some("a zip archive")
    } else if head.starts_with(b"BZh") {
        Some("compressed by bzip2")
    } else if head.starts_with(b"7z\xbc\xaf\x27\x1c") {
        Some("a 7z archive")
    } else if head.starts_with(&[0x04, 0x22, 0x4d, 0x18]) {
        Some("compressed by lz4")
    } else if head.len() > 262 && &head[257..262] == b"ustar" {
        Some("a tar archive")
    } else {
        None
    }
}

/// The plain bytes of an input, how it is compressed, and how much of it was read.
pub(super) struct Plain {
    pub(super) bytes: Box<dyn Read + Send>,
    pub(super) compression: Compression,
    position: Arc<AtomicU64>,
}

/// Counts what is read of an input.
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

/// The plain bytes of an input.
pub(super) fn plain(input: Box<dyn Read + Send>) -> Result<Plain, TraceError> {
    let position = Arc::new(AtomicU64::new(0));
    let mut input = Counted {
        input,
        position: Arc::clone(&position),
    };
    let io_error = |e| TraceError::input(ErrorKind::Io(e));
    let mut head = Vec::with_capacity(HEAD_BYTES);
    let read = input
        .by_ref()
        .take(HEAD_BYTES as u64)
        .read_to_end(&mut head);
    let compression = tell(&head);
    // What could be read is read before the failure is told.
    let whole = Cursor::new(head).chain(Failure(read.err())).chain(input);
    let bytes: Box<dyn Read + Send> = match compression {
        Compression::None => Box::new(whole),
        Compression::Gzip => Box::new(MultiGzDecoder::new(BufReader::new(whole))),
        Compression::Zstd => {
            let mut decoder = zstd::Decoder::new(whole).map_err(io_error)?;
            decoder
                .window_log_max(ZSTD_WINDOW_LOG_MAX)
                .map_err(io_error)?;
            Box::new(decoder)
        }
        Compression::Xz => {
            let stream = Stream::new_stream_decoder(XZ_MEMORY_BYTES_MAX, CONCATENATED)
                .map_err(|e| io_error(e.into()))?;
            Box::new(XzDecoder::new_stream(whole, stream))
        }
    };
    Ok(Plain {
        bytes,
        compression,
        position,
    })
}

/// Fails once.
struct Failure(Option<io::Error>);

impl Read for Failure {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

impl Plain {
    /// Bytes of the input that were read so far; it goes on with the reading.
    pub(super) fn position(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.position)
    }

    /// What went wrong while reading through a decoder.
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
    } else {
        ErrorKind::Corrupt {
            compression,
            offset,
            source,
        }
    }
}
