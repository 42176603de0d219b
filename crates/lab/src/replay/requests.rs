//! Writes every access of a run to a Parquet file, for DuckDB, Polars and pandas. Rows are written as accesses complete, in
//! constant memory.
//!
//! Numbers are stored as differences: almost all differ, and a dictionary of them was made for nothing. Of 300,000 random
//! writes a row takes 12 bytes instead of 32, and 761 instructions instead of 2,250.
//!
//! Columns: `number` (from 0, in the order of the workload), `at_ns` (when it was asked for, since the start of the run),
//! `op`, `offset`, `bytes`, `submitted_ns`, `completed_ns` (both since the start of the run).

use crate::store::{REQUESTS_FILE, StagedFile, Staging, StoreError};
use fathom_base::Time;
use fathom_block::Op;
use fathom_run::Played;
use fathom_run::compare::{Responses, Timed};
use fathom_trace::table::{Column, Layout, TableError, TableReader, TableWriter};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

const ROWS_PER_GROUP: usize = 1 << 16;
const LAYOUT: Layout = Layout {
    key: "fathom.requests",
    version: 1,
    message: "message access {
    required int64 number (INTEGER(64, false));
    required int64 at_ns (INTEGER(64, false));
    required binary op (STRING);
    required int64 offset (INTEGER(64, false));
    required int64 bytes (INTEGER(64, false));
    required int64 submitted_ns (INTEGER(64, false));
    required int64 completed_ns (INTEGER(64, false));
}",
    deltas: &[
        "number",
        "at_ns",
        "offset",
        "bytes",
        "submitted_ns",
        "completed_ns",
    ],
    without_range: &["op"],
};

/// The file being written. It becomes part of the set only when it is complete.
pub(super) struct RequestFile<'a> {
    set: &'a mut Staging,
    place: PathBuf,
    table: TableWriter<StagedFile>,
    rows: Rows,
    start: Time,
}

/// The rows of a group, by column. Their memory is used again for the next group.
#[derive(Default)]
struct Rows {
    ops: Vec<Op>,
    /// The columns of numbers, in order.
    numbers: [Vec<i64>; 6],
}

impl Rows {
    fn push(&mut self, played: &Played, start: Time) {
        let since = |time: Time| time.since(start).0;
        let access = &played.access;
        let row = [
            played.number,
            since(played.asked),
            access.offset,
            access.len,
            since(played.submitted),
            since(played.completed),
        ];
        for (column, value) in self.numbers.iter_mut().zip(row) {
            column.push(value as i64);
        }
        self.ops.push(access.op);
    }

    /// Writes the rows, and removes them.
    fn write<W: Write + Send>(&mut self, table: &mut TableWriter<W>) -> Result<(), TableError> {
        let ops = Column::names(self.ops.drain(..), |op: Op| op.to_string());
        let [number, at, offset, bytes, submitted, completed] =
            std::mem::take(&mut self.numbers).map(Column::Long);
        let columns = [number, at, ops, offset, bytes, submitted, completed];
        table.group(&columns)?;
        let [number, at, _, offset, bytes, submitted, completed] = columns;
        self.numbers = [number, at, offset, bytes, submitted, completed].map(emptied);
        Ok(())
    }
}

/// Takes the memory of a column of numbers.
fn emptied(column: Column) -> Vec<i64> {
    match column {
        Column::Long(mut values) => {
            values.clear();
            values
        }
        _ => Vec::new(),
    }
}

impl<'a> RequestFile<'a> {
    /// Begins the file in a set. Times are relative to `start`.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be created.
    pub(super) fn create(set: &'a mut Staging, start: Time) -> Result<Self, StoreError> {
        let file = set.begin(REQUESTS_FILE)?;
        let place = file.place().to_owned();
        let table = TableWriter::new(file, LAYOUT).map_err(|e| written(&place, e))?;
        Ok(Self {
            set,
            place,
            table,
            rows: Rows::default(),
            start,
        })
    }

    /// Adds an access.
    ///
    /// # Errors
    /// [`StoreError`] if the write fails.
    pub(super) fn push(&mut self, played: &Played) -> Result<(), StoreError> {
        self.rows.push(played, self.start);
        if self.rows.ops.len() < ROWS_PER_GROUP {
            return Ok(());
        }
        self.write_group().map_err(|e| written(&self.place, e))
    }

