//! Writes: over the link into the buffer, from the buffer into the flash array; flush and trim.

use super::batch::Batch;
use super::flash::NOBODY;
use super::{Event, Flushing, Gathers, Ssd, lane};
use crate::buffer::Piece;
use crate::ftl::{Ftl, Stall};
use crate::host::Way;
use crate::spec::Drain;
use fathom_base::{Lpn, SECTOR_BYTES};

/// The most clustered pages of neighbouring units that leave the buffer together.
const NEIGHBOUR_PAGES: u32 = 16;

impl Ssd {
    /// A write command is through the controller: it takes its turn on the link.
    pub(super) fn begin_write(&mut self, id: u32) {
        self.incoming.push_back(id);
        if self.incoming.len() == 1 {
            self.next_piece();
        }
    }

    /// Sends the next piece of the write whose turn it is over the link, once there is room for it. Writes cross
    /// one after another, so that none holds room that it does not fill.
    pub(super) fn next_piece(&mut self) {
        let Some((&id, active)) = self
            .incoming
            .front()
            .and_then(|id| Some((id, self.active.get(*id)?)))
        else {
            return;
        };
        let sector = active.request.offset / SECTOR_BYTES + active.arrived;
        let left = active.request.len / SECTOR_BYTES - active.arrived;
        let (cline, first) = self.g.line_of_sector(sector);
        let sectors = left
            .min(u64::from(self.g.sectors_per_cpage - first))
            .min(self.lines.capacity()) as u32;
        let needed = self.lines.growth(cline, first, sectors);
        self.waits_for_room = !self.lines.reserve(needed);
        if self.waits_for_room {
            return self.pump();
        }
        if let Some(active) = self.active.get_mut(id) {
            active.piece = (sectors, needed);
        }
        let end = self
            .link
            .transfer(Way::In, u64::from(sectors) * SECTOR_BYTES, self.now);
        self.events.push_in_order(lane::IN, end, Event::Arrived(id));
    }

    /// A piece of a write has crossed the link.
    pub(super) fn arrived(&mut self, id: u32) {
        let Some(active) = self.active.get_mut(id) else {
            return;
        };
        let sector = active.request.offset / SECTOR_BYTES + active.arrived;
        let (sectors, reserved) = active.piece;
        let at = (active.arrived * SECTOR_BYTES) as usize;
        active.arrived += u64::from(sectors);
        let whole = active.arrived == active.request.len / SECTOR_BYTES;
        let (fua, len) = (active.request.tag.fua, u64::from(sectors) * SECTOR_BYTES);
        let (cline, first) = self.g.line_of_sector(sector);
        let owner = if self.unbuffered { id } else { NOBODY };
        if self.unbuffered {
            // Until the translation layer has placed it; each of its programs counts on its own.
            active.pending += 1;
        }
        let piece = Piece {
            cline,
            first,
            sectors,
            reserved,
            owner,
        };
        let direct = self.unbuffered && self.store.is_none() && self.lines.is_empty();
        if !direct || self.stalled || self.place_directly(piece) == Err(Stall) {
            let line = self.lines.insert(piece, self.drain_mark);
            if self.store.is_some() {
                self.keep_bytes(id, line, at, first, len as usize);
            }
        }
        self.counters.host_sectors_written += u64::from(sectors);
        if let Some(reads) = &mut self.reads {
            reads.invalidate(sector, u64::from(sectors));
        }
        self.note_activity();
        self.pump();
        if !whole {
            return self.next_piece();
        }
        self.received(id);
        match (self.unbuffered, fua) {
            (true, _) => {} // completes with its last program
            (false, true) => self.flush(id),
            (false, false) => self.complete(id, Ok(())),
        }
        // Only now, for what was held back by this write must not begin on its own.
        self.incoming.pop_front();
        self.next_piece();
    }

    /// An unbuffered write is complete when all of it has arrived and is programmed.
    pub(super) fn write_progress(&mut self, id: u32) {
        if let Some(active) = self.active.get(id)
            && active.pending == 0
            && active.arrived == active.request.len / SECTOR_BYTES
        {
            self.complete(id, Ok(()));
        }
    }

    /// A piece of an unbuffered write that waited to be programmed was trimmed.
    fn piece_gone(&mut self, id: u32) {
        if let Some(active) = self.active.get_mut(id) {
            active.pending -= 1;
            self.write_progress(id);
        }
    }

    fn keep_bytes(&mut self, id: u32, line: u32, at: usize, first: u32, len: usize) {
        let size = (u64::from(self.g.sectors_per_cpage) * SECTOR_BYTES) as usize;
        let bytes = self
            .line_bytes
            .entry(line)
            .or_insert_with(|| vec![0; size].into_boxed_slice());
        let into = &mut bytes[first as usize * SECTOR_BYTES as usize..][..len];
        match self.active.get(id).and_then(|a| a.request.data.as_deref()) {
            Some(data) if data.len() >= at + len => into.copy_from_slice(&data[at..at + len]),
            _ => into.fill(0),
        }
    }

