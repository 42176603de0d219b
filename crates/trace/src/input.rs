//! The bytes of an input, of which the next ones can be examined before they are read.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the bytes read from a source.
struct Counted {
    source: Box<dyn Read + Send>,
    position: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into)?;
        self.position.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// An input with a view of its next bytes.
pub(super) struct Input {
    source: BufReader<Counted>,
    /// Bytes that were examined and not read yet.
    ahead: Vec<u8>,
    start: usize,
    /// The error that ended a view; reported after the bytes before it were read.
    failure: Option<io::Error>,
}

impl Input {
    /// Wraps a source; `position` counts the bytes read from it.
    pub(super) fn new(source: Box<dyn Read + Send>, position: Arc<AtomicU64>) -> Self {
        Self {
            source: BufReader::new(Counted { source, position }),
            ahead: Vec::new(),
            start: 0,
            failure: None,
        }
    }

    /// Returns the next bytes without reading them: `wanted`, or fewer where the input ends or fails.
    pub(super) fn peek(&mut self, wanted: usize) -> &[u8] {
        self.ahead.drain(..self.start);
        self.start = 0;
        let missing = wanted.saturating_sub(self.ahead.len()) as u64;
        if self.failure.is_none() {
            let more = self.source.by_ref().take(missing);
            self.failure = { more }.read_to_end(&mut self.ahead).err();
        }
        &self.ahead
    }

    /// Reads the zeros at this place, and returns their number.
    pub(super) fn skip_zeros(&mut self) -> io::Result<u64> {
        let mut skipped = 0;
        loop {
            let bytes = self.fill_buf()?;
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            if zeros == 0 {
                return Ok(skipped);
            }
            self.consume(zeros);
            skipped += zeros as u64;
        }
    }
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start < self.ahead.len() {
            return Ok(&self.ahead[self.start..]);
        }
        match self.failure.take() {
            Some(failure) => Err(failure),
            None => self.source.fill_buf(),
        }
    }

    fn consume(&mut self, bytes: usize) {
        if self.start < self.ahead.len() {
            self.start += bytes;
        } else {
            self.source.consume(bytes);
        }
    }
}

impl Read for Input {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.start == self.ahead.len() && self.failure.is_none() {
            return self.source.read(into);
        }
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}
