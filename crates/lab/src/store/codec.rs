//! The record as a Parquet file: one row per sample, the run's description and its steps in the file's metadata.
//!
//! Columns are named as the fields of [`Sample`]; `parameter`, `series` and `timed` are their names as text, so that
//! DuckDB, Polars and pandas read the file without Fathom. The metadata keys are `fathom.format` (a number),
//! `fathom.meta` and `fathom.steps` (JSON) and `fathom.crc32c`. No time and no machine's name goes in: equal
//! records give equal bytes.
//!
//! The checksum is a CRC-32C of every byte of the file but its own digits, so that a record that was copied away from its
//! set is held to a sum, too. It is checked before the file is parsed: the Parquet reader panics on some damaged files,
//! and reads wrong numbers from others. Records of the first format have `fathom.checksum` instead, a sum that does not
//! tell every two bits that changed; they are read, and a note says so.

use super::StoreError;
use bytes::Bytes;
use fathom_probe::record::Timed;
use fathom_probe::{Parameter, Record, RecordMeta, Sample, Series, Step};
use parquet::basic::Compression;
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use serde::de::DeserializeOwned;
use serde::de::value::{Error as TextError, StrDeserializer};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

const FORMAT: u32 = 3;
const MAGIC: [u8; 4] = *b"PAR1";
/// The digits of the checksum before it is known.
const BLANK: &str = "00000000";
/// What stands before the digits: the key, and the Thrift header of a string of 8 bytes.
const MARK: &[u8] = b"fathom.crc32c\x18\x08";
/// The same in the first format, of 16 digits.
const MARK_1: &[u8] = b"fathom.checksum\x18\x10";
const DIGITS_1: usize = 16;
const ROWS_PER_GROUP: usize = 1 << 20;
const SCHEMA: &str = "message sample {
    required int32 step (INTEGER(32, false));
    required binary parameter (STRING);
    required binary series (STRING);
    required int64 x (INTEGER(64, false));
    required int32 rep (INTEGER(32, false));
    required binary timed (STRING);
    required int64 offset (INTEGER(64, false));
    required int64 bytes (INTEGER(64, false));
    required int64 ns (INTEGER(64, false));
    required int64 at_ns (INTEGER(64, false));
}";

type Group<'a> = SerializedRowGroupWriter<'a, Vec<u8>>;

pub(super) fn encode(record: &Record) -> Result<Vec<u8>, String> {
    let meta = serde_json::to_string(&record.meta).map_err(|e| e.to_string())?;
    let steps = serde_json::to_string(&record.steps).map_err(|e| e.to_string())?;
    let pairs = [
        ("fathom.format", FORMAT.to_string()),
        ("fathom.meta", meta),
        ("fathom.steps", steps),
        ("fathom.crc32c", BLANK.to_owned()),
    ];
    let mut bytes = write_file(record, &pairs).map_err(|e| e.to_string())?;
    let digits = digits_of(&bytes, MARK, BLANK.len()).ok_or("its metadata lack their checksum")?;
    let sum = checksum(&bytes, &digits);
    bytes[digits].copy_from_slice(sum.as_bytes());
    Ok(bytes)
}

fn write_file(record: &Record, pairs: &[(&str, String)]) -> Result<Vec<u8>, ParquetError> {
    let pairs = pairs
        .iter()
        .map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone()))
        .collect();
    let properties = WriterProperties::builder()
        .set_created_by(format!("fathom version {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(pairs))
        .build();
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    for rows in record.samples.chunks(ROWS_PER_GROUP) {
        let mut group = writer.next_row_group()?;
        write_rows(&mut group, rows)?;
        group.close()?;
    }
    writer.into_inner()
}

fn write_rows(group: &mut Group<'_>, rows: &[Sample]) -> Result<(), ParquetError> {
    let of = |field: fn(&Sample) -> u64| rows.iter().map(move |s| field(s) as i64).collect();
    write_column::<Int32Type>(group, rows.iter().map(|s| s.step as i32).collect())?;
    write_column::<ByteArrayType>(group, names(rows.iter().map(|s| s.parameter)))?;
    write_column::<ByteArrayType>(group, names(rows.iter().map(|s| s.series)))?;
    write_column::<Int64Type>(group, of(|s| s.x))?;
    write_column::<Int32Type>(group, rows.iter().map(|s| s.rep as i32).collect())?;
    write_column::<ByteArrayType>(group, names(rows.iter().map(|s| s.timed)))?;
    write_column::<Int64Type>(group, of(|s| s.offset))?;
    write_column::<Int64Type>(group, of(|s| s.bytes))?;
    write_column::<Int64Type>(group, of(|s| s.ns))?;
    write_column::<Int64Type>(group, of(|s| s.at_ns))
}

fn write_column<T: DataType>(group: &mut Group<'_>, values: Vec<T::T>) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("no such column".into()));
    };
    column.typed::<T>().write_batch(&values, None, None)?;
    column.close()
}