    fn note_activity(&mut self) {
        self.last_write = self.now;
        if self.drain == Drain::Idle && !self.idle_scheduled {
            self.idle_scheduled = true;
            self.events.push(self.now + self.idle_delay, Event::Idle);
        }
    }

    /// If no write has come for the idle delay: drain everything.
    pub(super) fn idle(&mut self) {
        let due = self.last_write + self.idle_delay;
        if due > self.now {
            return self.events.push(due, Event::Idle);
        }
        self.idle_scheduled = false;
        self.drain_mark = self.drain_mark.max(self.lines.insertions());
        self.pump();
    }

    /// Room in the buffer was given back.
    pub(super) fn unblock(&mut self) {
        if self.waits_for_room {
            self.next_piece();
        }
    }

    pub(super) fn flush(&mut self, id: u32) {
        if self.battery {
            return self.complete(id, Ok(()));
        }
        let mark = self.lines.insertions();
        self.drain_mark = self.drain_mark.max(mark);
        self.flushes.push(Flushing {
            request: id,
            mark,
            after: None,
        });
        self.pump();
        self.settle_flushes();
    }

    /// Completes the flushes whose data is in the flash array.
    pub(super) fn settle_flushes(&mut self) {
        let mut index = 0;
        while index < self.flushes.len() {
            let flush = self.flushes[index];
            if flush.after.is_none() && !self.lines.oldest_is_due(flush.mark) {
                self.flushes[index].after = Some(self.next_program);
            }
            match self.flushes[index].after {
                Some(after) if after <= self.first_undone => {
                    self.flushes.remove(index);
                    self.complete(flush.request, Ok(()));
                }
                _ => index += 1,
            }
        }
    }

    pub(super) fn trim(&mut self, id: u32) {
        let Some(active) = self.active.get(id) else {
            return;
        };
        let per_unit = u64::from(self.g.sectors_per_unit);
        let first = active.request.offset / SECTOR_BYTES;
        let end = first + active.request.len / SECTOR_BYTES;
        // Only whole units can be forgotten; the rest keeps its data, as TRIM allows.
        let (from, to) = (first.div_ceil(per_unit), end / per_unit);
        if from < to {
            let per_line = u64::from(self.g.sectors_per_cpage);
            let (mut sector, last) = (from * per_unit, to * per_unit);
            while sector < last && !self.lines.is_empty() {
                let n = (last - sector).min(per_line - sector % per_line);
                let (cline, first) = ((sector / per_line) as u32, (sector % per_line) as u32);
                let owners = self.lines.discard(cline, first, n as u32);
                owners.into_iter().for_each(|id| self.piece_gone(id));
                sector += n;
            }
            self.ftl
                .trim(Lpn(from as u32), (to - from) as u32, &mut self.ops);
            self.issue(NOBODY, &[], 0);
            if let Some(reads) = &mut self.reads {
                reads.invalidate(from * per_unit, (to - from) * per_unit);
            }
        }
        self.complete(id, Ok(()));
        self.unblock();
    }

    /// Drains the buffer as far as it should be drained.
    pub(super) fn pump(&mut self) {
        while !self.stalled && self.should_drain() {
            if self.drain_batch() == Err(Stall) {
                self.stall();
            }
        }
        if !self.flushes.is_empty() {
            self.settle_flushes();
        }
    }

    fn should_drain(&self) -> bool {
        if self.lines.is_empty() {
            return false;
        }
        if self.unbuffered || self.lines.oldest_is_due(self.drain_mark) {
            return true;
        }
        if !self.waits_for_room {
            return false;
        }
        if self.lines.is_cache() {
            // A cache gives up a sixteenth of its room at a time.
            let wanted = self.lines.capacity() - self.lines.capacity() / 16;
            return self.lines.occupied() - self.draining > wanted || self.draining == 0;
        }
        // A full buffer is drained to the newest line, which may still be growing; that one too, if nothing
        // else can make room.
        !self.lines.has_one_line() || self.draining == 0
    }

    /// Hands the oldest lines to the translation layer: one, or as many as fill a clustered page where units of
    /// different lines can share one.
    fn drain_batch(&mut self) -> Result<(), Stall> {
        let mut batch = std::mem::take(&mut self.batch);
        batch.clear();
        let mut line = self.lines.oldest();
        while let Some(id) = line {
            let complete =
                Some(id) != self.lines.newest() || self.lines.is_due(id, self.drain_mark);
            let shares = self.gathers.is_some() && complete;
            if !(batch.ids.is_empty() || shares) {
                break;
            }
            self.lines.view(id, &mut batch.line);
            // A second line of a page is drained after the first is placed, for it may need it.
            if batch.has_page(self.g.units_per_cpage) {
                break;
            }
            self.plan(&mut batch);
            if !batch.ids.is_empty() && !self.may_share(&batch) {
                batch.undo();
                break;
            }
            batch.accept();
            if self.gathers.is_none() {
                break;
            }
            line = self.lines.newer(id);
        }
        let result = self.place_batch(&batch);
        self.batch = batch;
        result
    }

