//! Reading a trace from Parquet: a row group is checked, then read in batches.

use super::{
    GUARD, GUARD_1, GUARD_BYTES, KEY_CAPACITY, KEY_GROUPS, KEY_VERSION, MAGIC, SCHEMA, TAIL_BYTES,
    VERSION, VERSION_1, damaged, wrong,
};
use crate::Access;
use crate::error::{ErrorKind, Place, TraceError};
use crate::format::check;
use fathom_base::Time;
use fathom_block::Op;
use flate2::Crc;
use parquet::column::reader::{ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::FileMetaData;
use parquet::file::reader::{
    ChunkReader, FileReader, Length, RowGroupReader, SerializedFileReader,
};
use parquet::schema::parser::parse_message_type;
use std::ops::Range;
use std::sync::Arc;

/// Rows that are decoded at once.
const BATCH_ROWS: usize = 8_192;
/// What is read at once to be summed.
const SUM_BYTES: u64 = 1 << 20;

/// Computes the checksum of a range of the file.
type Sum = Box<dyn Fn(Range<u64>) -> ParquetResult<u32> + Send>;

/// The row groups in order: where each is, and its checksum.
type Groups = Vec<(Range<u64>, u32)>;

/// Reads the rows of a file.
pub(crate) struct Reader {
    file: Box<dyn FileReader>,
    sum: Sum,
    groups: Groups,
    next_group: usize,
    columns: Option<Columns>,
    batch: Batch,
    row: u64,
    capacity_bytes: u64,
    ended: bool,
}

/// The columns of the row group that is being read.
struct Columns {
    at: ColumnReaderImpl<Int64Type>,
    op: ColumnReaderImpl<ByteArrayType>,
    offset: ColumnReaderImpl<Int64Type>,
    len: ColumnReaderImpl<Int64Type>,
    disk: ColumnReaderImpl<Int32Type>,
}

/// Rows that are decoded; `next` is the first that has not been taken.
#[derive(Default)]
struct Batch {
    at: Vec<i64>,
    op: Vec<ByteArray>,
    offset: Vec<i64>,
    len: Vec<i64>,
    disk: Vec<i32>,
    next: usize,
}

impl Reader {
    pub(crate) fn new<R: ChunkReader + 'static>(input: R) -> Result<Self, TraceError> {
        let input = Shared(Arc::new(input));
        let (rows_end, version) = check_footer(&input)?;
        let file = SerializedFileReader::new(input.clone()).map_err(wrong)?;
        let metadata = file.metadata();
        let (groups, capacity_bytes) = description(metadata.file_metadata(), version)?;
        let fits = groups
            .last()
            .map_or(MAGIC.len() as u64, |(range, _)| range.end)
            == rows_end
            && groups.len() == metadata.num_row_groups();
        if !fits {
            return Err(damaged("its metadata and its row groups differ"));
        }
        Ok(Self {
            file: Box::new(file),
            sum: Box::new(move |range| sum(&input, range, version)),
            groups,
            next_group: 0,
            columns: None,
            batch: Batch::default(),
            row: 0,
            capacity_bytes,
            ended: false,
        })
    }

    pub(crate) fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// Memory of the decoded rows; what the Parquet reader keeps of a page comes on top.
    pub(crate) fn memory_bytes(&self) -> usize {
        let row = 3 * size_of::<i64>() + size_of::<ByteArray>() + size_of::<i32>();
        self.batch.at.capacity() * row
    }

    /// The next access with its place.
    pub(crate) fn next(&mut self) -> Option<Result<(Option<Access>, Place), TraceError>> {
        while self.batch.next == self.batch.at.len() {
            if self.ended {
                return None;
            }
            if let Err(error) = self.read_batch() {
                self.ended = true;
                self.batch = Batch::default();
                let place = Place::Row(self.row + 1);
                return Some(Err(TraceError {
                    place,
                    ..wrong(error)
                }));
            }
        }
        self.row += 1;
        let place = Place::Row(self.row);
        let access = self.batch.take();
        Some(match access {
            Ok(access) => Ok((Some(access), place)),
            Err(kind) => Err(TraceError::new(kind, place)),
        })
    }

    /// Decodes more rows, of the next row group where this one has no more.
    fn read_batch(&mut self) -> ParquetResult<()> {
        if let Some(columns) = &mut self.columns {
            if self.batch.read(columns)? == 0 {
                self.columns = None;
            }
            return Ok(());
        }
        let Some((range, expected)) = self.groups.get(self.next_group).cloned() else {
            self.ended = true;
            return Ok(());
        };
        if (self.sum)(range)? != expected {
            let group = self.next_group + 1;
            return Err(ParquetError::General(format!(
                "row group {group} does not match its checksum"
            )));
        }
        let group = self.file.get_row_group(self.next_group)?;
        self.columns = Some(Columns::new(&*group)?);
        self.next_group += 1;
        Ok(())
    }
}

impl Columns {
    fn new(group: &dyn RowGroupReader) -> ParquetResult<Self> {
        fn column<T: DataType>(
            group: &dyn RowGroupReader,
            index: usize,
        ) -> ParquetResult<ColumnReaderImpl<T>> {
            Ok(get_typed_column_reader::<T>(
                group.get_column_reader(index)?,
            ))
        }
        Ok(Self {
            at: column(group, 0)?,
            op: column(group, 1)?,
            offset: column(group, 2)?,
            len: column(group, 3)?,
            disk: column(group, 4)?,
        })
    }
}

