//! The read buffer: lines in order of last use, and detection of a sequential stream.

use crate::spec::read_buffer::{Prefetch, ReadBuffer};
use fathom_base::SECTOR_BYTES;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The cached lines.
#[derive(Clone, Debug)]
pub(crate) struct ReadLines {
    line_sectors: u64,
    capacity_lines: usize,
    min_sectors: u64,
    prefetch: Option<Prefetch>,
    /// Stamp of the last use of each line.
    used_at: FxHashMap<u64, u64>,
    /// Pairs of line and stamp, oldest first. An entry is stale if its stamp differs from the one in `used_at`.
    order: VecDeque<(u64, u64)>,
    stamp: u64,
    stream_end: u64,
    stream_length: u32,
    ahead_until: u64,
}

impl ReadLines {
    pub(crate) fn new(spec: &ReadBuffer) -> Self {
        Self {
            line_sectors: spec.line.0 / SECTOR_BYTES,
            capacity_lines: (spec.capacity.0 / spec.line.0) as usize,
            min_sectors: spec.min_request.0 / SECTOR_BYTES,
            prefetch: spec.prefetch.clone(),
            used_at: FxHashMap::default(),
            order: VecDeque::new(),
            stamp: 0,
            stream_end: u64::MAX,
            stream_length: 0,
            ahead_until: 0,
        }
    }

    /// Returns true if a request of `sectors` sectors uses the buffer.
    pub(crate) fn keeps(&self, sectors: u64) -> bool {
        sectors >= self.min_sectors
    }

    /// Returns true if the line of a sector is present, and the number of sectors from there to the end of the line.
    pub(crate) fn look(&self, sector: u64) -> (bool, u64) {
        let line = sector / self.line_sectors;
        (
            self.used_at.contains_key(&line),
            (line + 1) * self.line_sectors - sector,
        )
    }

    /// Makes the lines of a range the most recently used ones.
    pub(crate) fn touch(&mut self, first: u64, sectors: u64) {
        for line in first / self.line_sectors..(first + sectors).div_ceil(self.line_sectors) {
            self.stamp += 1;
            self.used_at.insert(line, self.stamp);
            self.order.push_back((line, self.stamp));
            while self.used_at.len() > self.capacity_lines {
                let Some((oldest, stamp)) = self.order.pop_front() else {
                    break;
                };
                if self.used_at.get(&oldest) == Some(&stamp) {
                    self.used_at.remove(&oldest);
                }
            }
        }
        if self.order.len() > 4 * self.capacity_lines + 64 {
            let used_at = &self.used_at;
            self.order
                .retain(|(line, stamp)| used_at.get(line) == Some(stamp));
        }
    }

    /// Drops the lines of a range that was written or trimmed.
    pub(crate) fn invalidate(&mut self, first: u64, sectors: u64) {
        for line in first / self.line_sectors..(first + sectors).div_ceil(self.line_sectors) {
            self.used_at.remove(&line);
        }
    }

    /// Records a read. Returns the range to read ahead, as first sector and length, if the read continues a stream.
    pub(crate) fn stream(&mut self, first: u64, sectors: u64) -> Option<(u64, u64)> {
        let prefetch = self.prefetch.as_ref()?;
        if first == self.stream_end {
            self.stream_length += 1;
        } else {
            (self.stream_length, self.ahead_until) = (0, 0);
        }
        self.stream_end = first + sectors;
        if self.stream_length < prefetch.after {
            return None;
        }
        let from = self.ahead_until.max(self.stream_end);
        let to = self.stream_end + prefetch.depth.0 / SECTOR_BYTES;
        if to <= from {
            return None;
        }
        self.ahead_until = to;
        Some((from, to - from))
    }

    /// Drops all lines and the detected stream.
    pub(crate) fn clear(&mut self) {
        self.used_at.clear();
        self.order.clear();
        (self.stream_end, self.stream_length, self.ahead_until) = (u64::MAX, 0, 0);
    }
}
