//! A fixed-size window over a stream. Lines and records are slices of the window; data already read is not kept.

use super::compress::Compression;
use super::error::{ErrorKind, Place, TraceError};
use super::plain::Plain;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Maximum length of a line, in bytes.
pub(super) const LINE_BYTES_MAX: usize = 64 << 10;
/// Size of the window, in bytes: several lines of maximum length.
const WINDOW_BYTES: usize = 256 << 10;

/// Limit on how far a compressed stream is read to look for damage, in decompressed bytes: some seconds of work.
const CHECKED_BYTES_MAX: u64 = 1 << 30;

/// A window over a stream.
pub(super) struct Buffer {
    input: Plain,
    window: Box<[u8]>,
    start: usize,
    end: usize,
    /// Bytes of the stream before `window[0]`.
    passed: u64,
    /// True if the stream has ended or failed.
    ended: bool,
    failure: Option<io::Error>,
    /// Number of lines returned so far.
    lines: u64,
    /// Number of the last lines or records returned that no checksum has confirmed.
    unconfirmed: u64,
}

impl Buffer {
    pub(super) fn new(input: Plain) -> Self {
        Self {
            input,
            window: vec![0; WINDOW_BYTES].into_boxed_slice(),
            start: 0,
            end: 0,
            passed: 0,
            ended: false,
            failure: None,
            lines: 0,
            unconfirmed: 0,
        }
    }

    /// Returns the unread bytes in the window.
    pub(super) fn rest(&self) -> &[u8] {
        &self.window[self.start..self.end]
    }

    /// Returns the number of the last line returned, from 1.
    pub(super) fn line_number(&self) -> u64 {
        self.lines
    }

    /// Returns the offset in the stream of the next unread byte.
    pub(super) fn offset(&self) -> u64 {
        self.passed + self.start as u64
    }

    /// Returns true if the window holds the rest of the stream and no error occurred.
    pub(super) fn is_whole(&self) -> bool {
        self.ended && self.failure.is_none()
    }

    /// Returns the number of the last lines or records returned that no checksum has confirmed.
    pub(super) fn unconfirmed(&self) -> u64 {
        match self.input.confirms(self.offset()) {
            true => 0,
            false => self.unconfirmed,
        }
    }

    /// Counts the line or record before the next unread byte.
    pub(super) fn count_unconfirmed(&mut self) {
        self.unconfirmed = match self.input.confirms(self.offset()) {
            true => 0,
            false => self.unconfirmed + 1,
        };
    }

    /// Returns the memory held, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.window.len()
    }

    /// Reads until `wanted` bytes are in the window or the stream ends.
    pub(super) fn fill(&mut self, wanted: usize) {
        while self.end - self.start < wanted && !self.ended {
            self.read_once();
        }
    }

    /// Skips bytes of the window.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.start = (self.start + bytes).min(self.end);
    }

    /// Takes the error that ended the stream, if any, with the place that it is reported at. Call this after all bytes
    /// before it were read.
    pub(super) fn take_failure(&mut self, place: Place) -> Option<TraceError> {
        let kind = self.input.failure(self.failure.take()?);
        if let ErrorKind::Trailing { .. } = kind {
            // The last line or record before them is whole.
            return Some(TraceError::input(kind));
        }
        self.start = self.end;
        Some(TraceError::new(kind, place))
    }

    /// Returns a counter of the bytes read from the input, compressed if it is; it advances as reading continues.
    pub(super) fn position(&self) -> Arc<AtomicU64> {
        self.input.position()
    }

    /// Returns the compression of the stream.
    pub(super) fn compression(&self) -> Compression {
        self.input.compression
    }

    /// Reads on through a compressed stream to find out whether it is damaged, and returns the error. Call this when the
    /// data make no sense and nobody will read further: a decoder may return wrong bytes before its checksum fails.
    pub(super) fn damage(&mut self) -> Option<ErrorKind> {
        if self.compression() == Compression::None {
            return None;
        }
        let until = self.offset().saturating_add(CHECKED_BYTES_MAX);
        while !self.ended && self.offset() < until {
            self.start = self.end;
            self.read_once();
        }
        let damage = self.input.failure(self.failure.take()?);
        (!matches!(damage, ErrorKind::Trailing { .. })).then_some(damage)
    }

    fn read_once(&mut self) {
        if self.start > 0 && self.window.len() - self.end < LINE_BYTES_MAX {
            self.window.copy_within(self.start..self.end, 0);
            self.passed += self.start as u64;
            self.end -= self.start;
            self.start = 0;
        }
        let read = self.input.bytes.read(&mut self.window[self.end..]);
        // Everything before this read may have been confirmed by it.
        self.unconfirmed = self.unconfirmed();
        match read {
            // The stream has ended. A full window also reads 0 bytes, but no caller asks for that much.
            Ok(0) => self.ended = true,
            Ok(read) => self.end += read.min(self.window.len() - self.end),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => {
                self.failure = Some(e);
                self.ended = true;
            }
        }
    }

    /// Returns the next line without its end (`\n` or `\r\n`). The last line needs no end.
    ///
    /// # Errors
    /// The stream failed (reported once), or a line is too long (it is skipped).
    pub(super) fn next_line(&mut self) -> Result<Option<&[u8]>, TraceError> {
        let mut searched = 0;
        loop {
            let window = &self.window[self.start..self.end];
            if let Some(at) = memchr::memchr(b'\n', &window[searched..]) {
                let line = self.start..self.start + searched + at;
                self.start = line.end + 1;
                self.lines += 1;
                self.count_unconfirmed();
                return Ok(Some(without_return(&self.window[line])));
            }
            searched = window.len();
            if searched > LINE_BYTES_MAX {
                return Err(self.go_past_line());
            }
            if self.ended {
                return self.last_line();
            }
            self.read_once();
        }
    }

    fn last_line(&mut self) -> Result<Option<&[u8]>, TraceError> {
        if let Some(error) = self.take_failure(Place::Line(self.lines + 1)) {
            return Err(error);
        }
        if self.start == self.end {
            return Ok(None);
        }
        let line = self.start..self.end;
        self.start = self.end;
        self.lines += 1;
        self.count_unconfirmed();
        Ok(Some(without_return(&self.window[line])))
    }

    fn go_past_line(&mut self) -> TraceError {
        self.lines += 1;
        loop {
            if let Some(at) = memchr::memchr(b'\n', self.rest()) {
                self.start += at + 1;
                break;
            }
            self.start = self.end;
            if self.ended {
                break;
            }
            self.read_once();
        }
        let limit = LINE_BYTES_MAX;
        TraceError::new(ErrorKind::LongLine { limit }, Place::Line(self.lines))
    }
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
