//! Decoders for compressed inputs of several parts: frames of zstd, members of gzip, streams of xz.
//!
//! The zstd decoder reads a single frame. This module starts each following frame, and checks its length and checksum.

use flate2::bufread::GzDecoder;
use lzma_rust2::{Action, Status, XzStream};
use ruzstd::decoding::errors::{
    DecodeBlockContentError as Content, DecompressBlockError as Block, FrameDecoderError,
    ReadFrameHeaderError,
};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::error::Error;
use std::io::{self, BufRead, Read};

/// Maximum window of a zstd frame, in bytes: what `zstd --ultra -22` writes.
const ZSTD_WINDOW_BYTES_MAX: u64 = 128 << 20;
/// An empty last block (RFC 8878, 3.1.1.2), followed by room for a checksum.
const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];
/// Maximum memory of an xz decoder, in KiB; `xz -9` needs 65 MiB.
const XZ_MEMORY_KIB_MAX: u32 = 256 << 10;

/// Decodes the frames of a zstd input (RFC 8878, 3.1), and checks their lengths and checksums.
pub(super) struct ZstdFrames<R> {
    input: R,
    decoder: FrameDecoder,
    /// Bytes decoded from the current frame so far.
    given: u64,
    /// An error to report after all bytes before it were returned.
    failure: Option<io::Error>,
}

impl<R: BufRead> ZstdFrames<R> {
    pub(super) fn new(input: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(ZSTD_WINDOW_BYTES_MAX);
        Self {
            input,
            decoder,
            given: 0,
            failure: None,
        }
    }

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

    fn begin_frame(&mut self) -> io::Result<()> {
        match self.decoder.init(&mut self.input) {
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                let mut frame = self.input.by_ref().take(length.into());
                if io::copy(&mut frame, &mut io::sink())? < length.into() {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            begun => {
                begun.map_err(cause)?;
                self.given = 0;
            }
        }
        Ok(())
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
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
            if !self.decoder.is_finished() {
                self.decode();
                continue;
            }
            self.check_frame()?;
            if self.input.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.begin_frame()?;
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

/// Decodes the streams of an xz input (xz file format, 2), including those after padding.
pub(super) struct XzStreams<R> {
    input: R,
    decoder: XzStream,
}

impl<R: BufRead> XzStreams<R> {
    pub(super) fn new(input: R) -> Self {
        let decoder = XzStream::new_mem_limit(true, XZ_MEMORY_KIB_MAX);
        Self { input, decoder }
    }
}

impl<R: BufRead> Read for XzStreams<R> {
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

/// The members of a gzip input (RFC 1952, 2.2). Zeros between and behind them are padding, as for gzip(1): tapes and block
/// devices fill up their last block.
pub(super) struct GzipMembers<R> {
    /// `None` behind the last one.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> GzipMembers<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            member: Some(GzDecoder::new(input)),
        }
    }
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while let Some(mut member) = self.member.take() {
            let read = member.read(into);
            if into.is_empty() || !matches!(read, Ok(0)) {
                self.member = Some(member);
                return read;
            }
            let mut input = member.into_inner();
            if !at_end_behind_zeros(&mut input)? {
                self.member = Some(GzDecoder::new(input));
            }
        }
        Ok(0)
    }
}

/// Skips zeros; returns true at the end of the input.
fn at_end_behind_zeros(input: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = input.fill_buf()?;
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        if zeros == 0 {
            return Ok(bytes.is_empty());
        }
        input.consume(zeros);
    }
}
