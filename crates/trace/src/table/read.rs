//! Reading of a table: each row group's checksum is verified, then its rows are decoded in batches.

use super::{
    Column, GUARD, GUARD_1, GUARD_BYTES, KEY_GROUPS, Layout, MAGIC, TAIL_BYTES, TableError, Text,
};
use flate2::Crc;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::Result as ParquetResult;
use parquet::file::reader::{ChunkReader, FileReader, Length, SerializedFileReader};
use parquet::schema::parser::parse_message_type;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Rows decoded at once.
const BATCH_ROWS: usize = 8_192;
/// Bytes read at once to compute a checksum.
const SUM_BYTES: u64 = 1 << 20;

/// Verifies the checksum of a row group, counted from 0.
type Check = Box<dyn Fn(usize) -> Result<(), TableError> + Send>;

/// The byte range and checksum of each row group, in order.
type Groups = Vec<(Range<u64>, u32)>;

/// Reads the rows of a table in constant memory.
pub struct TableReader {
    file: Box<dyn FileReader>,
    check: Check,
    metadata: BTreeMap<String, String>,
    next_group: usize,
    /// The column readers of the current row group; empty between row groups.
    readers: Vec<ColumnReader>,
    batch: Vec<Column>,
}

impl TableReader {
    /// Opens a table of this layout and verifies its footer.
    ///
    /// # Errors
    /// The input is not such a table, or is damaged.
    pub fn new<R: ChunkReader + 'static>(input: R, layout: &Layout) -> Result<Self, TableError> {
        Ok(Self::any(input, std::slice::from_ref(layout))?.0)
    }

    /// Opens a table of one of these layouts, and returns the layout. No two of them may have the same columns.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub(crate) fn any<R: ChunkReader + 'static>(
        input: R,
        layouts: &[Layout],
    ) -> Result<(Self, Layout), TableError> {
        let input = Shared(Arc::new(input));
        let (rows_end, kind) = check_footer(&input)?;
        let (mut table, layout) = Self::described(input.clone(), layouts)?;
        let known = match kind {
            Sum::Crc32 => 1,
            Sum::Crc32c => layout.version,
        };
        match table
            .metadata(layout.key)
            .and_then(|text| text.parse().ok())
        {
            Some(found) if found > known => return Err(TableError::Newer { found, known }),
            Some(found) if found == known => {}
            _ => {
                return Err(TableError::Foreign(
                    "its metadata lack the version of its layout",
                ));
            }
        }
        let groups = table.metadata(KEY_GROUPS).and_then(groups);
        let undescribed =
            || TableError::Damaged("its metadata do not describe its row groups".into());
        let groups = groups.ok_or_else(undescribed)?;
        let end = groups
            .last()
            .map_or(MAGIC.len() as u64, |(range, _)| range.end);
        if end != rows_end || groups.len() != table.file.metadata().num_row_groups() {
            let differ = "its metadata and its row groups differ";
            return Err(TableError::Damaged(differ.into()));
        }
        table.check = Box::new(move |group| check_group(&input, &groups, kind, group));
        Ok((table, layout))
    }

    /// Opens a table written before this checksum scheme existed. The caller must have verified its bytes.
    ///
    /// # Errors
    /// It has other columns, or cannot be read.
    pub fn unguarded<R: ChunkReader + 'static>(
        input: R,
        layout: &Layout,
    ) -> Result<Self, TableError> {
        Ok(Self::described(input, std::slice::from_ref(layout))?.0)
    }

    fn described<R: ChunkReader + 'static>(
        input: R,
        layouts: &[Layout],
    ) -> Result<(Self, Layout), TableError> {
        let file = SerializedFileReader::new(input)?;
        let described = file.metadata().file_metadata();
        let pairs = described.key_value_metadata().into_iter().flatten();
        let metadata = pairs
            .filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?)))
            .collect();
        let mut layout = None;
        for known in layouts {
            if &parse_message_type(known.message)? == described.schema() {
                layout = Some(*known);
            }
        }
        let layout = layout.ok_or(TableError::Foreign("its columns are others"))?;
        let table = Self {
            file: Box::new(file),
            check: Box::new(|_| Ok(())),
            metadata,
            next_group: 0,
            readers: Vec::new(),
            batch: Vec::new(),
        };
        Ok((table, layout))
    }

    /// Returns a value of the metadata.
    pub fn metadata(&self, key: &str) -> Option<&str> {
        self.metadata.get(key).map(String::as_str)
    }

    /// Decodes the next batch of rows, at most 8192, and returns their number; 0 at the end.
    ///
    /// # Errors
    /// The row group is damaged or cannot be read.
    pub fn next_rows(&mut self) -> Result<usize, TableError> {
        loop {
            if self.readers.is_empty() {
                if self.next_group == self.file.metadata().num_row_groups() {
                    self.batch.clear();
                    return Ok(0);
                }
                (self.check)(self.next_group)?;
                self.open_group()?;
            }
            match self.read_batch()? {
                0 => self.readers.clear(),
                rows => return Ok(rows),
            }
        }
    }

    fn open_group(&mut self) -> Result<(), TableError> {
        let group = self.file.get_row_group(self.next_group)?;
        self.readers = (0..group.num_columns())
            .map(|index| group.get_column_reader(index))
            .collect::<ParquetResult<_>>()?;
        self.next_group += 1;
        Ok(())
    }

    fn read_batch(&mut self) -> Result<usize, TableError> {
        self.batch
            .resize(self.readers.len(), Column::Int(Vec::new()));
        for (reader, column) in self.readers.iter_mut().zip(&mut self.batch) {
            fill(reader, column)?;
        }
        let rows = self.batch.first().map_or(0, Column::len);
        if self.batch.iter().any(|column| column.len() != rows) {
            return Err(TableError::Damaged("columns of unequal length".into()));
        }
        Ok(rows)
    }

    /// Returns the memory of the decoded rows, in bytes; the Parquet reader's page buffers are not counted.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.batch.iter().map(Column::memory_bytes).sum()
    }

    /// Returns the decoded values of a column of 64-bit integers, counted from 0.
    pub fn longs(&self, column: usize) -> &[i64] {
        match self.batch.get(column) {
            Some(Column::Long(values)) => values,
            _ => &[],
        }
    }

    /// Returns the decoded values of a column of 32-bit integers, counted from 0.
    pub fn ints(&self, column: usize) -> &[i32] {
        match self.batch.get(column) {
            Some(Column::Int(values)) => values,
            _ => &[],
        }
    }

    /// Returns the decoded values of a column of strings, counted from 0.
    pub fn texts(&self, column: usize) -> &[Text] {
        match self.batch.get(column) {
            Some(Column::Text(values)) => values,
            _ => &[],
        }
    }
}

