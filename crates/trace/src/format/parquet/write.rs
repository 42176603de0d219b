//! Writing a trace as Parquet, a row group at a time.

use super::{GUARD, KEY_CAPACITY, KEY_GROUPS, KEY_VERSION, MAGIC, SCHEMA, VERSION, wrong};
use crate::Access;
use crate::error::{ErrorKind, Place, TraceError};
use crate::format::check;
use fathom_base::Time;
use parquet::basic::{Compression, Encoding};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

/// Rows of a row group: some 5 MB in memory.
const ROWS_PER_GROUP: usize = 1 << 17;

/// Writes accesses as a Parquet file, in constant memory but for its footer (some 500 bytes for every 131,072
/// accesses).
///
/// What was written is a Parquet file only after [`Writer::finish`].
pub struct Writer<W: Write + Send> {
    file: SerializedFileWriter<Summed<W>>,
    rows: Vec<Access>,
    written: u64,
    /// The time of the first access, from which all count.
    first: Option<Time>,
    last: Time,
    capacity_bytes: u64,
    /// Where each row group ends, and its checksum.
    groups: String,
}

impl<W: Write + Send> Writer<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// Nothing can be written.
    pub fn new(output: W) -> Result<Self, TraceError> {
        let at = ColumnPath::from("at_ns");
        let properties = WriterProperties::builder()
            .set_created_by(format!("fathom version {}", env!("CARGO_PKG_VERSION")))
            .set_compression(Compression::SNAPPY)
            .set_column_dictionary_enabled(at.clone(), false)
            .set_column_encoding(at, Encoding::DELTA_BINARY_PACKED)
            // No indexes behind the row groups: their places would be wrong by what stands before the footer.
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .build();
        let schema = parse_message_type(SCHEMA).map_err(wrong)?;
        let output = Summed::new(output);
        let file = SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties))
            .map_err(wrong)?;
        Ok(Self {
            file,
            rows: Vec::with_capacity(ROWS_PER_GROUP),
            written: 0,
            first: None,
            last: Time::ZERO,
            capacity_bytes: 0,
            groups: String::new(),
        })
    }

    /// Writes one more access; its time in the file counts from that of the first one.
    ///
    /// # Errors
    /// Its time is before that of the access before it; it is empty or goes beyond the end of the address space;
    /// nothing can be written.
    pub fn write(&mut self, access: &Access) -> Result<(), TraceError> {
        let place = Place::Row(self.written + 1);
        if access.at < self.last {
            let by_ns = self.last.since(access.at).0;
            let kind = ErrorKind::Backwards { by_ns, reorder: 0 };
            return Err(TraceError::new(kind, place));
        }
        check(access.op, access.offset, access.len)
            .map_err(|fault| TraceError::new(fault.kind(), place))?;
        self.last = access.at;
        self.capacity_bytes = self.capacity_bytes.max(access.end());
        self.written += 1;
        let first = *self.first.get_or_insert(access.at);
        self.rows.push(Access {
            at: Time(access.at.since(first).0),
            ..*access
        });
        if self.rows.len() == ROWS_PER_GROUP {
            self.write_group().map_err(wrong)?;
        }
        Ok(())
    }

    /// Ends the file, and gives back what it was written to.
    ///
    /// # Errors
    /// Nothing can be written.
    pub fn finish(mut self) -> Result<W, TraceError> {
        self.write_group().map_err(wrong)?;
        let pairs = [
            (KEY_VERSION, VERSION.to_owned()),
            (KEY_CAPACITY, self.capacity_bytes.to_string()),
            (KEY_GROUPS, self.groups),
        ];
        for (key, value) in pairs {
            self.file
                .append_key_value_metadata(KeyValue::new(key.to_owned(), value));
        }
        self.file
            .flush()
            .map_err(|e| TraceError::input(ErrorKind::Io(e)))?;
        self.file.inner_mut().hold = Some(Vec::new());
        let summed = self.file.into_inner().map_err(wrong)?;
        summed
            .finish()
            .map_err(|e| TraceError::input(ErrorKind::Io(e)))
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let rows = &self.rows;
        let of = |field: fn(&Access) -> u64| rows.iter().map(move |a| field(a) as i64).collect();
        let mut group = self.file.next_row_group()?;
        write_column::<Int64Type, _>(&mut group, of(|a| a.at.0))?;
        write_column::<ByteArrayType, _>(&mut group, ops(rows))?;
        write_column::<Int64Type, _>(&mut group, of(|a| a.offset))?;
        write_column::<Int64Type, _>(&mut group, of(|a| a.len))?;
        let disks = rows.iter().map(|a| a.disk as i32).collect();
        write_column::<Int32Type, _>(&mut group, disks)?;
        group.close()?;
        self.rows.clear();
        // What the file writer holds back belongs to this group.
        self.file.flush()?;
        let (end, sum) = self.file.inner_mut().take();
        // Writing to a string cannot fail.
        let _ = write!(self.groups, "{end:x}:{sum:x} ");
        Ok(())
    }
}

fn ops(rows: &[Access]) -> Vec<ByteArray> {
    use fathom_block::Op;
    let name = |op: Op| ByteArray::from(op.to_string().into_bytes());
    let names = [Op::Read, Op::Write, Op::Flush, Op::Trim].map(|op| (op, name(op)));
    let find = |op| names.iter().find(|(known, _)| *known == op);
    rows.iter()
        .filter_map(|a| find(a.op).map(|(_, name)| name.clone()))
        .collect()
}

fn write_column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: Vec<T::T>,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("no such column".into()));
    };
    column.typed::<T>().write_batch(&values, None, None)?;
    column.close()
}

/// Passes bytes on and keeps their checksum; or holds them, to write their checksum before them.
struct Summed<W> {
    output: W,
    passed: u64,
    /// CRC-32C of what was passed on since it was last taken.
    sum: u32,
    hold: Option<Vec<u8>>,
}

impl<W: Write> Summed<W> {
    fn new(output: W) -> Self {
        Self {
            output,
            passed: 0,
            sum: 0,
            hold: None,
        }
    }

    /// How many bytes were passed on, and the checksum of those since the last time.
    fn take(&mut self) -> (u64, u32) {
        (self.passed, std::mem::take(&mut self.sum))
    }

    fn finish(mut self) -> io::Result<W> {
        let footer = self.hold.take().unwrap_or_default();
        debug_assert!(footer.ends_with(MAGIC));
        let sum = crc32c::crc32c(&footer);
        self.output.write_all(GUARD)?;
        self.output.write_all(&sum.to_le_bytes())?;
        self.output.write_all(&footer)?;
        self.output.flush()?;
        Ok(self.output)
    }
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(held) = &mut self.hold {
            held.extend_from_slice(bytes);
            return Ok(bytes.len());
        }
        let written = self.output.write(bytes)?;
        self.sum = crc32c::crc32c_append(self.sum, &bytes[..written]);
        self.passed += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}
