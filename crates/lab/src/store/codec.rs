//! Encodes the record as a Parquet file: one row per sample, with the description of the run and its steps in the file's
//! metadata.
//!
//! Columns are named after the fields of [`Sample`]; `parameter`, `series` and `timed` hold their names as text. The
//! metadata keys are `fathom.format` (the version), `fathom.meta` and `fathom.steps` (JSON), besides those of every
//! [`table`](fathom_trace::table). The checksums of the table also protect a record that was copied away from its set. The
//! file holds no time and no host name, so equal records give equal bytes. Records of formats before the fourth have
//! another kind of checksum ([`older`]).

mod older;

use super::StoreError;
use bytes::Bytes;
use fathom_probe::record::Timed;
use fathom_probe::{Parameter, Record, RecordMeta, Sample, Series, Step};
use fathom_trace::table::{Column, Layout, TableError, TableReader, TableWriter, Text};
use serde::de::DeserializeOwned;
use serde::de::value::{Error as TextError, StrDeserializer};
use serde::{Deserialize, Serialize};
use std::path::Path;

const META: &str = "fathom.meta";
const STEPS: &str = "fathom.steps";
const ROWS_PER_GROUP: usize = 1 << 20;
const LAYOUT: Layout = Layout {
    key: "fathom.format",
    version: 4,
    message: "message sample {
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
}",
    deltas: &[],
    without_range: &[],
};

pub(super) fn encode(record: &Record) -> Result<Vec<u8>, String> {
    let meta = serde_json::to_string(&record.meta).map_err(|e| e.to_string())?;
    let steps = serde_json::to_string(&record.steps).map_err(|e| e.to_string())?;
    write_file(record, &[(META, meta), (STEPS, steps)]).map_err(|e| e.to_string())
}

fn write_file(record: &Record, metadata: &[(&str, String)]) -> Result<Vec<u8>, TableError> {
    let mut table = TableWriter::new(Vec::new(), LAYOUT)?;
    for rows in record.samples.chunks(ROWS_PER_GROUP) {
        let rows = rows.iter();
        table.group(&[
            Column::ints(rows.clone().map(|s| s.step)),
            Column::names(rows.clone().map(|s| s.parameter), name),
            Column::names(rows.clone().map(|s| s.series), name),
            Column::longs(rows.clone().map(|s| s.x)),
            Column::ints(rows.clone().map(|s| s.rep)),
            Column::names(rows.clone().map(|s| s.timed), name),
            Column::longs(rows.clone().map(|s| s.offset)),
            Column::longs(rows.clone().map(|s| s.bytes)),
            Column::longs(rows.clone().map(|s| s.ns)),
            Column::longs(rows.map(|s| s.at_ns)),
        ])?;
    }
    table.finish(metadata)
}

/// Returns serde's name of a fieldless enum's value.
fn name<E: Serialize>(value: E) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        // A fieldless enum is always a string; anything else would be detected on reading.
        _ => String::new(),
    }
}

/// Decodes a record, with a note if the file's checksum is a weak one.
pub(super) fn decode(path: &Path, bytes: Vec<u8>) -> Result<(Record, Option<String>), StoreError> {
    let bytes = Bytes::from(bytes);
    let (table, note) = match older::check(path, &bytes)? {
        Some(older) => (TableReader::unguarded(bytes.clone(), &LAYOUT), older.note),
        None => (TableReader::new(bytes.clone(), &LAYOUT), None),
    };
    let mut table = table.map_err(|e| wrong(path, &bytes, e))?;
    let samples = read_samples(&mut table).map_err(|e| wrong(path, &bytes, e))?;
    let damaged = |detail: String| StoreError::Damaged {
        path: path.to_owned(),
        detail,
    };
    let meta: RecordMeta = from_json(&table, META).map_err(damaged)?;
    let steps: Vec<Step> = from_json(&table, STEPS).map_err(damaged)?;
    if let Some(stray) = samples.iter().find(|s| s.step as usize >= steps.len()) {
        return Err(damaged(format!(
            "a sample belongs to step {}, of {} steps",
            stray.step,
            steps.len()
        )));
    }
    // The samples of a step are found by bisection.
    if !samples.is_sorted_by_key(|sample| sample.step) {
        return Err(damaged(
            "samples are not in the order of their steps".into(),
        ));
    }
    let record = Record {
        meta,
        steps,
        samples,
    };
    Ok((record, note))
}

fn wrong(path: &Path, bytes: &Bytes, error: TableError) -> StoreError {
    let path = path.to_owned();
    match error {
        TableError::Foreign(detail) => StoreError::Foreign {
            path,
            detail: detail.to_owned(),
        },
        TableError::Truncated => StoreError::Truncated {
            path,
            len: bytes.len() as u64,
        },
        TableError::Newer { found, known } => StoreError::Newer { path, found, known },
        TableError::Io(_) | TableError::Damaged(_) => StoreError::Damaged {
            path,
            detail: error.to_string(),
        },
    }
}

fn from_json<T: DeserializeOwned>(table: &TableReader, key: &str) -> Result<T, String> {
    let text = table.metadata(key);
    let text = text.ok_or_else(|| format!("its metadata lack `{key}`"))?;
    serde_json::from_str(text).map_err(|e| format!("its metadata: {e}"))
}

fn read_samples(table: &mut TableReader) -> Result<Vec<Sample>, TableError> {
    let mut samples = Vec::new();
    loop {
        let rows = table.next_rows()?;
        if rows == 0 {
            return Ok(samples);
        }
        let parameter = read_names::<Parameter>(table.texts(1))?;
        let series = read_names::<Series>(table.texts(2))?;
        let timed = read_names::<Timed>(table.texts(5))?;
        let (step, rep) = (table.ints(0), table.ints(4));
        let [x, offset, bytes, ns, at_ns] = [3, 6, 7, 8, 9].map(|column| table.longs(column));
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
    }
}

fn read_names<E: Copy + for<'de> Deserialize<'de>>(texts: &[Text]) -> Result<Vec<E>, TableError> {
    let mut known: Vec<(&[u8], E)> = Vec::new();
    let mut values = Vec::with_capacity(texts.len());
    for text in texts {
        let value = match known.iter().find(|(name, _)| *name == text.data()) {
            Some((_, value)) => *value,
            None => {
                let value = E::deserialize(StrDeserializer::<TextError>::new(text.as_utf8()?))
                    .map_err(|e| TableError::Damaged(e.to_string()))?;
                known.push((text.data(), value));
                value
            }
        };
        values.push(value);
    }
    Ok(values)
}
