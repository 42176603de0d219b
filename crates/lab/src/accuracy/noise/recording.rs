//! A recording of a real disk's latencies, one request after another, as a Parquet file.
//!
//! Columns: `op` (`read`, `write`, `flush`), `bytes` (0 for a flush), `latency_ns`, rounded to three significant digits to
//! keep the file small. The metadata key `fathom.recorded` says how it was recorded. The file holds no offsets and no host
//! name.

use bytes::Bytes;
use fathom_block::Op;
use fathom_trace::table::{Column, Layout, TableError, TableReader, TableWriter};

const RECORDED: &str = "fathom.recorded";
const LAYOUT: Layout = Layout {
    key: "fathom.latencies",
    version: 1,
    message: "message latency {
    required binary op (STRING);
    required int64 bytes (INTEGER(64, false));
    required int64 latency_ns (INTEGER(64, false));
}",
    deltas: &[],
    without_range: &[],
};

/// One request of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Operation: a read, a write or a flush.
    pub op: Op,
    /// Length in bytes; 0 for a flush.
    pub bytes: u64,
    /// Time from submission to completion, in nanoseconds.
    pub latency_ns: u64,
}

/// Requests in the order in which they were made, at queue depth 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Description of how it was made.
    pub recorded: String,
    /// The requests.
    pub requests: Vec<Recorded>,
}

/// Error for a recording that cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no recording of latencies: {0}")]
pub struct RecordingError(pub(super) String);

impl From<TableError> for RecordingError {
    fn from(error: TableError) -> Self {
        RecordingError(error.to_string())
    }
}

impl Recording {
    /// Encodes the recording as a Parquet file.
    ///
    /// # Errors
    /// [`RecordingError`] for an operation that the format cannot hold, such as a trim.
    pub fn to_parquet(&self) -> Result<Vec<u8>, RecordingError> {
        if let Some(other) = self.requests.iter().find(|r| !OPS.contains(&r.op)) {
            let message = format!("a {} has no latency of its own here", other.op);
            return Err(RecordingError(message));
        }
        let requests = self.requests.iter();
        let mut table = TableWriter::new(Vec::new(), LAYOUT)?;
        table.group(&[
            Column::names(requests.clone().map(|r| r.op), |op: Op| op.to_string()),
            Column::longs(requests.clone().map(|r| r.bytes)),
            Column::longs(requests.map(|r| three_digits(r.latency_ns))),
        ])?;
        Ok(table.finish(&[(RECORDED, self.recorded.clone())])?)
    }

    /// Reads a recording from a Parquet file.
    ///
    /// # Errors
    /// [`RecordingError`] with the reason.
    pub(super) fn from_parquet(file: &'static [u8]) -> Result<Recording, RecordingError> {
        let mut table = TableReader::new(Bytes::from_static(file), &LAYOUT)?;
        let recorded = table.metadata(RECORDED).map(str::to_owned);
        let recorded =
            recorded.ok_or_else(|| RecordingError(format!("its metadata lack `{RECORDED}`")))?;
        let mut requests = Vec::new();
        while table.next_rows()? > 0 {
            for (row, op) in table.texts(0).iter().enumerate() {
                requests.push(Recorded {
                    op: op_of(op.data())?,
                    bytes: table.longs(1)[row] as u64,
                    latency_ns: table.longs(2)[row] as u64,
                });
            }
        }
        Ok(Recording { recorded, requests })
    }
}

const OPS: [Op; 3] = [Op::Read, Op::Write, Op::Flush];

fn op_of(name: &[u8]) -> Result<Op, RecordingError> {
    let known = OPS.into_iter().find(|op| op.to_string().as_bytes() == name);
    known.ok_or_else(|| RecordingError(format!("no kind of request: {name:?}")))
}

/// Rounds to three significant digits.
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