impl Batch {
    fn read(&mut self, columns: &mut Columns) -> ParquetResult<usize> {
        fn fill<T: DataType>(
            column: &mut ColumnReaderImpl<T>,
            values: &mut Vec<T::T>,
        ) -> ParquetResult<usize> {
            values.clear();
            while values.len() < BATCH_ROWS {
                let wanted = BATCH_ROWS - values.len();
                if column.read_records(wanted, None, None, values)?.0 == 0 {
                    break;
                }
            }
            Ok(values.len())
        }
        self.next = 0;
        let rows = fill(&mut columns.at, &mut self.at)?;
        let others = [
            fill(&mut columns.op, &mut self.op)?,
            fill(&mut columns.offset, &mut self.offset)?,
            fill(&mut columns.len, &mut self.len)?,
            fill(&mut columns.disk, &mut self.disk)?,
        ];
        if others.iter().any(|&other| other != rows) {
            return Err(ParquetError::General("columns of unequal length".into()));
        }
        Ok(rows)
    }

    fn take(&mut self) -> Result<Access, ErrorKind> {
        let row = self.next;
        self.next += 1;
        let op = op(self.op[row].data())?;
        let (offset, len) = (self.offset[row] as u64, self.len[row] as u64);
        check(op, offset, len).map_err(|fault| fault.kind())?;
        Ok(Access {
            at: Time(self.at[row] as u64),
            op,
            offset,
            len,
            disk: self.disk[row] as u32,
        })
    }
}

fn op(name: &[u8]) -> Result<Op, ErrorKind> {
    match name {
        b"read" => Ok(Op::Read),
        b"write" => Ok(Op::Write),
        b"flush" => Ok(Op::Flush),
        b"trim" => Ok(Op::Trim),
        _ => Err(ErrorKind::UnknownOp {
            field: "op",
            found: String::from_utf8_lossy(name).chars().take(40).collect(),
            wanted: "read, write, flush and trim",
        }),
    }
}

/// Which checksum a file has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    /// CRC-32.
    First,
    /// CRC-32C.
    Second,
}

/// Checks the end of the file against its checksum; where the row groups end, and which checksum they have.
fn check_footer<R: ChunkReader>(input: &R) -> Result<(u64, Version), TraceError> {
    const NO_PARQUET: &str = "its end is not that of a Parquet file";
    let foreign = |what| TraceError::input(ErrorKind::Foreign(what));
    let len = input.len();
    let Some(tail_at) = len.checked_sub(TAIL_BYTES) else {
        return Err(foreign(NO_PARQUET));
    };
    let tail = input
        .get_bytes(tail_at, TAIL_BYTES as usize)
        .map_err(wrong)?;
    let Some((&footer_len, MAGIC)) = tail.split_first_chunk::<4>() else {
        return Err(foreign(NO_PARQUET));
    };
    let footer_len = u64::from(u32::from_le_bytes(footer_len));
    let unguarded = foreign("it has no checksum before its footer");
    let Some(guard_at) = tail_at.checked_sub(footer_len + GUARD_BYTES as u64) else {
        return Err(unguarded);
    };
    let guard = input.get_bytes(guard_at, GUARD_BYTES).map_err(wrong)?;
    let (version, expected) = match guard.split_first_chunk::<8>() {
        Some((GUARD, expected)) => (Version::Second, expected),
        Some((GUARD_1, expected)) => (Version::First, expected),
        _ => return Err(unguarded),
    };
    let footer = guard_at + GUARD_BYTES as u64..len;
    let found = sum(input, footer, version).map_err(wrong)?;
    if found.to_le_bytes() != *expected {
        return Err(damaged("its footer does not match its checksum"));
    }
    // Where there is a row group, its checksum holds this too.
    if input.get_bytes(0, MAGIC.len()).map_err(wrong)? != MAGIC {
        return Err(damaged("its start is not that of a Parquet file"));
    }
    Ok((guard_at, version))
}

fn sum<R: ChunkReader>(input: &R, range: Range<u64>, version: Version) -> ParquetResult<u32> {
    let (mut first, mut second) = (Crc::new(), 0);
    let mut at = range.start;
    while at < range.end {
        let len = SUM_BYTES.min(range.end - at);
        let bytes = input.get_bytes(at, len as usize)?;
        match version {
            Version::First => first.update(&bytes),
            Version::Second => second = crc32c::crc32c_append(second, &bytes),
        }
        at += len;
    }
    Ok(match version {
        Version::First => first.sum(),
        Version::Second => second,
    })
}

/// The row groups with their checksums, and the capacity, as the metadata have them.
fn description(file: &FileMetaData, version: Version) -> Result<(Groups, u64), TraceError> {
    let foreign = |what| TraceError::input(ErrorKind::Foreign(what));
    let value = |key: &str| {
        let mut pairs = file.key_value_metadata().into_iter().flatten();
        pairs
            .find(|pair| pair.key == key)
            .and_then(|p| p.value.as_deref())
    };
    let wanted = match version {
        Version::First => VERSION_1,
        Version::Second => VERSION,
    };
    if value(KEY_VERSION) != Some(wanted) {
        return Err(foreign("its metadata do not have `fathom.trace` = 2"));
    }
    if !parse_message_type(SCHEMA).is_ok_and(|schema| &schema == file.schema()) {
        return Err(foreign("its columns are others"));
    }
    let capacity = value(KEY_CAPACITY).and_then(|text| text.parse().ok());
    let groups = value(KEY_GROUPS).and_then(groups);
    groups
        .zip(capacity)
        .ok_or_else(|| damaged("its metadata do not describe its row groups"))
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

/// An input that the Parquet reader and the checksums share.
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
