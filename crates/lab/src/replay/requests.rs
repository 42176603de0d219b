//! Writes every access of a run to a Parquet file, for DuckDB, Polars and pandas. Rows are written as accesses complete, in
//! constant memory.
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
    rising: &[],
};

/// The file being written. It becomes part of the set only when it is complete.
pub(super) struct RequestFile<'a> {
    set: &'a mut Staging,
    place: PathBuf,
    table: TableWriter<StagedFile>,
    rows: Vec<Played>,
    start: Time,
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
            rows: Vec::with_capacity(ROWS_PER_GROUP),
            start,
        })
    }

    /// Adds an access.
    ///
    /// # Errors
    /// [`StoreError`] if the write fails.
    pub(super) fn push(&mut self, played: &Played) -> Result<(), StoreError> {
        self.rows.push(*played);
        if self.rows.len() < ROWS_PER_GROUP {
            return Ok(());
        }
        self.write_group().map_err(|e| written(&self.place, e))
    }

    fn write_group(&mut self) -> Result<(), TableError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let since = |time: Time| time.since(self.start).0;
        let rows = self.rows.iter();
        self.table.group(&[
            Column::longs(rows.clone().map(|p| p.number)),
            Column::longs(rows.clone().map(|p| since(p.asked))),
            Column::names(rows.clone().map(|p| p.access.op), |op: Op| op.to_string()),
            Column::longs(rows.clone().map(|p| p.access.offset)),
            Column::longs(rows.clone().map(|p| p.access.len)),
            Column::longs(rows.clone().map(|p| since(p.submitted))),
            Column::longs(rows.map(|p| since(p.completed))),
        ])?;
        self.rows.clear();
        Ok(())
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