/// Reads the next values of a column, reusing the buffer of the last batch.
fn fill(reader: &mut ColumnReader, column: &mut Column) -> Result<(), TableError> {
    fn read<T: DataType>(
        reader: &mut ColumnReaderImpl<T>,
        mut values: Vec<T::T>,
    ) -> ParquetResult<Vec<T::T>> {
        values.clear();
        while values.len() < BATCH_ROWS {
            let wanted = BATCH_ROWS - values.len();
            if reader.read_records(wanted, None, None, &mut values)?.0 == 0 {
                break;
            }
        }
        Ok(values)
    }
    let old = std::mem::replace(column, Column::Int(Vec::new()));
    *column = match (reader, old) {
        (ColumnReader::Int64ColumnReader(r), Column::Long(v)) => Column::Long(read(r, v)?),
        (ColumnReader::Int64ColumnReader(r), _) => Column::Long(read(r, Vec::new())?),
        (ColumnReader::Int32ColumnReader(r), Column::Int(v)) => Column::Int(read(r, v)?),
        (ColumnReader::Int32ColumnReader(r), _) => Column::Int(read(r, Vec::new())?),
        (ColumnReader::ByteArrayColumnReader(r), Column::Text(v)) => Column::Text(read(r, v)?),
        (ColumnReader::ByteArrayColumnReader(r), _) => Column::Text(read(r, Vec::new())?),
        _ => return Err(TableError::Damaged("a column of another type".into())),
    };
    Ok(())
}

