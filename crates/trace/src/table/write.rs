//! Writing of a table, one row group at a time.

use super::{Column, GUARD, KEY_GROUPS, Layout, MAGIC, TableError, Text};
use parquet::basic::{Compression, Encoding};
use parquet::data_type::{ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

/// Rows of names written at once, as many as the Parquet writer takes at once.
const BATCH_ROWS: usize = 1 << 10;

/// Writes a table. Memory is constant except for the footer (some 500 bytes per row group).
///
/// The output is a valid Parquet file only after [`TableWriter::finish`].
pub struct TableWriter<W: Write + Send> {
    file: SerializedFileWriter<Summed<W>>,
    layout: Layout,
    /// The end and checksum of each row group, as text for the metadata.
    groups: String,
}

impl<W: Write + Send> TableWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn new(output: W, layout: Layout) -> Result<Self, TableError> {
        let mut properties = WriterProperties::builder()
            .set_created_by(format!("fathom version {}", env!("CARGO_PKG_VERSION")))
            .set_compression(Compression::SNAPPY)
            // No indexes after the row groups: the bytes inserted before the footer would make their offsets wrong.
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true);
        for &name in layout.without_range {
            let column = ColumnPath::from(name);
            properties = properties.set_column_statistics_enabled(column, EnabledStatistics::None);
        }
        for &name in layout.deltas {
            let column = ColumnPath::from(name);
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
        }
        let schema = Arc::new(parse_message_type(layout.message)?);
        let file =
            SerializedFileWriter::new(Summed::new(output), schema, Arc::new(properties.build()))?;
        Ok(Self {
            file,
            layout,
            groups: String::new(),
        })
    }

    /// Writes a row group: the columns of the layout in order, all of equal length.
    ///
    /// # Errors
    /// The output cannot be written, or the columns do not match the layout.
    pub fn group(&mut self, columns: &[Column]) -> Result<(), TableError> {
        let mut group = self.file.next_row_group()?;
        for column in columns {
            match column {
                Column::Long(values) => write_column::<Int64Type, _>(&mut group, values)?,
                Column::Int(values) => write_column::<Int32Type, _>(&mut group, values)?,
                Column::Text(values) => write_column::<ByteArrayType, _>(&mut group, values)?,
                Column::Name(names, rows) => write_names(&mut group, names, rows)?,
            }
        }
        group.close()?;
        // Write out buffered bytes, so that they count to this group.
        self.file.flush()?;
        let (end, sum) = self.file.inner_mut().take();
        // Writing to a string cannot fail.
        let _ = write!(self.groups, "{end:x}:{sum:x} ");
        Ok(())
    }

    /// Ends the file with additional metadata and returns the output.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn finish(mut self, metadata: &[(&str, String)]) -> Result<W, TableError> {
        let version = self.layout.version.to_string();
        let groups = std::mem::take(&mut self.groups);
        let pairs = [(self.layout.key, version)]
            .into_iter()
            .chain(metadata.iter().cloned())
            .chain([(KEY_GROUPS, groups)]);
        for (key, value) in pairs {
            self.file
                .append_key_value_metadata(KeyValue::new(key.to_owned(), value));
        }
        self.file.flush()?;
        self.file.inner_mut().hold = Some(Vec::new());
        Ok(self.file.into_inner()?.finish()?)
    }
}

fn write_column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("no such column".into()));
    };
    column.typed::<T>().write_batch(values, None, None)?;
    column.close()
}

/// Writes a column of names, a batch at a time: a string takes 32 bytes and the count of its owners.
fn write_names<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    names: &[Text],
    rows: &[u32],
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("no such column".into()));
    };
    let (mut batch, mut same): (Vec<Text>, &[u32]) = (Vec::new(), &[]);
    for rows in rows.chunks(BATCH_ROWS) {
        // Often all rows have one name.
        if rows != same {
            batch.clear();
            batch.extend(rows.iter().map(|&row| names[row as usize].clone()));
            same = rows;
        }
        column
            .typed::<ByteArrayType>()
            .write_batch(&batch, None, None)?;
    }
    column.close()
}

/// Passes bytes on and computes their checksum. While `hold` is set it keeps the bytes instead, so that their checksum can
/// be written before them.
struct Summed<W> {
    output: W,
    passed: u64,
    /// CRC-32C of the bytes passed on since the last [`Summed::take`].
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

    /// Returns the number of bytes passed on, and the checksum of those since the last call.
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
