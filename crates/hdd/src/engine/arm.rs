//! The arm: its current work and the choice of the next work.
//!
//! Priorities, highest first: the rest of the current request; waiting requests, in the order of the disk's scheduling;
//! read-ahead; the write cache. If a write or a flush waits for the write cache, destaging alternates with requests, at
//! most one track of adjacent sectors at a time. Read-ahead is interrupted at once by anything else, but a seek or head
//! switch that it has started is completed first.

use super::state::{Piece, Purpose, Stream};
use super::{Event, Hdd};
use crate::geometry::{Phase, Place};
use crate::spec::Scheduling;
use fathom_block::Op;

impl Hdd {
    /// Returns when the arm could be on the track of `place`, and when the sector would start there.
    fn reach(&self, place: &Place, write: bool, ready: Phase) -> (Phase, Phase) {
        let arrive = self.arm_free() + self.g.parts(self.arm.movement(place, write));
        (arrive, place.next_start(arrive.max(ready)))
    }

    fn start(&mut self, purpose: Purpose, first: u64, end: u64, ready: Phase) {
        let place = self.g.locate(first);
        let write = matches!(purpose, Purpose::Write(_) | Purpose::Destage);
        let (arrive, start) = self.reach(&place, write, ready);
        if place.track.cylinder != self.arm.track.cylinder {
            self.counters.seeks += 1;
            self.counters.seek_time += self.arm.movement(&place, write);
        } else if place.track != self.arm.track {
            self.counters.head_switches += 1;
        }
        self.rotation_wait += start - arrive;
        self.arm.track = place.track;
        let piece = Piece {
            purpose,
            first,
            end: Self::piece_end(first, end, place.left()),
            place,
            arrive,
            start,
        };
        if purpose == Purpose::Destage
            && let Some(dirty) = &mut self.dirty
        {
            dirty.depart(piece.first, piece.end);
        }
        self.run(piece);
    }

    fn run(&mut self, piece: Piece) {
        self.arm.free = piece.over();
        self.arm.piece = Some(piece);
        self.arm.piece_number = self.arm.piece_number.wrapping_add(1);
        let at = self.event_time(self.arm.free);
        self.clock.at(at, Event::Passed(self.arm.piece_number));
    }

    pub(super) fn passed(&mut self, number: u32) {
        if number != self.arm.piece_number {
            return;
        }
        let Some(piece) = self.arm.piece.take() else {
            return;
        };
        let sectors = piece.end - piece.first;
        match piece.purpose {
            Purpose::Read(id) => {
                self.have_read(&piece, piece.end);
                self.read_on(id, &piece);
            }
            Purpose::Ahead => self.have_read(&piece, piece.end),
            Purpose::Write(id) => {
                self.counters.medium_sectors_written += sectors;
                self.write_on(id, piece.end);
            }
            Purpose::Destage => {
                self.counters.medium_sectors_written += sectors;
                if let Some(dirty) = &mut self.dirty {
                    dirty.departed();
                }
                self.admit();
                self.destage_on(&piece);
            }
        }
        self.dispatch();
    }

    /// Records that the head has read up to `end`.
    fn have_read(&mut self, piece: &Piece, end: u64) {
        let Some(stream) = &mut self.arm.stream else {
            // Without a cache a piece has no effect before its end.
            let whole = end == piece.end;
            self.counters.medium_sectors_read += if whole { end - piece.first } else { 0 };
            return;
        };
        if end > stream.at {
            let sectors = end - stream.at;
            self.counters.medium_sectors_read += sectors;
            if piece.purpose == Purpose::Ahead {
                self.counters.read_ahead_sectors += sectors;
            }
            stream.at = end;
            if let Some(segments) = &mut self.segments {
                segments.extend(stream.segment, end);
            }
        }
    }

    fn read_on(&mut self, id: u32, piece: &Piece) {
        let Some((wanted, end)) = self.active.get(id).map(|a| (a.wanted, a.end())) else {
            return;
        };
        let from = piece.first.max(wanted);
        if piece.end > from {
            self.send(id, piece.end.min(end) - from);
        }
        if piece.end < end {
            self.start(Purpose::Read(id), piece.end, end, 0);
        } else {
            // Other requests may wait for sectors that were read for this one.
            let mut waiting = std::mem::take(&mut self.waiting);
            waiting.retain(|&other| !self.answered(other));
            self.waiting = waiting;
        }
    }

    fn write_on(&mut self, id: u32, at: u64) {
        let Some((first, end)) = self.active.get(id).map(|a| (a.first(), a.end())) else {
            return;
        };
        if at < end {
            self.start(Purpose::Write(id), at, end, 0);
        } else {
            self.overwritten(first, end);
            self.complete(id, Ok(()));
        }
    }

    /// Continues with the adjacent dirty sectors of the same track.
    fn destage_on(&mut self, piece: &Piece) {
        let next = self.dirty.as_ref().and_then(|dirty| dirty.next());
        if let Some((first, end)) = next
            && first == piece.end
            && self.g.locate(first).track == piece.place.track
        {
            self.start(Purpose::Destage, first, end, 0);
        }
    }

