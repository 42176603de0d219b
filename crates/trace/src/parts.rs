//! Decoders for compressed inputs of several parts: frames of zstd, members of gzip, streams of xz.
//!
//! Zeros between and behind the parts are padding, as for gzip(1): tapes and block devices fill up their last block.

use super::compress::{Compression, tell};
use super::input::Input;
use flate2::bufread::GzDecoder;
use lzma_rust2::{Action, CheckType, Status, XzStream};
use ruzstd::decoding::errors::{
    DecodeBlockContentError as Content, DecompressBlockError as Block, FrameDecoderError,
    ReadFrameHeaderError,
};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::error::Error;
use std::io::{self, BufRead as _, Read};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum window of a zstd frame, in bytes: what `zstd --ultra -22` writes.
const ZSTD_WINDOW_BYTES_MAX: u64 = 128 << 20;
/// An empty last block (RFC 8878, 3.1.1.2), followed by room for a checksum.
const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];
/// Maximum memory of an xz decoder, in KiB; `xz -9` needs 65 MiB.
const XZ_MEMORY_KIB_MAX: u32 = 256 << 10;

/// Bytes that tell the beginning of a part: the longest magic number, that of xz.
const MAGIC_BYTES: usize = 6;

/// Bytes behind the last part that are neither a part nor zeros.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("{bytes} bytes after the end of the compressed data")]
pub(super) struct Trailing {
    /// Their number, with the zeros before them.
    pub(super) bytes: u64,
}

/// A decoder of a part. `read` returns 0 bytes at its end, and an error if the part differs from its checksum.
pub(super) trait Part: Read + Sized {
    /// The compression whose magic number a part begins with.
    const COMPRESSION: Compression;
    /// Begins with the part at this place of the input.
    fn begin(input: Input) -> io::Result<Self>;
    /// Returns true if a checksum has confirmed the part, which has ended.
    fn is_confirmed(&self) -> bool {
        true
    }
    /// Returns the input behind the part, which has ended.
    fn end(self) -> Input;
}

/// Decodes the parts of an input.
pub(super) struct Parts<P> {
    state: State<P>,
    /// Number of bytes decoded so far.
    given: u64,
    /// Number of bytes decoded so far in parts that a checksum has confirmed; ends at the first other part.
    confirmed: Arc<AtomicU64>,
    unconfirmed: bool,
}

enum State<P> {
    /// Before a part, which `tell` has recognized.
    Begin(Input),
    Within(P),
    /// Behind the last part, or behind an error.
    Ended,
}

impl<P: Part> Parts<P> {
    pub(super) fn new(input: Input, confirmed: Arc<AtomicU64>) -> Self {
        Self {
            state: State::Begin(input),
            given: 0,
            confirmed,
            unconfirmed: false,
        }
    }

    /// Returns the input behind a part that has ended, or `None` if no other part follows.
    fn behind(&mut self, ended: P) -> io::Result<Option<Input>> {
        self.unconfirmed |= !ended.is_confirmed();
        if !self.unconfirmed {
            self.confirmed.store(self.given, Ordering::Relaxed);
        }
        let mut input = ended.end();
        let zeros = input.skip_zeros()?;
        let head = input.peek(MAGIC_BYTES);
        if tell(head) == P::COMPRESSION {
            return Ok(Some(input));
        }
        match io::copy(&mut input, &mut io::sink())? {
            0 => Ok(None),
            more => Err(damaged(Trailing {
                bytes: zeros + more,
            })),
        }
    }
}

impl<P: Part> Read for Parts<P> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match mem::replace(&mut self.state, State::Ended) {
                State::Begin(input) => self.state = State::Within(P::begin(input)?),
                State::Ended => return Ok(0),
                State::Within(mut part) => {
                    let read = part.read(into)?;
                    self.given += read as u64;
                    if read > 0 || into.is_empty() {
                        self.state = State::Within(part);
                        return Ok(read);
                    }
                    if let Some(input) = self.behind(part)? {
                        self.state = State::Begin(input);
                    }
                }
            }
        }
    }
}

/// Decodes a frame of a zstd input (RFC 8878, 3.1), and checks its length and checksum.
pub(super) struct ZstdFrame {
    input: Input,
    decoder: FrameDecoder,
    /// Bytes decoded from the frame so far.
    given: u64,
    /// An error to report after all bytes before it were returned.
    failure: Option<io::Error>,
}

