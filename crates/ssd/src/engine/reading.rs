//! The read memory: buffered lines, and the read-aheads in progress.

use crate::buffer::read::ReadLines;
use crate::spec::Spec;
use fathom_base::SECTOR_BYTES;
use std::ops::Range;

/// A read-ahead in progress.
#[derive(Clone, Debug)]
struct Ahead {
    ticket: u32,
    sectors: Range<u64>,
    /// Requests that wait for these sectors, with the number of bytes.
    waiting: Vec<(u32, u32)>,
}

/// Result of joining a read-ahead in progress.
pub(super) struct Joined {
    pub(super) sectors: u32,
    /// True if the request did not wait for this read-ahead before.
    pub(super) is_new: bool,
}

#[derive(Clone, Debug)]
pub(super) struct ReadMemory {
    lines: Option<ReadLines>,
    arriving: Vec<Ahead>,
}

impl ReadMemory {
    pub(super) fn new(spec: &Spec) -> Self {
        Self {
            lines: spec.read_buffer.as_ref().map(ReadLines::new),
            arriving: Vec::new(),
        }
    }

    /// Returns true if the drive has no read buffer.
    #[inline]
    pub(super) fn is_absent(&self) -> bool {
        self.lines.is_none()
    }

    /// Returns true if a request of this length goes through the read buffer.
    pub(super) fn keeps(&self, sectors: u64) -> bool {
        self.lines.as_ref().is_some_and(|r| r.keeps(sectors))
    }

    /// Returns true if a sector is in the buffer (only if `kept`: its request goes through the buffer) or on its way.
    pub(super) fn has(&self, sector: u64, kept: bool) -> bool {
        let present = kept && self.lines.as_ref().is_some_and(|r| r.look(sector).0);
        present || self.arriving.iter().any(|a| a.sectors.contains(&sector))
    }

    /// Looks up a sector of a read that goes through the buffer, and makes its line the most recently used. Sectors
    /// before `absent` are known to be absent. Returns whether the sector is present, and how many sectors from there on
    /// share that state.
    pub(super) fn look(&mut self, sector: u64, absent: &mut u64) -> (bool, u64) {
        let Some(lines) = &mut self.lines else {
            return (false, u64::MAX);
        };
        let (present, rest) = lines.look(sector);
        let is_new = sector >= *absent;
        if is_new {
            lines.touch(sector, 1);
            if !present {
                *absent = sector + rest;
            }
        }
        (is_new && present, rest)
    }

    /// Notes a read. Returns the first sector and the number of sectors to read ahead if it continues a stream.
    pub(super) fn stream(&mut self, first: u64, sectors: u64) -> Option<(u64, u64)> {
        self.lines.as_mut()?.stream(first, sectors)
    }

    /// Notes that sectors are being read ahead.
    pub(super) fn expect(&mut self, ticket: u32, sectors: Range<u64>) {
        self.arriving.push(Ahead {
            ticket,
            sectors,
            waiting: Vec::new(),
        });
    }

    /// Joins the read-ahead that covers a sector, for at most `most` sectors from there on.
    #[inline]
    pub(super) fn join(&mut self, request: u32, sector: u64, most: u64) -> Option<Joined> {
        let covers = |ahead: &&mut Ahead| ahead.sectors.contains(&sector);
        let ahead = self.arriving.iter_mut().find(covers)?;
        let sectors = most.min(ahead.sectors.end - sector) as u32;
        let bytes = sectors * SECTOR_BYTES as u32;
        let known = ahead.waiting.iter_mut().find(|(id, _)| *id == request);
        let is_new = known.is_none();
        match known {
            Some((_, waits)) => *waits += bytes,
            None => ahead.waiting.push((request, bytes)),
        }
        Some(Joined { sectors, is_new })
    }

    /// Handles the end of a read-ahead. Returns the requests that waited for it, with their bytes.
    pub(super) fn arrived(&mut self, ticket: u32) -> Vec<(u32, u32)> {
        let Some(index) = self.arriving.iter().position(|a| a.ticket == ticket) else {
            return Vec::new();
        };
        let ahead = self.arriving.remove(index);
        if let Some(lines) = &mut self.lines {
            let first = ahead.sectors.start;
            lines.touch(first, ahead.sectors.end - first);
        }
        ahead.waiting
    }

    /// Removes sectors that were written or trimmed.
    #[inline]
    pub(super) fn invalidate(&mut self, first: u64, sectors: u64) {
        if let Some(lines) = &mut self.lines {
            lines.invalidate(first, sectors);
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.arriving.clear();
        if let Some(lines) = &mut self.lines {
            lines.clear();
        }
    }
}
