//! The layout of an event's record, from its `format` file in tracefs. The kernel may move fields between versions.

use crate::tracing::{field, id, number, text_of};
use std::ops::Range;

/// Where the fields of an event are, in bytes from the start of its record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    id: u16,
    pid: Range<usize>,
    dev: Range<usize>,
    sector: Range<usize>,
    sectors: Range<usize>,
    rwbs: Range<usize>,
    comm: Range<usize>,
}

/// The fields of an event on a block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) thread: u32,
    /// Device, as major * 2^20 + minor.
    pub(super) dev: u32,
    pub(super) sector: u64,
    pub(super) sectors: u32,
    pub(super) rwbs: String,
    pub(super) comm: String,
}

impl Layout {
    /// Parses a `format` file. `None` if it lacks one of the fields.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let field = |name| field(text, name);
        Some(Self {
            id: id(text)?,
            pid: field("common_pid")?,
            dev: field("dev")?,
            sector: field("sector")?,
            sectors: field("nr_sector")?,
            rwbs: field("rwbs")?,
            comm: field("comm")?,
        })
    }

    /// Returns the fields of a record. `None` if it is of another event, or too short.
    pub(super) fn fields(&self, record: &[u8]) -> Option<Fields> {
        if number(record.get(..2)?)? != u64::from(self.id) {
            return None;
        }
        let of = |range: &Range<usize>| record.get(range.clone());
        Some(Fields {
            thread: number(of(&self.pid)?)? as u32,
            dev: number(of(&self.dev)?)? as u32,
            sector: number(of(&self.sector)?)?,
            sectors: number(of(&self.sectors)?)? as u32,
            rwbs: text_of(of(&self.rwbs)?),
            comm: text_of(of(&self.comm)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fields of `block_bio_queue` in Linux 6.18.
    const FORMAT: &str = "name: block_bio_queue
ID: 2097
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;
\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;
\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;
\tfield:char rwbs[10];\toffset:28;\tsize:10;\tsigned:0;
\tfield:char comm[16];\toffset:38;\tsize:16;\tsigned:0;
";

    fn record() -> Vec<u8> {
        let mut record = vec![0; 54];
        record[..2].copy_from_slice(&2097_u16.to_ne_bytes());
        record[4..8].copy_from_slice(&4711_u32.to_ne_bytes());
        record[8..12].copy_from_slice(&(7 << 20 | 3_u32).to_ne_bytes());
        record[16..24].copy_from_slice(&2048_u64.to_ne_bytes());
        record[24..28].copy_from_slice(&8_u32.to_ne_bytes());
        record[28..30].copy_from_slice(b"WS");
        record[38..45].copy_from_slice(b"a -b [c");
        record
    }

    #[test]
    fn fields_are_read_where_the_format_says() {
        let layout = Layout::parse(FORMAT).unwrap();
        let fields = layout.fields(&record()).unwrap();
        assert_eq!((fields.thread, fields.dev), (4711, 7 << 20 | 3));
        assert_eq!((fields.sector, fields.sectors), (2048, 8));
        assert_eq!((&*fields.rwbs, &*fields.comm), ("WS", "a -b [c"));
    }

    #[test]
    fn other_events_and_short_records_are_none() {
        let layout = Layout::parse(FORMAT).unwrap();
        let mut other = record();
        other[..2].copy_from_slice(&2098_u16.to_ne_bytes());
        assert_eq!(layout.fields(&other), None);
        assert_eq!(layout.fields(&record()[..40]), None);
        assert_eq!(layout.fields(&[]), None);
        assert_eq!(Layout::parse(&FORMAT.replace("nr_sector", "n")), None);
    }
}