    fn write_group(&mut self) -> Result<(), TableError> {
        match self.rows.ops.is_empty() {
            true => Ok(()),
            false => self.rows.write(&mut self.table),
        }
    }

    /// Completes the file.
    ///
    /// # Errors
    /// [`StoreError`]; the set does not contain the file then.
    pub(super) fn finish(mut self) -> Result<(), StoreError> {
        let last = self.write_group();
        let file = last.and_then(|()| self.table.finish(&[]));
        self.set.end(file.map_err(|e| written(&self.place, e))?)
    }
}

/// Converts an error of the table writer. Most are write errors of the file system.
fn written(place: &Path, error: TableError) -> StoreError {
    match error {
        TableError::Io(source) => StoreError::io("write", place, source),
        other => StoreError::Encode {
            what: REQUESTS_FILE,
            detail: other.to_string(),
        },
    }
}

/// Reads the response time of every access from a file, by its number.
///
/// # Errors
/// A message that says what is wrong with the file.
pub(crate) fn read_responses(file: File) -> Result<Responses, String> {
    decode(file).map_err(|e| e.to_string())
}

fn decode(file: File) -> Result<Responses, TableError> {
    let mut table = TableReader::new(file, &LAYOUT)?;
    let mut responses: Vec<(u64, Timed)> = Vec::new();
    while table.next_rows()? > 0 {
        let [number, at, completed] = [0, 1, 6].map(|column| table.longs(column));
        for (row, op) in table.texts(2).iter().enumerate() {
            let write = match op.data() {
                b"read" => false,
                b"write" => true,
                _ => continue,
            };
            let response_ns = (completed[row] as u64).saturating_sub(at[row] as u64);
            responses.push((number[row] as u64, Timed { write, response_ns }));
        }
    }
    Ok(Responses::new(responses))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use fathom_base::{Dur, Rng};
    use fathom_block::Access;

    fn played(number: u64, rng: &mut Rng) -> Played {
        // Long stretches of one operation, and mixed ones.
        let op = match number / 3_000 % 2 {
            0 => Op::Write,
            _ => [Op::Read, Op::Write, Op::Trim, Op::Flush][rng.below(4) as usize],
        };
        let offset = rng.next_u64() & !4095;
        let len = [4096, 1 << 17, 0, u64::MAX][rng.below(4) as usize];
        let asked = Time(1_000 + number * 700 + rng.below(9_000));
        Played {
            number: number ^ 1,
            process: 0,
            access: Access::new(Time::ZERO, op, offset, len),
            asked,
            submitted: asked + Dur(rng.below(50)),
            completed: asked + Dur(rng.below(1 << 40)),
            counts: Time::ZERO,
            busy: Dur::ZERO,
        }
    }

    #[test]
    fn every_row_comes_back_from_several_groups() {
        let (mut rng, start) = (Rng::new(11, 0), Time(1_000));
        let mut table = TableWriter::new(Vec::new(), LAYOUT).unwrap();
        let (mut rows, mut all) = (Rows::default(), Vec::new());
        for group in [9_000, 1, 4_097] {
            for _ in 0..group {
                let played = played(all.len() as u64, &mut rng);
                rows.push(&played, start);
                all.push(played);
            }
            rows.write(&mut table).unwrap();
        }
        let file = Bytes::from(table.finish(&[]).unwrap());
        // Less than the 52 bytes of the numbers, and the operations take next to nothing.
        assert!(file.len() < 40 * all.len(), "{} bytes", file.len());
        let mut table = TableReader::new(file, &LAYOUT).unwrap();
        let mut expected = all.iter();
        let mut count = 0;
        while table.next_rows().unwrap() > 0 {
            for (row, op) in table.texts(2).iter().enumerate() {
                let played = expected.next().unwrap();
                let since = |time: Time| time.since(start).0;
                assert_eq!(op.data(), played.access.op.to_string().as_bytes());
                let found = [0, 1, 3, 4, 5, 6].map(|column| table.longs(column)[row] as u64);
                let numbers = [
                    played.number,
                    since(played.asked),
                    played.access.offset,
                    played.access.len,
                    since(played.submitted),
                    since(played.completed),
                ];
                assert_eq!(found, numbers);
                count += 1;
            }
        }
        assert_eq!(count, all.len());
    }
}