    /// Chooses the next work of the arm, if it is free or can be interrupted.
    pub(super) fn dispatch(&mut self) {
        if let Some(piece) = self.arm.piece {
            let idle = self.waiting.is_empty() && !self.pressed();
            if piece.purpose != Purpose::Ahead || idle || self.join(piece) {
                return;
            }
            self.break_off(piece);
        }
        let destage = self.dirty.as_ref().and_then(|dirty| dirty.next());
        let its_turn = self.pressed() && !self.arm.destaged_last;
        if let Some((first, end)) = destage.filter(|_| its_turn) {
            self.begin_destage(first, end);
        } else if let Some(index) = self.choose() {
            let id = self.waiting.remove(index);
            self.serve(id);
        } else if let Some(stream) = self.arm.stream.filter(|stream| stream.at < stream.limit) {
            self.start(Purpose::Ahead, stream.at, stream.limit, 0);
        } else if let Some((first, end)) = destage {
            self.begin_destage(first, end);
        }
    }

    fn begin_destage(&mut self, first: u64, end: u64) {
        self.arm.stream = None;
        self.arm.destaged_last = true;
        self.start(Purpose::Destage, first, end, 0);
    }

    /// Returns the index of the waiting request to serve next.
    fn choose(&self) -> Option<usize> {
        if self.arm.scheduling == Scheduling::Fcfs || self.waiting.len() < 2 {
            return (!self.waiting.is_empty()).then_some(0);
        }
        let start = |&index: &usize| {
            let active = self.waiting.get(index).and_then(|&id| self.active.get(id));
            active.map_or(Phase::MAX, |active| {
                let place = self.g.locate(active.wanted);
                self.reach(&place, active.request.op == Op::Write, active.ready)
                    .1
            })
        };
        (0..self.waiting.len()).min_by_key(start)
    }

    fn serve(&mut self, id: u32) {
        self.arm.destaged_last = false;
        let Some(active) = self.active.get(id) else {
            return;
        };
        let (first, end, ready) = (active.wanted, active.end(), active.ready);
        if active.request.op == Op::Write {
            self.arm.stream = None;
            return self.start(Purpose::Write(id), first, end, ready);
        }
        if first == active.first() {
            self.counters.cache_misses += 1;
        }
        self.arm.stream = self.segments.as_mut().map(|segments| Stream {
            segment: segments.open(first),
            at: first,
            limit: end,
        });
        self.follow(first, end);
        self.start(Purpose::Read(id), first, end, 0);
    }

    /// A read that started at `first` has got as far as `end`: extends the read-ahead behind it if the head is about to
    /// pass there. Sectors that were found in another segment or in the write cache lie elsewhere, and do not extend it.
    pub(super) fn follow(&mut self, first: u64, end: u64) {
        let limit = (end + self.read_ahead).min(self.g.sectors());
        if let Some(stream) = &mut self.arm.stream
            && first <= stream.limit
        {
            stream.limit = stream.limit.max(limit);
        }
    }

    /// Lets a waiting read use the current read-ahead, if it will reach the wanted sectors. Returns true if there is such
    /// a read.
    fn join(&mut self, piece: Piece) -> bool {
        let considered = match self.arm.scheduling {
            Scheduling::Fcfs => 1,
            Scheduling::Sptf => self.waiting.len(),
        };
        let Some(stream) = self.arm.stream else {
            return false;
        };
        let comes = |id: &u32| {
            let read = self.active.get(*id).filter(|a| a.request.op == Op::Read);
            read.is_some_and(|a| (stream.at..stream.limit).contains(&a.wanted))
        };
        let mut some = self.waiting.iter().take(considered);
        let Some(index) = some.position(comes) else {
            return false;
        };
        let id = self.waiting.remove(index);
        let Some((wanted, end)) = self.active.get(id).map(|a| (a.first(), a.end())) else {
            return false;
        };
        self.counters.partial_hits += u64::from(wanted >= stream.at);
        self.follow(wanted, end);
        self.run(Piece {
            purpose: Purpose::Read(id),
            end: piece.end.min(end),
            ..piece
        });
        true
    }

    /// Adds the sectors read so far to the cache.
    pub(super) fn catch_up(&mut self) {
        if let Some(piece) = self.arm.piece
            && self.arm.stream.is_some()
            && matches!(piece.purpose, Purpose::Read(_) | Purpose::Ahead)
        {
            let end = piece.passed_by(self.g.phase(self.clock.now));
            self.have_read(&piece, end);
        }
    }

    fn break_off(&mut self, piece: Piece) {
        self.catch_up();
        self.arm.free = self.g.phase(self.clock.now).max(piece.arrive);
        self.arm.piece = None;
        self.arm.piece_number = self.arm.piece_number.wrapping_add(1);
    }
}
