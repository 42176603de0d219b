//! Records in order of time, and the times in which some were lost.

use fathom_block::kernel::{Event, Record};
use std::borrow::Cow;

/// A time in which events of a CPU were lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) cpu: u16,
    /// The last event before, and the first after it.
    pub(super) since: u64,
    pub(super) at: u64,
}

/// The records of all CPUs in order of time.
pub(super) struct Timeline<'a> {
    records: Cow<'a, [Record]>,
    pub(super) gaps: Vec<Gap>,
}

impl<'a> Timeline<'a> {
    pub(super) fn new(records: &'a [Record]) -> Self {
        let mut records = Cow::Borrowed(records);
        if !records.is_sorted_by_key(|record| record.at) {
            records.to_mut().sort_by_key(|record| record.at);
        }
        let gap = |record: &Record| match record.event {
            Event::Lost { since, .. } => Some(Gap {
                cpu: record.cpu,
                since,
                at: record.at,
            }),
            _ => None,
        };
        let gaps = records.iter().filter_map(gap).collect();
        Self { records, gaps }
    }

    pub(super) fn records(&self) -> &[Record] {
        &self.records
    }

    /// Returns the records of a time, including both ends.
    pub(super) fn between(&self, from: u64, to: u64) -> &[Record] {
        let first = self.records.partition_point(|record| record.at < from);
        let end = self.records.partition_point(|record| record.at <= to);
        self.records.get(first..end).unwrap_or_default()
    }

    /// Returns true if events were lost in a time, or may have been.
    pub(super) fn lost_between(&self, from: u64, to: u64) -> bool {
        self.gaps
            .iter()
            .any(|gap| gap.since <= to && gap.at >= from)
    }
}
