//! Fathom's own trace files: a Parquet table of accesses, written and read by row group.
//!
//! Columns: `at_ns` (nanoseconds since the first access), `op` (read, write, flush, trim, and for zones zone append, zone
//! open, zone close, zone finish and zone reset), `offset` and `len` (bytes), `disk`, and `process` if the accesses have processes. The metadata keys are `fathom.trace` (the version of this layout)
//! and `fathom.capacity_bytes` (the highest end of any access), in addition to those of every [`table`](crate::table).

use crate::Access;
use crate::error::{ErrorKind, Place, TraceError};
use crate::line::check;
use crate::table::{ChunkReader, Column, Layout, TableError, TableReader, TableWriter};
use fathom_base::{About, Time};
use fathom_block::{Op, ZoneAction};
use std::io::Write;

pub(super) const ABOUT: About =
    About::new("Parquet written by Fathom: at_ns, op, offset, len, disk, process").text(
        "\
One row an access: `at_ns` (since the first access), `op` (read, write, flush, trim, zone append, zone open, zone close,
zone finish, zone reset), `offset` and `len` in bytes, `disk`, and `process` if the trace has processes.
Fathom writes and reads it: it is smaller and faster than text, nothing is left to be told, and its checksums find
damage. Only files that Fathom has written are read, and only from a file, not from a pipe.",
    );

const LAYOUT: Layout = Layout {
    key: "fathom.trace",
    version: 2,
    message: "message access {
    required int64 at_ns (INTEGER(64, false));
    required binary op (STRING);
    required int64 offset (INTEGER(64, false));
    required int64 len (INTEGER(64, false));
    required int32 disk (INTEGER(32, false));
}",
    deltas: &["at_ns"],
    without_range: &[],
};
/// The layout of accesses with processes.
const WITH_PROCESS: Layout = Layout {
    version: 3,
    message: "message access {
    required int64 at_ns (INTEGER(64, false));
    required binary op (STRING);
    required int64 offset (INTEGER(64, false));
    required int64 len (INTEGER(64, false));
    required int32 disk (INTEGER(32, false));
    required int32 process (INTEGER(32, false));
}",
    ..LAYOUT
};
const CAPACITY: &str = "fathom.capacity_bytes";

/// Rows per row group: some 5 MB in memory.
const ROWS_PER_GROUP: usize = 1 << 17;

fn wrong(error: TableError) -> TraceError {
    TraceError::input(match error {
        TableError::Io(source) => ErrorKind::Io(source),
        TableError::Foreign(what) => ErrorKind::Foreign(what),
        TableError::Truncated => ErrorKind::Foreign("its end is not that of a Parquet file"),
        TableError::Newer { .. } => ErrorKind::Foreign("a later version has written it"),
        TableError::Damaged(what) => ErrorKind::Parquet(what),
    })
}

/// Writes accesses to a Parquet file. Memory is constant except for the footer (some 500 bytes for every 131,072
/// accesses).
///
/// The output is a valid Parquet file only after [`ParquetWriter::finish`].
pub struct ParquetWriter<W: Write + Send> {
    table: TableWriter<W>,
    /// Whether the file has a column of processes.
    processes: bool,
    rows: Vec<Access>,
    written: u64,
    /// The time of the first access; times in the file count from it.
    first: Option<Time>,
    last: Time,
    capacity_bytes: u64,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Begins a file without processes.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn new(output: W) -> Result<Self, TraceError> {
        Self::with_processes(output, false)
    }

    /// Begins a file, with a column of processes if `processes` is true. Versions of Fathom before that column refuse it.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn with_processes(output: W, processes: bool) -> Result<Self, TraceError> {
        let layout = if processes { WITH_PROCESS } else { LAYOUT };
        Ok(Self {
            table: TableWriter::new(output, layout).map_err(wrong)?,
            processes,
            rows: Vec::with_capacity(ROWS_PER_GROUP),
            written: 0,
            first: None,
            last: Time::ZERO,
            capacity_bytes: 0,
        })
    }

    /// Writes an access. Its time in the file counts from that of the first access.
    ///
    /// # Errors
    /// Its time is earlier than that of the previous access; its length is zero, or it ends past 2^64 bytes; the output
    /// cannot be written.
    pub fn write(&mut self, access: &Access) -> Result<(), TraceError> {
        let place = Place::Row(self.written + 1);
        if access.at < self.last {
            let by_ns = self.last.since(access.at).0;
            let kind = ErrorKind::Backwards { by_ns, reorder: 0 };
            return Err(TraceError::new(kind, place));
        }
        check(access.op, access.offset, access.len)
            .map_err(|fault| TraceError::new(fault.kind(), place))?;
        self.last = access.at;
        self.capacity_bytes = self.capacity_bytes.max(access.end());
        self.written += 1;
        let first = *self.first.get_or_insert(access.at);
        self.rows.push(Access {
            at: Time(access.at.since(first).0),
            ..*access
        });
        if self.rows.len() == ROWS_PER_GROUP {
            self.write_group()?;
        }
        Ok(())
    }

    /// Ends the file and returns the output.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn finish(mut self) -> Result<W, TraceError> {
        self.write_group()?;
        let capacity = [(CAPACITY, self.capacity_bytes.to_string())];
        self.table.finish(&capacity).map_err(wrong)
    }

    fn write_group(&mut self) -> Result<(), TraceError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let rows = self.rows.iter();
        let mut columns = vec![
            Column::longs(rows.clone().map(|a| a.at.0)),
            Column::names(rows.clone().map(|a| a.op), |op: Op| op.to_string()),
            Column::longs(rows.clone().map(|a| a.offset)),
            Column::longs(rows.clone().map(|a| a.len)),
            Column::ints(rows.clone().map(|a| a.disk)),
        ];
        if self.processes {
            columns.push(Column::ints(rows.map(|a| a.process)));
        }
        self.table.group(&columns).map_err(wrong)?;
        self.rows.clear();
        Ok(())
    }
}

