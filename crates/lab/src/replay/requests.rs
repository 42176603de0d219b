//! Every access of a run in a Parquet file, for DuckDB, Polars and pandas: written as they end, in constant memory.
//!
//! Columns: `number` (from 0, in the order of the workload), `at_ns` (when it was asked for, since the start of
//! the run), `op`, `offset`, `bytes`, `submitted_ns`, `completed_ns` (both since the start of the run).

use super::play::Played;
use crate::compare::{Responses, Timed};
use crate::store::whole::temp_in;
use fathom_base::Time;
use parquet::basic::Compression;
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::NamedTempFile;

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

/// A file of accesses that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {detail}", path.display())]
pub struct RequestFileError {
    /// The file.
    pub path: PathBuf,
    /// Why not.
    pub detail: String,
}

/// The file while it grows. It takes its name when it is whole.
pub struct RequestFile {
    path: PathBuf,
    writer: SerializedFileWriter<File>,
    file: NamedTempFile,
    rows: Vec<Played>,
    start: Time,
}

impl RequestFile {
    /// Begins a file; nothing stands at `path` before [`RequestFile::finish`]. Times count from `start`.
    ///
    /// # Errors
    /// [`RequestFileError`] where no file can be made beside `path`.
    pub fn create(path: &Path, start: Time) -> Result<Self, RequestFileError> {
        let failed = |detail: String| RequestFileError {
            path: path.to_owned(),
            detail,
        };
        let dir = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(dir).map_err(|e| failed(e.to_string()))?;
        let file = temp_in(dir).map_err(|e| failed(e.to_string()))?;
        let properties = WriterProperties::builder()
            .set_created_by(format!("fathom version {}", env!("CARGO_PKG_VERSION")))
            .set_compression(Compression::SNAPPY)
            .build();
        let handle = file.reopen().map_err(|e| failed(e.to_string()))?;
        let schema = parse_message_type(SCHEMA).map_err(|e| failed(e.to_string()))?;
        let writer = SerializedFileWriter::new(handle, Arc::new(schema), Arc::new(properties))
            .map_err(|e| failed(e.to_string()))?;
        Ok(Self {
            path: path.to_owned(),
            writer,
            file,
            rows: Vec::with_capacity(ROWS_PER_GROUP),
            start,
        })
    }

    fn failed(&self, error: &dyn std::fmt::Display) -> RequestFileError {
        RequestFileError {
            path: self.path.clone(),
            detail: error.to_string(),
        }
    }

    /// Adds an access.
    ///
    /// # Errors
    /// [`RequestFileError`] where the medium does not take it.
    pub fn push(&mut self, played: &Played) -> Result<(), RequestFileError> {
        self.rows.push(*played);
        if self.rows.len() < ROWS_PER_GROUP {
            return Ok(());
        }
        self.write_group().map_err(|e| self.failed(&e))
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

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// [`RequestFileError`]; nothing stands at its name then.
    pub fn finish(mut self) -> Result<(), RequestFileError> {
        let written = match self.rows.is_empty() {
            true => Ok(()),
            false => self.write_group(),
        };
        written.map_err(|e| self.failed(&e))?;
        let failed = |path: &Path, error: &dyn std::fmt::Display| RequestFileError {
            path: path.to_owned(),
            detail: error.to_string(),
        };
        self.writer.close().map_err(|e| failed(&self.path, &e))?;
        let synced = self.file.as_file().sync_all();
        synced.map_err(|e| failed(&self.path, &e))?;
        let persisted = self.file.persist(&self.path);
        persisted.map_err(|e| failed(&self.path, &e))?;
        Ok(())
    }
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
