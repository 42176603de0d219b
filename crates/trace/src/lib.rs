//! Trace readers: iterators over the accesses of recorded traces, in constant memory. Errors name the line.
//!
//! [`open`] takes a stream, plain or compressed, detects its format from its content, and returns a [`Trace`], an iterator
//! over accesses. [`open_file`] takes a seekable input such as a file, and reads Parquet too. Neither opens a file itself.
//!
//! Times are those of the trace, counted from its first access. The readers scale, align and cut nothing.
//!
//! A reader keeps a window of 256 KiB over the stream. For formats that are only roughly in order of time it also holds back
//! a bounded number of accesses. Decoders take memory of their own: at most 128 MiB for zstd and 256 MiB for xz.
//! [`Trace::memory_bytes`] returns the memory that a trace holds. [`Trace::capacity_hint`] returns the capacity that a drive
//! needs for the accesses read so far.

mod buffer;
mod compress;
mod detect;
mod error;
mod fault;
mod fields;
mod format;
mod help;
mod input;
mod line;
mod options;
mod order;
mod parts;
mod plain;
mod reader;
pub mod table;
mod text;

pub use compress::Compression;
pub use error::{ErrorKind, Place, TraceError};
pub use fathom_block::Access;
pub use format::parquet::ParquetWriter;
pub use format::{FORMATS, Format};
pub use line::BlockEvent;
pub use options::Options;
pub use reader::{Skipped, Trace};

use buffer::Buffer;
use format::{blktrace, parquet};
use reader::Source;
use std::io::{self, Read, Seek, SeekFrom};
use table::ChunkReader;

/// The byte order mark that some editors put before a text in UTF-8 (RFC 3629, section 6).
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Opens a trace from a stream, plain or compressed with zstd, gzip or xz.
///
/// # Errors
/// The stream cannot be read; its format cannot be detected; it is Parquet (use [`open_file`]); an option is invalid.
pub fn open(input: Box<dyn Read + Send>, options: &Options) -> Result<Trace, TraceError> {
    open_stream(input, options).map_err(|error| TraceError {
        lenient: options.lenient,
        ..error
    })
}

fn open_stream(input: Box<dyn Read + Send>, options: &Options) -> Result<Trace, TraceError> {
    options.check()?;
    let mut buffer = Buffer::new(plain::plain(input));
    buffer.fill(detect::SAMPLE_BYTES);
    let (compression, position) = (buffer.compression(), buffer.position());
    if buffer.rest().starts_with(BYTE_ORDER_MARK) {
        buffer.skip(BYTE_ORDER_MARK.len());
    }
    let format = match options.format {
        Some(format) => format,
        None => tell(&mut buffer, options)?,
    };
    let source = match (format, format.parser()) {
        (_, Some(parser)) => Source::Text(text::Reader::new(buffer, parser(&options.choices()))),
        (Format::Parquet, None) => return Err(TraceError::input(ErrorKind::NeedsSeek)),
        (_, None) => Source::Blktrace(blktrace::Reader::new(buffer, options.block_event)),
    };
    Ok(Trace::new(source, format, compression, options).at(position))
}

fn tell(buffer: &mut Buffer, options: &Options) -> Result<Format, TraceError> {
    let told = detect::detect(buffer.rest(), buffer.is_whole(), options);
    match told {
        // If the stream itself failed, report that instead of an unknown format.
        Err(error) => Err(match buffer.take_failure(Place::Line(1)) {
            Some(failure) => failure,
            None => buffer.damage().map_or(error, TraceError::input),
        }),
        told => told,
    }
}

/// Opens a trace of any format from a seekable input.
///
/// # Errors
/// Those of [`open`]; also a Parquet file that Fathom has not written, or that is damaged.
pub fn open_file<R>(mut input: R, options: &Options) -> Result<Trace, TraceError>
where
    R: ChunkReader + Read + Seek + 'static,
{
    let io_error = |e| TraceError::input(ErrorKind::Io(e));
    let mut head = [0; 4];
    let read = read_up_to(&mut input, &mut head).map_err(io_error)?;
    input.seek(SeekFrom::Start(0)).map_err(io_error)?;
    if options.format == Some(Format::Parquet) || &head[..read] == b"PAR1" {
        open_parquet(input, options)
    } else {
        open(Box::new(input), options)
    }
}

/// Opens a Parquet trace that [`ParquetWriter`] has written.
///
/// # Errors
/// The input is not such a file, or is damaged.
pub fn open_parquet<R: ChunkReader + 'static>(
    input: R,
    options: &Options,
) -> Result<Trace, TraceError> {
    options.check()?;
    let reader = parquet::Reader::new(input)?;
    let source = Source::Parquet(Box::new(reader));
    let (format, compression) = (Format::Parquet, Compression::None);
    Ok(Trace::new(source, format, compression, options))
}

fn read_up_to(input: &mut impl Read, head: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while read < head.len() {
        match input.read(&mut head[read..]) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(read)
}
