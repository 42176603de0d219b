//! A trace that is open: what its source gives, in order, with what was left out counted.

use super::error::{ErrorKind, Place, TraceError};
use super::format::{blktrace, parquet};
use super::order::{Order, Ordered};
use super::{Access, Compression, Format, Options, text};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// What a lenient reader left out or moved, and what every reader passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Lines, records and rows with a field that is missing or is not what it should be, left out; lines that are too
    /// long; a record that is cut off.
    pub malformed: u64,
    /// Operations that the format does not know, left out.
    pub unknown_op: u64,
    /// Numbers that are too large, left out.
    pub too_large: u64,
    /// Requests of no bytes, left out.
    pub zero_length: u64,
    /// Accesses whose time was before that of the one before, moved up to it and kept.
    pub backwards: u64,
    /// Compressed inputs that end early; what stood before their end was read.
    pub cut: u64,
    /// Lines and records that are no accesses, and nothing is wrong with them: comments, column names, other events,
    /// summaries.
    pub other: u64,
}

impl Skipped {
    /// Accesses that were left out for something that is wrong with them.
    pub fn left_out(&self) -> u64 {
        self.malformed + self.unknown_op + self.too_large + self.zero_length
    }

    fn count(&mut self, kind: &ErrorKind) {
        let counter = match kind {
            ErrorKind::UnknownOp { .. } => &mut self.unknown_op,
            ErrorKind::TooLarge { .. } => &mut self.too_large,
            ErrorKind::ZeroLength => &mut self.zero_length,
            ErrorKind::Backwards { .. } => &mut self.backwards,
            ErrorKind::Truncated { .. } => &mut self.cut,
            _ => &mut self.malformed,
        };
        *counter += 1;
    }
}

/// What reads a trace, by the kind of its format.
pub(super) enum Source {
    Text(text::Reader),
    Blktrace(blktrace::Reader),
    Parquet(Box<parquet::Reader>),
}

impl Source {
    /// That it is damaged, where what it gives makes no sense; what is wrong otherwise.
    fn blame(&mut self, error: TraceError) -> TraceError {
        let damage = match self {
            Source::Text(reader) if error.is_skippable() => reader.damage(),
            _ => None,
        };
        damage.map_or(error, TraceError::input)
    }

    fn next(&mut self) -> Option<Result<(Option<Access>, Place), TraceError>> {
        match self {
            Source::Text(reader) => reader.next(),
            Source::Blktrace(reader) => reader.next(),
            Source::Parquet(reader) => reader.next(),
        }
    }
}

/// The accesses of a trace, in order of their time, from time zero on.
///
/// After an error that ends it, it gives nothing more.
pub struct Trace {
    source: Source,
    format: Format,
    compression: Compression,
    lenient: bool,
    order: Order,
    skipped: Skipped,
    first_skipped: Option<TraceError>,
    /// What ended the source, told once what is held back has gone on.
    failure: Option<TraceError>,
    ended: bool,
    capacity_bytes: u64,
    position: Option<Arc<AtomicU64>>,
}

impl Trace {
    pub(super) fn new(
        source: Source,
        format: Format,
        compression: Compression,
        options: &Options,
    ) -> Self {
        Self {
            format,
            compression,
            lenient: options.lenient,
            order: Order::new(options.reorder.unwrap_or(format.reorder())),
            skipped: Skipped::default(),
            first_skipped: None,
            failure: None,
            ended: false,
            position: None,
            capacity_bytes: match &source {
                Source::Parquet(reader) => reader.capacity_bytes(),
                _ => 0,
            },
            source,
        }
    }

    /// With what tells how far its input was read.
    pub(super) fn at(mut self, position: Arc<AtomicU64>) -> Self {
        self.position = Some(position);
        self
    }

    /// Bytes of its input that were read so far, compressed ones where it is; the number goes on with the reading. `None` of
    /// Parquet, which is not read from its beginning to its end.
    pub fn bytes_read(&self) -> Option<Arc<AtomicU64>> {
        self.position.clone()
    }

    /// Its format, as given or as told.
    pub fn format(&self) -> Format {
        self.format
    }

    /// How it is compressed.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// What was left out, moved or passed over so far.
    pub fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// The first thing that a lenient reader left out or moved.
    pub fn first_skipped(&self) -> Option<&TraceError> {
        self.first_skipped.as_ref()
    }

    /// The capacity of a disk that holds every access so far, in bytes: the furthest end. A Parquet file knows it
    /// from the beginning, for all of its accesses.
    pub fn capacity_hint(&self) -> u64 {
        self.capacity_bytes
    }

    /// Memory that it holds at this moment, in bytes, but for what a decoder keeps.
    pub fn memory_bytes(&self) -> usize {
        let source = match &self.source {
            Source::Text(reader) => reader.memory_bytes(),
            Source::Blktrace(reader) => reader.memory_bytes(),
            Source::Parquet(reader) => reader.memory_bytes(),
        };
        source + self.order.memory_bytes()
    }

    /// Accesses that it holds back at most, to set them in order.
    pub fn reorder(&self) -> usize {
        self.order.window()
    }

    fn advance(&mut self) -> Option<Result<Access, TraceError>> {
        while self.failure.is_none() && self.skipped.cut == 0 {
            let ordered = match self.source.next() {
                None => break,
                Some(Ok((Some(access), place))) => self.order.push(access, place),
                Some(Ok((None, _))) => {
                    self.skipped.other += 1;
                    None
                }
                Some(Err(error)) => {
                    self.fail(error);
                    None
                }
            };
            if let Some(ordered) = ordered {
                return Some(self.pass(ordered));
            }
        }
        match self.order.pop() {
            Some(ordered) => Some(self.pass(ordered)),
            None => self.failure.take().map(Err),
        }
    }

    fn fail(&mut self, error: TraceError) {
        if self.lenient && error.is_skippable() {
            self.note(error);
        } else {
            self.failure = Some(self.source.blame(error));
        }
    }

    fn note(&mut self, error: TraceError) {
        self.skipped.count(&error.kind);
        self.first_skipped.get_or_insert(error);
    }

    fn pass(&mut self, ordered: Ordered) -> Result<Access, TraceError> {
        let access = match ordered {
            Ordered::Fine(access) => access,
            Ordered::Late(access, error) if self.lenient => {
                self.note(error);
                access
            }
            Ordered::Late(_, error) => return Err(self.source.blame(error)),
        };
        self.capacity_bytes = self.capacity_bytes.max(access.end());
        Ok(access)
    }
}

impl Iterator for Trace {
    type Item = Result<Access, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.advance();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

impl std::iter::FusedIterator for Trace {}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace")
            .field("format", &self.format)
            .field("compression", &self.compression)
            .field("lenient", &self.lenient)
            .field("skipped", &self.skipped)
            .finish_non_exhaustive()
    }
}
