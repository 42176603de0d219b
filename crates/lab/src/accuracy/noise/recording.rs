//! Latencies of a real disk, one request after another, as a Parquet file.
//!
//! Columns: `op` (`read`, `write`, `flush`), `bytes` (0 for a flush), `latency_ns`, rounded to three significant
//! digits so that the file stays small. The metadata key `fathom.recorded` says how it was recorded. No offsets and no
//! machine's name go in.

use bytes::Bytes;
use fathom_block::Op;
use parquet::basic::Compression;
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;

const RECORDED: &str = "fathom.recorded";
const SCHEMA: &str = "message latency {
    required binary op (STRING);
    required int64 bytes (INTEGER(64, false));
    required int64 latency_ns (INTEGER(64, false));
}";

/// One request of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// What it was: a read, a write or a flush.
    pub op: Op,
    /// Its length; 0 for a flush.
    pub bytes: u64,
    /// From submission to completion, in nanoseconds.
    pub latency_ns: u64,
}

/// Requests in the order in which they were made, one at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// How it was made.
    pub recorded: String,
    /// The requests.
    pub requests: Vec<Recorded>,
}

/// A recording that cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no recording of latencies: {0}")]
pub struct RecordingError(pub(super) String);

impl From<ParquetError> for RecordingError {
    fn from(error: ParquetError) -> Self {
        RecordingError(error.to_string())
    }
}

impl Recording {
    /// The file of this recording.
    ///
    /// # Errors
    /// [`RecordingError`] for what Parquet cannot hold, such as a trim.
    pub fn to_parquet(&self) -> Result<Vec<u8>, RecordingError> {
        let properties = WriterProperties::builder()
            .set_created_by(format!("fathom version {}", env!("CARGO_PKG_VERSION")))
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(vec![KeyValue::new(
                RECORDED.to_owned(),
                self.recorded.clone(),
            )]))
            .build();
        let schema = Arc::new(parse_message_type(SCHEMA)?);
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
        let mut group = writer.next_row_group()?;
        let of = |field: fn(&Recorded) -> u64| self.requests.iter().map(move |r| field(r) as i64);
        let ops = self.requests.iter().map(|r| Ok(name_of(r.op)?.into()));
        let ops: Result<Vec<ByteArray>, RecordingError> = ops.collect();
        write_column::<ByteArrayType>(&mut group, &ops?)?;
        write_column::<Int64Type>(&mut group, &of(|r| r.bytes).collect::<Vec<_>>())?;
        let rounded = of(|r| three_digits(r.latency_ns)).collect::<Vec<_>>();
        write_column::<Int64Type>(&mut group, &rounded)?;
        group.close()?;
        Ok(writer.into_inner()?)
    }

    /// Reads such a file.
    ///
    /// # Errors
    /// [`RecordingError`] with what is wrong with it.
    pub fn from_parquet(file: &'static [u8]) -> Result<Recording, RecordingError> {
        let reader = SerializedFileReader::new(Bytes::from_static(file))?;
        let pairs = reader.metadata().file_metadata().key_value_metadata();
        let recorded = pairs
            .into_iter()
            .flatten()
            .find(|pair| pair.key == RECORDED)
            .and_then(|pair| pair.value.clone())
            .ok_or_else(|| RecordingError(format!("its metadata lack `{RECORDED}`")))?;
        let mut requests = Vec::new();
        for index in 0..reader.num_row_groups() {
            let group = reader.get_row_group(index)?;
            let ops = read_column::<ByteArrayType>(&*group, 0)?;
            let bytes = read_column::<Int64Type>(&*group, 1)?;
            let latencies = read_column::<Int64Type>(&*group, 2)?;
            for ((op, bytes), latency) in ops.iter().zip(bytes).zip(latencies) {
                requests.push(Recorded {
                    op: op_of(op.data())?,
                    bytes: bytes as u64,
                    latency_ns: latency as u64,
                });
            }
        }
        Ok(Recording { recorded, requests })
    }
}

fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("no such column".into()));
    };
    column.typed::<T>().write_batch(values, None, None)?;
    column.close()
}

fn read_column<T: DataType>(
    group: &dyn RowGroupReader,
    index: usize,
) -> Result<Vec<T::T>, ParquetError> {
    let rows = group.metadata().num_rows() as usize;
    let mut column = get_typed_column_reader::<T>(group.get_column_reader(index)?);
    let mut values = Vec::with_capacity(rows);
    column.read_records(rows, None, None, &mut values)?;
    Ok(values)
}

const OPS: [(Op, &str); 3] = [
    (Op::Read, "read"),
    (Op::Write, "write"),
    (Op::Flush, "flush"),
];

fn name_of(op: Op) -> Result<&'static str, RecordingError> {
    let known = OPS.iter().find(|(known, _)| *known == op);
    known
        .map(|(_, name)| *name)
        .ok_or_else(|| RecordingError(format!("a {op} has no latency of its own here")))
}

fn op_of(name: &[u8]) -> Result<Op, RecordingError> {
    let known = OPS.iter().find(|(_, known)| known.as_bytes() == name);
    known
        .map(|(op, _)| *op)
        .ok_or_else(|| RecordingError(format!("no kind of request: {name:?}")))
}

/// Rounded to three significant digits.
fn three_digits(n: u64) -> u64 {
    let unit = 10u64.pow(n.max(1).ilog10().saturating_sub(2));
    (n + unit / 2) / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(latencies: &[u64]) -> Recording {
        let ops = [Op::Read, Op::Write, Op::Flush];
        let requests = latencies
            .iter()
            .enumerate()
            .map(|(i, latency_ns)| Recorded {
                op: ops[i % 3],
                bytes: (i as u64 % 3) * 4096,
                latency_ns: *latency_ns,
            });
        Recording {
            recorded: "by hand".into(),
            requests: requests.collect(),
        }
    }

    #[test]
    fn what_is_written_is_read_in_three_digits() {
        let written = recording(&[0, 7, 999, 1234, 1235, 98_765, 123_456_789]);
        let file = written.to_parquet().unwrap().leak();
        let read = Recording::from_parquet(file).unwrap();
        let rounded = recording(&[0, 7, 999, 1230, 1240, 98_800, 123_000_000]);
        assert_eq!(read, rounded);
    }

    #[test]
    fn what_is_no_recording_is_refused() {
        assert!(Recording::from_parquet(b"PAR1").is_err());
        let trim = Recorded {
            op: Op::Trim,
            bytes: 1,
            latency_ns: 1,
        };
        let of_trims = Recording {
            recorded: String::new(),
            requests: vec![trim],
        };
        let error = of_trims.to_parquet().unwrap_err().to_string();
        assert!(error.contains("trim"), "{error}");
    }
}
