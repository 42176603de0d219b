//! Writes: over the link into the buffer; flush and trim.

use super::domain::Domain;
use super::flash::NOBODY;
use super::{Event, Flushing, Ssd, lane};
use crate::buffer::Piece;
use crate::ftl::{Ftl, Stall};
use crate::host::Way;
use crate::spec::{Cut, Drain, Oversize};
use fathom_base::{Lpn, SECTOR_BYTES};
use fathom_block::IoErrorKind;

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
        let of_page = u64::from(self.g.sectors_per_cpage);
        let of_cut = match self.cut {
            Cut::Page => of_page,
            Cut::Command => of_page - active.arrived % of_page,
        };
        let sectors = left
            .min(of_page - u64::from(first))
            .min(of_cut)
            .min(self.lines.capacity()) as u32;
        let needed = self.lines.growth(cline, first, sectors);
        self.waits_for_room = self.emptying || !self.lines.reserve(needed);
        if self.waits_for_room {
            if self.drain_whole {
                self.emptying = true;
                self.drain_mark = self.lines.insertions();
            }
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
        if active.failed {
            return self.arrived_failed(id, reserved);
        }
        let at = (active.arrived * SECTOR_BYTES) as usize;
        active.arrived += u64::from(sectors);
        let length = active.request.len / SECTOR_BYTES;
        let whole = active.arrived == length;
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
        if !direct || self.is_stalled(cline) || self.place_directly(piece) == Err(Stall) {
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
        let through = self.oversize == Oversize::WriteThrough && length > self.lines.capacity();
        match (self.unbuffered, fua, through) {
            (true, ..) => {} // completes with its last program
            (false, _, true) => self.flush_through(id),
            (false, true, _) => self.flush(id),
            (false, false, _) => self.complete(id, Ok(())),
        }
        // Only now, for what was held back by this write must not begin on its own.
        self.incoming.pop_front();
        if !self.incoming.is_empty() {
            self.next_piece();
        }
    }

    /// An unbuffered write is complete when all of it has arrived and is programmed.
    pub(super) fn write_progress(&mut self, id: u32) {
        let Some(active) = self.active.get(id) else {
            return;
        };
        if active.failed {
            self.end_failed(id);
        } else if active.pending == 0 && active.arrived == active.request.len / SECTOR_BYTES {
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
        if self.emptying && !(self.lines.is_empty() && self.draining.is_empty()) {
            return;
        }
        self.emptying = false;
        if self.waits_for_room {
            self.next_piece();
        }
    }

    pub(super) fn flush(&mut self, id: u32) {
        match self.battery {
            true => self.complete(id, Ok(())),
            false => self.flush_through(id),
        }
    }

    /// Completes a request when what the buffer holds now is in the flash array.
    fn flush_through(&mut self, id: u32) {
        if self.worn_out && !self.lines.is_empty() {
            return self.complete(id, Err(IoErrorKind::Medium));
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
            let Flushing {
                request,
                mark,
                ref after,
            } = self.flushes[index];
            if after.is_none() && !self.lines.oldest_is_due(mark) {
                let next = self.domains.iter().map(Domain::next);
                self.flushes[index].after = Some(next.collect());
            }
            match &self.flushes[index].after {
                Some(after) if self.is_done(after) => {
                    self.flushes.remove(index);
                    self.complete(request, Ok(()));
                }
                _ => index += 1,
            }
        }
    }

    /// Whether in every domain the programs before these numbers are done.
    fn is_done(&self, after: &[u64]) -> bool {
        let mut domains = self.domains.iter().zip(after);
        domains.all(|(domain, &after)| domain.is_done(after))
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
            self.issue_own();
            if let Some(reads) = &mut self.reads {
                reads.invalidate(from * per_unit, (to - from) * per_unit);
            }
        }
        self.complete(id, Ok(()));
        self.unblock();
    }
}
