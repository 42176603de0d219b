//! Reader of comma-separated values whose first line names the columns, for traces that fit no other format.

use crate::fault::Fault;
use crate::fields::{Fields, malformed, missing, unknown_op};
use crate::line::{Choices, Line, LineParser, access};
use crate::text::is_column_names;
use fathom_base::{About, SECTOR_BYTES};
use fathom_block::Op;

pub(super) const ABOUT: About = About::new("CSV whose first line names its columns: at_ns, op, offset, len, disk").text(
    "\
The first line names the columns, in upper or lower case and in any order; other columns are not read. Times: \
at_ns, at_us, at_ms or at_s, or time_ns, timestamp_ns and so on; the unit is part of the name. Operations: op, \
operation, type, iotype or rw, with the values read, write, flush, trim, or R, W, F, T. Addresses: offset (bytes), \
sector or lba (512 bytes). Lengths: len, length, size or bytes (bytes), or sectors (512 bytes). Disks: disk, \
device, lun or volume; processes: process or pid; 0 without such a column. Times may have decimals. Values are not quoted.",
);

/// The meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    /// In units of 10^n ns.
    Time(u32),
    Op,
    /// In units of the given number of bytes.
    Offset(u64),
    Len(u64),
    Disk,
    Process,
    Other,
}

impl Column {
    fn named(name: &str) -> Self {
        let time = |stem: &str| {
            let unit = name.strip_prefix(stem)?.strip_prefix('_')?;
            let digits = [("ns", 0), ("us", 3), ("ms", 6), ("s", 9)];
            let found = digits.iter().find(|(name, _)| *name == unit);
            found.map(|(_, digits)| Self::Time(*digits))
        };
        if let Some(column) = ["at", "time", "timestamp"].into_iter().find_map(time) {
            return column;
        }
        match name {
            "op" | "operation" | "type" | "iotype" | "rw" => Self::Op,
            "offset" => Self::Offset(1),
            "sector" | "lba" => Self::Offset(SECTOR_BYTES),
            "len" | "length" | "size" | "bytes" => Self::Len(1),
            "sectors" => Self::Len(SECTOR_BYTES),
            "disk" | "device" | "lun" | "volume" => Self::Disk,
            "process" | "pid" => Self::Process,
            _ => Self::Other,
        }
    }

    /// Returns the name of the field, regardless of its unit.
    fn field(self) -> &'static str {
        match self {
            Self::Time(_) => "time",
            Self::Op => "op",
            Self::Offset(_) => "offset",
            Self::Len(_) => "length",
            Self::Disk => "disk",
            Self::Process => "process",
            Self::Other => "",
        }
    }
}

/// The required columns, each with its description for the error message.
const NEEDED: [(&str, &str); 4] = [
    ("time", "column of times (at_ns, at_us, at_ms or at_s)"),
    ("op", "column of operations (op)"),
    ("offset", "column of addresses (offset, or sector)"),
    ("length", "column of lengths (len, or sectors)"),
];

/// A CSV parser with the meaning of each column; empty until the names were read.
struct Csv(Vec<Column>);

pub(super) fn parser(_: &Choices) -> Box<dyn LineParser> {
    Box::new(Csv(Vec::new()))
}

impl LineParser for Csv {
    fn names<'a>(&mut self, line: &'a [u8]) -> Result<(), Fault<'a>> {
        let mut fields = Fields::new(line, b',');
        let mut columns: Vec<Column> = Vec::new();
        while let Some(name) = fields.take() {
            if name.starts_with(b"\"") {
                return Err(malformed("column", name, "a name without quotes"));
            }
            let column = Column::named(&String::from_utf8_lossy(name).to_ascii_lowercase());
            let field = column.field();
            if !field.is_empty() && columns.iter().any(|other| other.field() == field) {
                return Err(malformed("column", name, "one column for each thing"));
            }
            columns.push(column);
        }
        for (field, wanted) in NEEDED {
            if !columns.iter().any(|column| column.field() == field) {
                return Err(missing(wanted));
            }
        }
        self.0 = columns;
        Ok(())
    }

    fn line<'a>(&mut self, line: &'a [u8]) -> Result<Line, Fault<'a>> {
        if self.0.is_empty() {
            // Comments precede the line with the names.
            if is_column_names(line) {
                return self.names(line).map(|()| Line::Text);
            }
            return Err(missing("first line with the names of the columns"));
        }
        let mut fields = Fields::new(line, b',');
        let (mut at, mut op, mut offset, mut len) = (0, Op::Read, 0, 0);
        let (mut disk, mut process) = (0, 0);
        for column in &self.0 {
            let field = column.field();
            match *column {
                Column::Time(digits) => at = fields.time(field, digits)?,
                Column::Op => op = operation(fields.next(field)?)?,
                Column::Offset(unit) => offset = fields.scaled(field, unit)?,
                Column::Len(unit) => len = fields.scaled(field, unit)?,
                Column::Disk => disk = fields.short(field)?,
                Column::Process => process = fields.short(field)?,
                Column::Other => drop(fields.take()),
            }
        }
        fields.end()?;
        Ok(access(at, op, offset, len, disk)?.of_process(process))
    }

    fn has_processes(&self) -> bool {
        self.0.contains(&Column::Process)
    }
}

fn operation(found: &[u8]) -> Result<Op, Fault<'_>> {
    let is = |name: &str| found.eq_ignore_ascii_case(name.as_bytes());
    let names = [
        (["read", "r"], Op::Read),
        (["write", "w"], Op::Write),
        (["flush", "f"], Op::Flush),
        (["trim", "t"], Op::Trim),
    ];
    let found_op = names
        .iter()
        .find(|(names, _)| names.iter().any(|name| is(name)));
    found_op
        .map(|(_, op)| *op)
        .ok_or_else(|| unknown_op("op", found, "read, write, flush and trim"))
}