    /// Places a piece of an unbuffered write without the detour of a line of its own.
    fn place_directly(&mut self, piece: Piece) -> Result<(), Stall> {
        let mut batch = std::mem::take(&mut self.batch);
        batch.clear();
        self.lines.view_of(piece, &mut batch.line);
        self.plan(&mut batch);
        (batch.dirty, batch.owner) = (piece.sectors, piece.owner);
        let result = self.place_batch(&batch);
        match result {
            Ok(()) => self.lines.pass(piece),
            Err(Stall) => self.stall(),
        }
        self.batch = batch;
        result
    }

    fn stall(&mut self) {
        self.stalled = true;
        self.counters.stalls += 1;
    }

    fn place_batch(&mut self, batch: &Batch) -> Result<(), Stall> {
        let bytes = self.merged_bytes(batch);
        let result = self.ftl.write(&batch.runs, &mut self.ops);
        match result {
            Ok(()) => {
                if let Some(store) = &mut self.store {
                    for (lpn, bytes) in bytes {
                        store.program(self.ftl.lookup(lpn), lpn, bytes);
                    }
                }
                self.finish_batch(batch);
            }
            Err(Stall) => self.issue(NOBODY, &[], 0),
        }
        result
    }

    /// Whether the line that was planned last may be programmed together with those before it.
    fn may_share(&self, batch: &Batch) -> bool {
        match self.gathers {
            Some(Gathers::AnyUnits) => batch.units <= self.g.units_per_cpage,
            Some(Gathers::Neighbours) => {
                let block = |lpn: Lpn| lpn.0 / self.g.units_per_cblock;
                let inside = batch
                    .runs
                    .first()
                    .is_some_and(|(first, _)| block(*first) == block(batch.last_unit()));
                inside
                    && batch.is_one_run()
                    && batch.units <= NEIGHBOUR_PAGES * self.g.units_per_cpage
            }
            None => false,
        }
    }

    fn finish_batch(&mut self, batch: &Batch) {
        batch.ids.iter().for_each(|&id| self.lines.remove(id));
        self.draining += u64::from(batch.dirty);
        self.issue(batch.owner, &batch.reads, batch.dirty);
        if batch.owner != NOBODY
            && let Some(active) = self.active.get_mut(batch.owner)
        {
            active.pending -= 1;
        }
    }

    /// Adds the units of `batch.line` that hold dirty sectors, and the old data that must be read for those
    /// that hold clean ones too.
    fn plan(&self, batch: &mut Batch) {
        let per_unit = self.g.sectors_per_unit;
        let base = batch.line.cline * self.g.units_per_cpage;
        if batch.line.dirty == self.g.sectors_per_cpage {
            batch.push(Lpn(base), self.g.units_per_cpage);
            return;
        }
        for unit in 0..self.g.units_per_cpage {
            let sectors = unit * per_unit..(unit + 1) * per_unit;
            let dirty = sectors.clone().filter(|&s| batch.line.holds(s)).count() as u32;
            if dirty == 0 {
                continue;
            }
            batch.push(Lpn(base + unit), 1);
            let old = self.ftl.lookup(Lpn(base + unit));
            if dirty < per_unit && old.is_some() {
                let mut place = self.place(old, 1);
                let clean = sectors
                    .clone()
                    .find(|&s| !batch.line.holds(s))
                    .unwrap_or(sectors.start);
                let room = sectors.end - clean;
                place.first += clean - sectors.start;
                place.sectors = (per_unit - dirty).min(room);
                batch.reads.push(place);
            }
        }
    }

    /// The bytes of a batch's units as they will be: what is dirty over what the drive holds.
    fn merged_bytes(&self, batch: &Batch) -> Vec<(Lpn, Box<[u8]>)> {
        if self.store.is_none() {
            return Vec::new();
        }
        let per_unit = u64::from(self.g.sectors_per_unit);
        let units = batch.runs.iter().flat_map(|&(lpn, n)| lpn.0..lpn.0 + n);
        let merged = units.map(|lpn| {
            let mut bytes = vec![0u8; (per_unit * SECTOR_BYTES) as usize].into_boxed_slice();
            for (i, sector) in bytes.chunks_mut(SECTOR_BYTES as usize).enumerate() {
                self.drained_sector(batch, u64::from(lpn) * per_unit + i as u64, sector);
            }
            (Lpn(lpn), bytes)
        });
        merged.collect()
    }
}
