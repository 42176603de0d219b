//! The read cache: segments that each hold one run of sectors.
//!
//! A segment keeps the newest sectors of its run. It records which sectors are cached, not their bytes. A write to any of
//! its sectors empties it.

use crate::spec::ReadCache;
use fathom_base::SECTOR_BYTES;

#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    first: u64,
    end: u64,
    used: u64,
}

/// The segments; the least recently used one is replaced.
#[derive(Clone, Debug)]
pub(crate) struct Segments {
    segments: Vec<Segment>,
    sectors: u64,
    clock: u64,
}

impl Segments {
    pub(crate) fn new(cache: &ReadCache) -> Self {
        Self {
            segments: vec![Segment::default(); cache.segments as usize],
            sectors: cache.segment.0 / SECTOR_BYTES,
            clock: 0,
        }
    }

    /// Returns the end of the run of cached sectors that starts at `sector`, or `sector` if it is not cached. Counts as a
    /// use of the segment.
    pub(crate) fn run(&mut self, sector: u64) -> u64 {
        self.clock += 1;
        let holds = |s: &&mut Segment| (s.first..s.end).contains(&sector);
        let Some(segment) = self.segments.iter_mut().find(holds) else {
            return sector;
        };
        segment.used = self.clock;
        segment.end
    }

    /// Returns a segment to read into from `sector` on: the one that ends there, otherwise the least recently used one,
    /// emptied.
    pub(crate) fn open(&mut self, sector: u64) -> usize {
        self.clock += 1;
        let follows = |s: &Segment| s.first < s.end && s.end == sector;
        let index = self.segments.iter().position(follows).unwrap_or_else(|| {
            let oldest = (0..self.segments.len()).min_by_key(|&i| self.segments[i].used);
            let index = oldest.unwrap_or(0);
            (self.segments[index].first, self.segments[index].end) = (sector, sector);
            index
        });
        self.segments[index].used = self.clock;
        index
    }

    /// Extends the run of a segment to `end`.
    pub(crate) fn extend(&mut self, index: usize, end: u64) {
        let sectors = self.sectors;
        if let Some(segment) = self.segments.get_mut(index) {
            segment.end = segment.end.max(end);
            segment.first = segment.first.max(segment.end.saturating_sub(sectors));
        }
    }

    /// Empties all segments that hold one of the written sectors.
    pub(crate) fn invalidate(&mut self, first: u64, end: u64) {
        for segment in &mut self.segments {
            if segment.first < end && first < segment.end {
                segment.first = segment.end;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Bytes;

    fn two_of_eight() -> Segments {
        Segments::new(&ReadCache {
            segments: 2,
            segment: Bytes(8 * 512),
            read_ahead: Bytes(0),
        })
    }

    #[test]
    fn a_segment_keeps_the_newest_and_the_least_recently_used_goes() {
        let mut cache = two_of_eight();
        let a = cache.open(100);
        cache.extend(a, 112);
        assert_eq!((cache.run(103), cache.run(104)), (103, 112));
        let b = cache.open(500);
        cache.extend(b, 504);
        assert_eq!(cache.open(112), a, "the run that ends there goes on");
        assert_eq!(cache.run(105), 112);
        assert_eq!(cache.open(900), b);
        assert_eq!(cache.run(500), 500);
    }

    #[test]
    fn a_write_empties_what_it_meets() {
        let mut cache = two_of_eight();
        let a = cache.open(100);
        cache.extend(a, 108);
        cache.invalidate(108, 120);
        assert_eq!(cache.run(100), 108);
        cache.invalidate(107, 120);
        assert_eq!(cache.run(100), 100);
    }
}
