//! Every access of a run in a Parquet file, for DuckDB, Polars and pandas: written as they end, in constant memory.
//!
//! Columns: `number` (from 0, in the order of the workload), `at_ns` (when it was asked for, since the start of
//! the run), `op`, `offset`, `bytes`, `submitted_ns`, `completed_ns` (both since the start of the run).

use crate::store::{REQUESTS_FILE, StagedFile, Staging, StoreError};
use fathom_base::Time;
use fathom_run::Played;
use fathom_run::compare::{Responses, Timed};
use parquet::basic::Compression;
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const ROWS_PER_GROUP: usize = 1 << 16;
const SCHEMA: &str = "message access {
    required int64 number (INTEGER(64, false));
    required int64 at_ns (INTEGER(64, false));
    required binary op (STRING);
    required int64 offset (INTEGER(64, false));
    required int64 bytes (INTEGER(64, false));
    required int64 submitted_ns (INTEGER(64, false));
    required int64 completed_ns (INTEGER(64, false));
}";

/// The file while it grows. It becomes a file of the set when it is whole.
pub struct RequestFile<'a> {
    set: &'a mut Staging,
    place: PathBuf,
    writer: SerializedFileWriter<StagedFile>,
    rows: Vec<Played>,
    start: Time,
}

impl<'a> RequestFile<'a> {
    /// Begins the file of a set. Times count from `start`.
    ///
    /// # Errors
    /// [`StoreError`] where no file can be made.
    pub fn create(set: &'a mut Staging, start: Time) -> Result<Self, StoreError> {
        let properties = WriterProperties::builder()
            .set_created_by(format!("fathom version {}", env!("CARGO_PKG_VERSION")))
            .set_compression(Compression::SNAPPY)
            .build();
        let file = set.begin(REQUESTS_FILE)?;
        let place = file.place().to_owned();
        let failed = |error: ParquetError| written(&place, error);
        let schema = parse_message_type(SCHEMA).map_err(failed)?;
        let writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))
            .map_err(failed)?;
        Ok(Self {
            set,
            place,
            writer,
            rows: Vec::with_capacity(ROWS_PER_GROUP),
            start,
        })
    }

    /// Adds an access.
    ///
    /// # Errors
    /// [`StoreError`] where the medium does not take it.
    pub fn push(&mut self, played: &Played) -> Result<(), StoreError> {
        self.rows.push(*played);
        if self.rows.len() < ROWS_PER_GROUP {
            return Ok(());
        }
        self.write_group().map_err(|e| written(&self.place, e))
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        let rows = &self.rows;
        let since = |time: Time| time.since(self.start).0;
        let of = |field: &dyn Fn(&Played) -> u64| rows.iter().map(|p| field(p) as i64).collect();
        column::<Int64Type, _>(&mut group, of(&|p| p.number))?;
        column::<Int64Type, _>(&mut group, of(&|p| since(p.asked)))?;
        let ops = rows
            .iter()
            .map(|p| ByteArray::from(p.access.op.to_string().into_bytes()));
        column::<ByteArrayType, _>(&mut group, ops.collect())?;
        column::<Int64Type, _>(&mut group, of(&|p| p.access.offset))?;
        column::<Int64Type, _>(&mut group, of(&|p| p.access.len))?;
        column::<Int64Type, _>(&mut group, of(&|p| since(p.submitted)))?;
        column::<Int64Type, _>(&mut group, of(&|p| since(p.completed)))?;
        group.close()?;
        self.rows.clear();
        Ok(())
    }

    /// Completes the file.
    ///
    /// # Errors
    /// [`StoreError`]; the set does not have it then.
    pub fn finish(mut self) -> Result<(), StoreError> {
        let last = match self.rows.is_empty() {
            true => Ok(()),
            false => self.write_group(),
        };
        let file = last.and_then(|()| self.writer.into_inner());
        self.set.end(file.map_err(|e| written(&self.place, e))?)
    }
}

/// What the Parquet writer says, as what it is about: most of the time the medium.
fn written(place: &Path, error: ParquetError) -> StoreError {
    let detail = match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(source) => return StoreError::io("write", place, *source),
            Err(source) => source.to_string(),
        },
        other => other.to_string(),
    };
    let what = REQUESTS_FILE;
    StoreError::Encode { what, detail }
}

fn column<T: DataType, W: std::io::Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: Vec<T::T>,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("no such column".into()));
    };
    column.typed::<T>().write_batch(&values, None, None)?;
    column.close()
}

/// The response time of every access of a file, by its number.
///
/// # Errors
/// What is wrong with the file, in words.
pub fn read_responses(file: File) -> Result<Responses, String> {
    // The Parquet reader panics on some damaged files.
    std::panic::catch_unwind(|| decode(file))
        .unwrap_or_else(|_| Err(ParquetError::General("its contents do not fit".into())))
        .map_err(|e| e.to_string())
}

fn decode(file: File) -> Result<Responses, ParquetError> {
    let reader = SerializedFileReader::new(file)?;
    let schema = parse_message_type(SCHEMA)?;
    if &schema != reader.metadata().file_metadata().schema() {
        return Err(ParquetError::General("its columns are others".into()));
    }
    let mut rows: Vec<(u64, Timed)> = Vec::new();
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group)?;
        let number = read_column::<Int64Type>(&*group, 0)?;
        let at = read_column::<Int64Type>(&*group, 1)?;
        let ops = read_column::<ByteArrayType>(&*group, 2)?;
        let completed = read_column::<Int64Type>(&*group, 6)?;
        if [at.len(), ops.len(), completed.len()] != [number.len(); 3] {
            return Err(ParquetError::General("columns of unequal length".into()));
        }
        for (index, op) in ops.iter().enumerate() {
            let write = match op.data() {
                b"read" => false,
                b"write" => true,
                _ => continue,
            };
            let response_ns = (completed[index] as u64).saturating_sub(at[index] as u64);
            rows.push((number[index] as u64, Timed { write, response_ns }));
        }
    }
    Ok(Responses::new(rows))
}

fn read_column<T: DataType>(
    group: &dyn RowGroupReader,
    index: usize,
) -> Result<Vec<T::T>, ParquetError> {
    let mut column = get_typed_column_reader::<T>(group.get_column_reader(index)?);
    let mut values = Vec::new();
    // By batches: the row count of a damaged file is no reason to reserve memory.
    while column.read_records(1 << 16, None, None, &mut values)?.0 > 0 {}
    Ok(values)
}