/// The checksum algorithm of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sum {
    /// Used by the first version of traces.
    Crc32,
    /// Used by everything written now.
    Crc32c,
}

/// Verifies the footer's checksum. Returns the end of the row groups and the algorithm.
fn check_footer<R: ChunkReader>(input: &R) -> Result<(u64, Sum), TableError> {
    let len = input.len();
    let start = input.get_bytes(0, len.min(MAGIC.len() as u64) as usize)?;
    if !MAGIC.starts_with(&start) {
        return Err(TableError::Foreign("it is no Parquet file"));
    }
    let tail_at = len.checked_sub(TAIL_BYTES).ok_or(TableError::Truncated)?;
    let tail = input.get_bytes(tail_at, TAIL_BYTES as usize)?;
    let Some((&footer_len, MAGIC)) = tail.split_first_chunk::<4>() else {
        return Err(TableError::Truncated);
    };
    let footer_len = u64::from(u32::from_le_bytes(footer_len));
    let unguarded = TableError::Foreign("it has no checksum before its footer");
    let Some(guard_at) = tail_at.checked_sub(footer_len + GUARD_BYTES as u64) else {
        return Err(unguarded);
    };
    let guard = input.get_bytes(guard_at, GUARD_BYTES)?;
    let (kind, expected) = match guard.split_first_chunk::<8>() {
        Some((GUARD, expected)) => (Sum::Crc32c, expected),
        Some((GUARD_1, expected)) => (Sum::Crc32, expected),
        _ => return Err(unguarded),
    };
    let found = sum(input, guard_at + GUARD_BYTES as u64..len, kind)?;
    if found.to_le_bytes() != *expected {
        let differs = "its footer does not match its checksum";
        return Err(TableError::Damaged(differs.into()));
    }
    Ok((guard_at, kind))
}

fn check_group<R: ChunkReader>(
    input: &R,
    groups: &Groups,
    kind: Sum,
    group: usize,
) -> Result<(), TableError> {
    let same = match groups.get(group) {
        Some((range, expected)) => sum(input, range.clone(), kind)? == *expected,
        None => false,
    };
    if same {
        return Ok(());
    }
    let number = group + 1;
    Err(TableError::Damaged(format!(
        "row group {number} does not match its checksum"
    )))
}

/// Computes the checksum of a range of the file.
fn sum<R: ChunkReader>(input: &R, range: Range<u64>, kind: Sum) -> ParquetResult<u32> {
    let (mut first, mut second, mut at) = (Crc::new(), 0, range.start);
    while at < range.end {
        let len = SUM_BYTES.min(range.end - at);
        let bytes = input.get_bytes(at, len as usize)?;
        match kind {
            Sum::Crc32 => first.update(&bytes),
            Sum::Crc32c => second = crc32c::crc32c_append(second, &bytes),
        }
        at += len;
    }
    Ok(match kind {
        Sum::Crc32 => first.sum(),
        Sum::Crc32c => second,
    })
}

fn groups(text: &str) -> Option<Groups> {
    let mut start = 0;
    let group = |part: &str| {
        let (end, sum) = part.split_once(':')?;
        let end = u64::from_str_radix(end, 16).ok()?;
        let range = std::mem::replace(&mut start, end)..end;
        Some((range, u32::from_str_radix(sum, 16).ok()?))
    };
    text.split_whitespace().map(group).collect()
}

/// An input shared by the Parquet reader and the checksums.
struct Shared<R>(Arc<R>);

impl<R> Clone for Shared<R> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<R: ChunkReader> Length for Shared<R> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<R: ChunkReader> ChunkReader for Shared<R> {
    type T = R::T;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        self.0.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<bytes::Bytes> {
        self.0.get_bytes(start, length)
    }
}