impl ZstdFrame {
    /// Decodes the next block.
    fn decode(&mut self) {
        let one = || BlockDecodingStrategy::UptoBlocks(1);
        let Err(error) = self.decoder.decode_blocks(&mut self.input, one()) else {
            return;
        };
        // If the error occurred while the block's output was written, part of it is in the buffer and cannot be trusted.
        let partial = matches!(
            error,
            FrameDecoderError::FailedToReadBlockBody(Content::DecompressBlockError(
                Block::ExecuteSequencesError(_)
            ))
        );
        self.failure = Some(cause(error));
        if !partial {
            // The decoder keeps a window of bytes until its frame ends; an empty last block releases them.
            let _nothing_to_fail = self.decoder.decode_blocks(&LAST_BLOCK[..], one());
        }
    }

    fn check_frame(&self) -> io::Result<()> {
        let (decoder, length) = (&self.decoder, self.decoder.content_size());
        // 0 also means that the header does not give the length.
        if length != 0 && length != self.given {
            return Err(damaged("a frame has not the length that its header says"));
        }
        let said = decoder.get_checksum_from_data();
        if said.is_some() && said != decoder.get_calculated_checksum() {
            return Err(damaged("a frame has not the checksum that it ends with"));
        }
        Ok(())
    }
}

impl Part for ZstdFrame {
    const COMPRESSION: Compression = Compression::Zstd;

    fn begin(mut input: Input) -> io::Result<Self> {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(ZSTD_WINDOW_BYTES_MAX);
        match decoder.init(&mut input) {
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                let mut frame = input.by_ref().take(length.into());
                if io::copy(&mut frame, &mut io::sink())? < length.into() {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            begun => begun.map_err(cause)?,
        }
        Ok(Self {
            input,
            decoder,
            given: 0,
            failure: None,
        })
    }

    fn is_confirmed(&self) -> bool {
        self.given == 0 || self.decoder.get_checksum_from_data().is_some()
    }

    fn end(self) -> Input {
        self.input
    }
}

impl Read for ZstdFrame {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.decoder.can_collect() > 0 {
                let read = self.decoder.read(into)?;
                self.given += read as u64;
                return Ok(read);
            }
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            if self.decoder.is_finished() {
                return self.check_frame().map(|()| 0);
            }
            self.decode();
        }
    }
}

/// Converts a decoder error: returns the error of the underlying input if that caused it.
fn cause(error: FrameDecoderError) -> io::Error {
    if matches!(error, FrameDecoderError::WindowSizeTooBig { .. }) {
        return io::ErrorKind::OutOfMemory.into();
    }
    let mut below: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(error) = below {
        if let Some(failure) = error.downcast_ref::<io::Error>() {
            return match failure.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => io::Error::new(failure.kind(), failure.to_string()),
            };
        }
        below = error.source();
    }
    damaged(error)
}

fn damaged(what: impl Into<Box<dyn Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Decodes a stream of an xz input (xz file format, 2).
pub(super) struct XzPart {
    input: Input,
    decoder: XzStream,
}

impl Part for XzPart {
    const COMPRESSION: Compression = Compression::Xz;

    fn begin(input: Input) -> io::Result<Self> {
        let decoder = XzStream::new_mem_limit(false, XZ_MEMORY_KIB_MAX);
        Ok(Self { input, decoder })
    }

    fn is_confirmed(&self) -> bool {
        self.decoder.check_type() != Some(CheckType::None)
    }

    fn end(self) -> Input {
        self.input
    }
}

impl Read for XzPart {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            let input = self.input.fill_buf()?;
            let ended = input.is_empty();
            let action = if ended { Action::Finish } else { Action::Run };
            let done = self.decoder.process(input, into, action)?;
            self.input.consume(done.bytes_consumed);
            if done.bytes_produced > 0 || done.status == Status::StreamEnd {
                return Ok(done.bytes_produced);
            }
            if ended {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// Decodes a member of a gzip input (RFC 1952, 2.2).
pub(super) struct GzipMember(GzDecoder<Input>);

impl Part for GzipMember {
    const COMPRESSION: Compression = Compression::Gzip;

    fn begin(input: Input) -> io::Result<Self> {
        Ok(Self(GzDecoder::new(input)))
    }

    fn end(self) -> Input {
        self.0.into_inner()
    }
}

impl Read for GzipMember {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
    }
}