/// The names that serde gives to the values of a plain enum.
fn names<E: Copy + Ord + Serialize>(values: impl Iterator<Item = E>) -> Vec<ByteArray> {
    let mut known: BTreeMap<E, ByteArray> = BTreeMap::new();
    values
        .map(|value| known.entry(value).or_insert_with(|| name(value)).clone())
        .collect()
}

fn name<E: Serialize>(value: E) -> ByteArray {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => ByteArray::from(name.into_bytes()),
        // A plain enum is always a string; what is not would be found when it is read.
        _ => ByteArray::from(Vec::new()),
    }
}

/// The record in a file's bytes, and what to say of the file's checksum where it is a weak one.
pub(super) fn decode(path: &Path, bytes: Vec<u8>) -> Result<(Record, Option<String>), StoreError> {
    let damaged = |detail: String| StoreError::Damaged {
        path: path.to_owned(),
        detail,
    };
    let note = check_whole(path, &bytes)?;
    let reader =
        SerializedFileReader::new(Bytes::from(bytes)).map_err(|e| damaged(e.to_string()))?;
    let pairs = metadata_of(path, &reader)?;
    let text = |key: &str| {
        let missing = || damaged(format!("its metadata lack `{key}`"));
        pairs.get(key).copied().ok_or_else(missing)
    };
    let (meta_text, steps_text) = (text("fathom.meta")?, text("fathom.steps")?);
    let samples = read_samples(&reader).map_err(|e| damaged(e.to_string()))?;
    let meta: RecordMeta = from_json(meta_text).map_err(damaged)?;
    let steps: Vec<Step> = from_json(steps_text).map_err(damaged)?;
    if let Some(stray) = samples.iter().find(|s| s.step as usize >= steps.len()) {
        return Err(damaged(format!(
            "a sample belongs to step {}, of {} steps",
            stray.step,
            steps.len()
        )));
    }
    let record = Record {
        meta,
        steps,
        samples,
    };
    Ok((record, note))
}

/// Checks that the file begins and ends as a Parquet file does and is what was written, to the byte.
fn check_whole(path: &Path, bytes: &[u8]) -> Result<Option<String>, StoreError> {
    let path = path.to_owned();
    let len = bytes.len() as u64;
    let foreign = |path, detail: &str| {
        Err(StoreError::Foreign {
            path,
            detail: detail.into(),
        })
    };
    if !bytes.starts_with(&MAGIC) && !MAGIC.starts_with(bytes) {
        return foreign(path, "it is no Parquet file");
    }
    if len < 12 || !bytes.ends_with(&MAGIC) {
        return Err(StoreError::Truncated { path, len });
    }
    let (same, note) = if let Some(digits) = digits_of(bytes, MARK, BLANK.len()) {
        (checksum(bytes, &digits).as_bytes() == &bytes[digits], None)
    } else if let Some(digits) = digits_of(bytes, MARK_1, DIGITS_1) {
        let note = format!(
            "{} is of an older version, whose checksum does not notice every damage",
            path.display()
        );
        let same = checksum_1(bytes, &digits).as_bytes() == &bytes[digits];
        (same, Some(note))
    } else {
        return foreign(path, "its metadata lack `fathom.crc32c`");
    };
    if same {
        return Ok(note);
    }
    Err(StoreError::Damaged {
        path,
        detail: "its contents do not match its checksum".into(),
    })
}

/// Where the digits of the checksum stand: after the last mark, since the metadata end the file.
fn digits_of(bytes: &[u8], mark: &[u8], len: usize) -> Option<Range<usize>> {
    let at = bytes.windows(mark.len()).rposition(|w| w == mark)? + mark.len();
    (at + len <= bytes.len()).then_some(at..at + len)
}

