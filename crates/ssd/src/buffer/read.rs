//! The memory for reads: lines in order of last use, and the detection of a sequential stream.

use crate::spec::read_buffer::{Prefetch, ReadBuffer};
use fathom_base::SECTOR_BYTES;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Cached lines.
#[derive(Clone, Debug)]
pub(crate) struct ReadLines {
    line_sectors: u64,
    capacity_lines: usize,
    min_sectors: u64,
    prefetch: Option<Prefetch>,
    /// Line to the stamp of its last use.
    used_at: FxHashMap<u64, u64>,
    /// (line, stamp), oldest first; an entry whose stamp is not the line's own is stale.
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

    /// Whether a request of that many sectors goes through the buffer.
    pub(crate) fn keeps(&self, sectors: u64) -> bool {
        sectors >= self.min_sectors
    }

    /// Whether the line of a sector is present; the sectors from there to the end of the line.
    pub(crate) fn look(&self, sector: u64) -> (bool, u64) {
        let line = sector / self.line_sectors;
        (
            self.used_at.contains_key(&line),
            (line + 1) * self.line_sectors - sector,
        )
    }

    /// The lines of a range are now the most recently used.
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

    /// The range was written or trimmed.
    pub(crate) fn invalidate(&mut self, first: u64, sectors: u64) {
        for line in first / self.line_sectors..(first + sectors).div_ceil(self.line_sectors) {
            self.used_at.remove(&line);
        }
    }

    /// A read came; the range to read ahead, if it continues a stream.
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

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.used_at.clear();
        self.order.clear();
        (self.stream_end, self.stream_length, self.ahead_until) = (u64::MAX, 0, 0);
    }
}
