//! The samples of a measured latency as a Parquet table: a row for each phase of each traced read.
//!
//! Columns: `path` (`direct` or `buffered`), `read` (from 0, in order of time), `phase`, `ns` (including the cost of tracing).
//! A phase that a read did not pass has no row.

use fathom_platform::Phase;
use fathom_trace::table::{Column, Layout, TableError, TableWriter};

const LAYOUT: Layout = Layout {
    key: "fathom.platform",
    version: 1,
    message: "message sample {
    required binary path (STRING);
    required int64 read (INTEGER(64, false));
    required binary phase (STRING);
    required int64 ns (INTEGER(64, false));
}",
    deltas: &[],
    without_range: &[],
};

/// A phase of a traced read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// `direct` or `buffered`.
    pub path: &'static str,
    /// Number of the read.
    pub read: u64,
    /// The phase.
    pub phase: Phase,
    /// Its time in nanoseconds, with the cost of tracing.
    pub ns: u64,
}

/// Returns the table as a file.
///
/// # Errors
/// The table cannot be encoded.
pub fn table(samples: &[Sample]) -> Result<Vec<u8>, TableError> {
    let mut table = TableWriter::new(Vec::new(), LAYOUT)?;
    for rows in samples.chunks(1 << 16) {
        table.group(&[
            Column::names(rows.iter().map(|row| row.path), str::to_owned),
            Column::longs(rows.iter().map(|row| row.read)),
            Column::names(rows.iter().map(|row| row.phase), |phase| {
                phase.name().to_owned()
            }),
            Column::longs(rows.iter().map(|row| row.ns)),
        ])?;
    }
    table.finish(&[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_trace::table::TableReader;

    #[test]
    fn a_table_has_a_row_for_each_phase() {
        let sample = |read, phase, ns| Sample {
            path: "direct",
            read,
            phase,
            ns,
        };
        let samples = [
            sample(0, Phase::Entry, 120),
            sample(7, Phase::Device, 66_214),
        ];
        let bytes = bytes::Bytes::from(table(&samples).unwrap());
        let mut read = TableReader::new(bytes, &LAYOUT).unwrap();
        assert_eq!(read.next_rows().unwrap(), 2);
        assert_eq!(read.longs(1), [0, 7]);
        assert_eq!(read.longs(3), [120, 66_214]);
        assert_eq!(read.texts(2)[1].data(), b"device");
    }
}
