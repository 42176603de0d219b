//! An open trace: returns the accesses of its source in order of time, and counts those that are skipped.

use super::error::{ErrorKind, Place, TraceError};
use super::format::{blktrace, parquet};
use super::order::{Order, Ordered};
use super::{Access, Compression, Format, Options, text};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Counts of what a lenient reader left out or changed, and of what every reader ignores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Left out: lines, records and rows with a missing or malformed field, lines that are too long, and a record that is
    /// cut off.
    pub malformed: u64,
    /// Left out: operations that the format does not know.
    pub unknown_op: u64,
    /// Left out: numbers that are too large.
    pub too_large: u64,
    /// Left out: requests of zero bytes.
    pub zero_length: u64,
    /// Accesses whose time was earlier than that of the previous one. They are kept, with their time raised to it.
    pub backwards: u64,
    /// Compressed inputs that end early; everything before that was read.
    pub cut: u64,
    /// Bytes after the end of the compressed data, which were ignored.
    pub trailing_bytes: u64,
    /// The last lines or records that a lenient reader took from a compressed input and no checksum confirms: if the input
    /// is damaged, some are wrong.
    pub unconfirmed: u64,
    /// Valid lines and records that are not accesses: comments, column names, other events, summaries.
    pub other: u64,
}

impl Skipped {
    /// Returns the number of accesses left out because of errors.
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
            ErrorKind::Trailing { bytes, .. } => {
                self.trailing_bytes += bytes;
                return;
            }
            _ => &mut self.malformed,
        };
        *counter += 1;
    }
}

/// The reader of a trace, by the kind of its format.
pub(super) enum Source {
    Text(text::Reader),
    Blktrace(blktrace::Reader),
    Parquet(Box<parquet::Reader>),
}

impl Source {
    /// Returns the damage of the compressed stream if that explains the error, otherwise the error itself.
    fn blame(&mut self, error: TraceError) -> TraceError {
        let damage = match self {
            Source::Text(reader) if error.is_skippable() => reader.damage(),
            _ => None,
        };
        damage.map_or(error, TraceError::input)
    }

    fn unconfirmed(&self) -> u64 {
        match self {
            Source::Text(reader) => reader.unconfirmed(),
            Source::Blktrace(reader) => reader.unconfirmed(),
            Source::Parquet(_) => 0,
        }
    }

    fn next(&mut self) -> Option<Result<(Option<Access>, Place), TraceError>> {
        match self {
            Source::Text(reader) => reader.next(),
            Source::Blktrace(reader) => reader.next(),
            Source::Parquet(reader) => reader.next(),
        }
    }
}

/// The accesses of a trace, in order of time, with times relative to the first access.
///
/// The iterator ends after its first error.
pub struct Trace {
    source: Source,
    format: Format,
    compression: Compression,
    lenient: bool,
    order: Order,
    skipped: Skipped,
    first_skipped: Option<TraceError>,
    /// The error that ended the source; reported after the accesses that are held back.
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

    /// Sets the counter of the input bytes read.
    pub(super) fn at(mut self, position: Arc<AtomicU64>) -> Self {
        self.position = Some(position);
        self
    }

    /// Returns a counter of the input bytes read so far (compressed bytes if the input is compressed); it advances as
    /// reading continues. `None` for Parquet, which is not read from beginning to end.
    pub fn bytes_read(&self) -> Option<Arc<AtomicU64>> {
        self.position.clone()
    }

    /// Returns the format, as given or as detected.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the compression of the input.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// Returns the counts of what was left out, changed or ignored so far.
    pub fn skipped(&self) -> Skipped {
        Skipped {
            unconfirmed: match self.lenient {
                true => self.source.unconfirmed(),
                false => 0,
            },
            ..self.skipped
        }
    }

    /// Returns the error of the first item that a lenient reader left out or changed.
    pub fn first_skipped(&self) -> Option<&TraceError> {
        self.first_skipped.as_ref()
    }

    /// Returns the capacity in bytes of a disk that holds every access so far: the highest end. For Parquet it covers all
    /// accesses from the beginning.
    pub fn capacity_hint(&self) -> u64 {
        self.capacity_bytes
    }

    /// Returns true if the format gives each access a process. For CSV it is known once the first access was read.
    pub fn has_processes(&self) -> bool {
        match &self.source {
            Source::Text(reader) => reader.has_processes(),
            Source::Blktrace(_) => true,
            Source::Parquet(reader) => reader.has_processes(),
        }
    }

    /// Returns the memory held at this moment, in bytes, without that of the decoder.
    pub fn memory_bytes(&self) -> usize {
        let source = match &self.source {
            Source::Text(reader) => reader.memory_bytes(),
            Source::Blktrace(reader) => reader.memory_bytes(),
            Source::Parquet(reader) => reader.memory_bytes(),
        };
        source + self.order.memory_bytes()
    }

    /// Returns the maximum number of accesses held back for sorting.
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

    fn fail(&mut self, mut error: TraceError) {
        error.lenient = self.lenient;
        if self.lenient && error.is_skippable() {
            self.note(error);
        } else {
            self.failure = Some(self.source.blame(error));
        }
    }

    fn note(&mut self, error: TraceError) {
        self.skipped.count(&error.kind);
        if !matches!(*error.kind, ErrorKind::Trailing { .. }) {
            self.first_skipped.get_or_insert(error);
        }
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
