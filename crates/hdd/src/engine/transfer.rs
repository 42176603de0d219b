//! The parts of a request that do not move the arm: memory hits, the link, the write cache, flushes.

use super::{Event, Hdd, PIECE_SECTORS};
use crate::geometry::{Phase, slot_start};
use fathom_base::{SECTOR_BYTES, Time};
use fathom_block::Op;

impl Hdd {
    pub(super) fn begin_read(&mut self, id: u32) {
        self.catch_up();
        if !self.answered(id) {
            self.waiting.push(id);
        }
        self.dispatch();
    }

    /// Sends the leading part of the rest of a read that is in memory. Returns true if that is all of it.
    pub(super) fn answered(&mut self, id: u32) -> bool {
        let Some(active) = self.active.get(id).filter(|a| a.request.op == Op::Read) else {
            return false;
        };
        let (first, from, end) = (active.first(), active.wanted, active.end());
        let cached = self.cached_until(from, end);
        if cached == from {
            return false;
        }
        if cached == end {
            self.follow(first, end);
        }
        // Each read is counted once, when its first sector is served.
        self.counters.cache_hits += u64::from(from == first && cached == end);
        self.counters.partial_hits += u64::from(from == first && cached < end);
        if let Some(active) = self.active.get_mut(id) {
            active.wanted = cached;
        }
        self.send(id, cached - from);
        cached == end
    }

    /// Returns the end of the leading part of `first..end` that is in memory.
    fn cached_until(&mut self, first: u64, end: u64) -> u64 {
        let mut at = first;
        while at < end {
            let dirty = self.dirty.as_ref().map_or(at, |dirty| dirty.run(at));
            let read = self.segments.as_mut().map_or(at, |s| s.run(at));
            if dirty.max(read) == at {
                break;
            }
            at = dirty.max(read);
        }
        at.min(end)
    }

    /// Transfers sectors of a read over the link.
    pub(super) fn send(&mut self, id: u32, sectors: u64) {
        let (_, at) = self.link.transfer(sectors * SECTOR_BYTES, self.clock.now);
        let Some(active) = self.active.get_mut(id) else {
            return;
        };
        active.booked += sectors;
        if active.booked == active.sectors() {
            self.clock.at(at, Event::Complete(id));
        }
    }

    pub(super) fn begin_write(&mut self, id: u32) {
        let Some(active) = self.active.get(id) else {
            return;
        };
        let (first, end, fua) = (active.first(), active.end(), active.request.tag.fua);
        if self.dirty.is_some() && !fua {
            self.incoming.push_back(id);
            self.admit();
        } else {
            if let Some(dirty) = &mut self.dirty {
                dirty.cut(first, end);
                self.admit();
            }
            self.book_uncached(id);
            self.waiting.push(id);
        }
        self.dispatch();
    }

    /// Books the transfer of an uncached write, which crosses the link while the arm moves. The write may start on the
    /// medium once its first sector has arrived, if the remaining data arrives no later than the medium could take it.
    fn book_uncached(&mut self, id: u32) {
        let Some(active) = self.active.get_mut(id) else {
            return;
        };
        let (begin, end) = self.link.transfer(active.request.len, self.clock.now);
        let first_in = begin + self.link.duration(SECTOR_BYTES);
        let place = self.g.locate(active.first());
        let medium = Phase::from(slot_start(active.sectors(), place.sectors_per_track));
        let whole = self.g.phase(end).saturating_sub(medium);
        active.ready = self.g.phase(first_in).max(whole);
        active.booked = active.sectors();
    }

    /// Admits cached writes to the link while there is room, and completes flushes whose turn it is.
    pub(super) fn admit(&mut self) {
        while let Some(&id) = self.incoming.front() {
            let (Some(dirty), Some(active)) = (&mut self.dirty, self.active.get_mut(id)) else {
                self.incoming.pop_front();
                continue;
            };
            if active.request.op == Op::Flush {
                if !dirty.is_clean() {
                    return;
                }
                self.incoming.pop_front();
                self.clock.at(self.clock.now, Event::Complete(id));
                continue;
            }
            let sectors = dirty.room().min(active.sectors() - active.booked);
            if sectors == 0 {
                self.counters.write_stalls += u64::from(!self.stalled);
                self.stalled = true;
                return;
            }
            self.stalled = false;
            dirty.reserve(sectors);
            active.booked += sectors;
            let all = active.booked == active.sectors();
            let (_, at) = self.link.transfer(sectors * SECTOR_BYTES, self.clock.now);
            let sectors = sectors as u32;
            self.clock.at(at, Event::Arrived { id, sectors });
            if all {
                self.incoming.pop_front();
            }
        }
    }

    pub(super) fn arrived(&mut self, id: u32, sectors: u64) {
        let Some(active) = self.active.get_mut(id) else {
            return;
        };
        let first = active.first() + active.arrived;
        let end = first + sectors;
        active.arrived += sectors;
        let whole = active.arrived == active.sectors();
        self.overwritten(first, end);
        if let Some(dirty) = &mut self.dirty {
            dirty.arrived(first, end);
        }
        if whole {
            self.complete(id, Ok(()));
        }
        self.admit();
        self.dispatch();
    }

    /// Invalidates read segments that hold overwritten sectors. If the head reads some of these sectors before they leave
    /// the write cache, their data is taken from the write cache.
    pub(super) fn overwritten(&mut self, first: u64, end: u64) {
        self.catch_up();
        if let Some(segments) = &mut self.segments {
            segments.invalidate(first, end);
        }
    }

    pub(super) fn begin_flush(&mut self, id: u32) {
        if self.dirty.is_none() {
            return self.complete(id, Ok(()));
        }
        self.incoming.push_back(id);
        self.admit();
        self.dispatch();
    }

    /// Returns true if a write or a flush waits for the write cache to drain.
    pub(super) fn pressed(&self) -> bool {
        !self.incoming.is_empty()
    }

    /// Returns the end of a piece that starts at `first` and may extend to `end`, with `left` sectors on the track.
    pub(super) fn piece_end(first: u64, end: u64, left: u32) -> u64 {
        end.min(first + PIECE_SECTORS).min(first + u64::from(left))
    }

    /// Returns the phase from which the arm is free: the phase of the current time, or that at which it became free if
    /// this is not before the current nanosecond.
    pub(super) fn arm_free(&self) -> Phase {
        if self.g.time(self.arm.free) >= self.clock.now {
            self.arm.free
        } else {
            self.g.phase(self.clock.now)
        }
    }

    /// Returns the event time for a phase; not earlier than the current time.
    pub(super) fn event_time(&self, phase: Phase) -> Time {
        self.g.time(phase).max(self.clock.now)
    }
}