/// Reads the rows of a file.
pub(crate) struct Reader {
    table: TableReader,
    processes: bool,
    /// Number of decoded rows; `taken` of them were returned.
    rows: usize,
    taken: usize,
    /// Total number of rows returned.
    row: u64,
    capacity_bytes: u64,
    ended: bool,
}

impl Reader {
    pub(crate) fn new<R: ChunkReader + 'static>(input: R) -> Result<Self, TraceError> {
        let layouts = [LAYOUT, WITH_PROCESS];
        let (table, layout) = TableReader::any(input, &layouts).map_err(wrong)?;
        let capacity = table.metadata(CAPACITY).and_then(|text| text.parse().ok());
        let capacity_bytes = capacity.ok_or_else(|| {
            let lacks = "its metadata lack its capacity";
            TraceError::input(ErrorKind::Parquet(lacks.into()))
        })?;
        Ok(Self {
            table,
            processes: layout == WITH_PROCESS,
            rows: 0,
            taken: 0,
            row: 0,
            capacity_bytes,
            ended: false,
        })
    }

    pub(crate) fn has_processes(&self) -> bool {
        self.processes
    }

    pub(crate) fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// Returns the memory of the decoded rows, in bytes; the Parquet reader's page buffers are not counted.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.table.memory_bytes()
    }

    /// Returns the next access with its place.
    pub(crate) fn next(&mut self) -> Option<Result<(Option<Access>, Place), TraceError>> {
        if self.taken == self.rows {
            if self.ended {
                return None;
            }
            self.taken = 0;
            self.rows = match self.table.next_rows() {
                Ok(rows) => rows,
                Err(error) => {
                    (self.ended, self.rows) = (true, 0);
                    let place = Place::Row(self.row + 1);
                    return Some(Err(TraceError {
                        place,
                        ..wrong(error)
                    }));
                }
            };
            if self.rows == 0 {
                self.ended = true;
                return None;
            }
        }
        self.row += 1;
        let place = Place::Row(self.row);
        Some(match self.take() {
            Ok(access) => Ok((Some(access), place)),
            Err(kind) => Err(TraceError::new(kind, place)),
        })
    }

    fn take(&mut self) -> Result<Access, ErrorKind> {
        let (row, table) = (self.taken, &self.table);
        self.taken += 1;
        let op = op(table.texts(1)[row].data())?;
        let (offset, len) = (table.longs(2)[row] as u64, table.longs(3)[row] as u64);
        check(op, offset, len).map_err(|fault| fault.kind())?;
        Ok(Access {
            at: Time(table.longs(0)[row] as u64),
            op,
            offset,
            len,
            disk: table.ints(4)[row] as u32,
            process: match self.processes {
                true => table.ints(5)[row] as u32,
                false => 0,
            },
        })
    }
}

fn op(name: &[u8]) -> Result<Op, ErrorKind> {
    let of_zones = ZoneAction::ALL.map(Op::Zone);
    let mut of_zones = of_zones.into_iter().chain([Op::Append]);
    if let Some(op) = of_zones.find(|op| op.to_string().as_bytes() == name) {
        return Ok(op);
    }
    match name {
        b"read" => Ok(Op::Read),
        b"write" => Ok(Op::Write),
        b"flush" => Ok(Op::Flush),
        b"trim" => Ok(Op::Trim),
        _ => Err(ErrorKind::UnknownOp {
            field: "op",
            found: String::from_utf8_lossy(name).chars().take(40).collect(),
            wanted: "read, write, flush, trim, zone append, zone open, zone close, zone finish and zone reset",
        }),
    }
}