/// The metadata by key, of a file that has Fathom's columns in a format that is known.
fn metadata_of<'a>(
    path: &Path,
    reader: &'a SerializedFileReader<Bytes>,
) -> Result<BTreeMap<&'a str, &'a str>, StoreError> {
    let foreign = |detail: &str| StoreError::Foreign {
        path: path.to_owned(),
        detail: detail.into(),
    };
    let file = reader.metadata().file_metadata();
    let pairs: BTreeMap<&str, &str> = file
        .key_value_metadata()
        .into_iter()
        .flatten()
        .filter_map(|p| Some((p.key.as_str(), p.value.as_deref()?)))
        .collect();
    let format = pairs
        .get("fathom.format")
        .and_then(|text| text.parse::<u32>().ok())
        .ok_or_else(|| foreign("its metadata lack `fathom.format`"))?;
    if format > FORMAT {
        return Err(StoreError::Newer {
            path: path.to_owned(),
            found: format,
            known: FORMAT,
        });
    }
    let ours = parse_message_type(SCHEMA).is_ok_and(|schema| &schema == file.schema());
    if ours {
        Ok(pairs)
    } else {
        Err(foreign("its columns are others"))
    }
}

fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|e| format!("its metadata: {e}"))
}

fn read_samples(reader: &SerializedFileReader<Bytes>) -> Result<Vec<Sample>, ParquetError> {
    let mut samples = Vec::new();
    for group in 0..reader.num_row_groups() {
        read_rows(&*reader.get_row_group(group)?, &mut samples)?;
    }
    Ok(samples)
}

fn read_rows(group: &dyn RowGroupReader, samples: &mut Vec<Sample>) -> Result<(), ParquetError> {
    let wide = |index| read_column::<Int64Type>(group, index);
    let narrow = |index| read_column::<Int32Type>(group, index);
    let (step, rep) = (narrow(0)?, narrow(4)?);
    let parameter = read_names::<Parameter>(group, 1)?;
    let series = read_names::<Series>(group, 2)?;
    let timed = read_names::<Timed>(group, 5)?;
    let (x, offset, bytes, ns, at_ns) = (wide(3)?, wide(6)?, wide(7)?, wide(8)?, wide(9)?);
    let rows = step.len();
    let lens = [parameter.len(), series.len(), timed.len(), rep.len()];
    let wides = [x.len(), offset.len(), bytes.len(), ns.len(), at_ns.len()];
    if lens.iter().chain(&wides).any(|&len| len != rows) {
        return Err(ParquetError::General("columns of unequal length".into()));
    }
    samples.extend((0..rows).map(|i| Sample {
        step: step[i] as u32,
        parameter: parameter[i],
        series: series[i],
        x: x[i] as u64,
        rep: rep[i] as u32,
        timed: timed[i],
        offset: offset[i] as u64,
        bytes: bytes[i] as u64,
        ns: ns[i] as u64,
        at_ns: at_ns[i] as u64,
    }));
    Ok(())
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

fn read_names<E: Copy + for<'de> Deserialize<'de>>(
    group: &dyn RowGroupReader,
    index: usize,
) -> Result<Vec<E>, ParquetError> {
    let mut known: BTreeMap<Vec<u8>, E> = BTreeMap::new();
    read_column::<ByteArrayType>(group, index)?
        .iter()
        .map(|bytes| {
            if let Some(value) = known.get(bytes.data()) {
                return Ok(*value);
            }
            let name = bytes.as_utf8()?;
            let value = E::deserialize(StrDeserializer::<TextError>::new(name))
                .map_err(|e| ParquetError::General(e.to_string()))?;
            known.insert(bytes.data().to_vec(), value);
            Ok(value)
        })
        .collect()
}

/// CRC-32C over all but the digits, as digits.
fn checksum(bytes: &[u8], digits: &Range<usize>) -> String {
    let sum = crc32c::crc32c(&bytes[..digits.start]);
    let sum = crc32c::crc32c_append(sum, &bytes[digits.end..]);
    format!("{sum:08x}")
}

/// That of the first format: FNV-1a (Fowler, Noll, Vo) over 64-bit words. The highest bit of a word reaches no other bit, so
/// that two of them that changed are not told.
fn checksum_1(bytes: &[u8], digits: &Range<usize>) -> String {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    for part in [&bytes[..digits.start], &bytes[digits.end..]] {
        for chunk in part.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    format!("{sum:016x}")
}
