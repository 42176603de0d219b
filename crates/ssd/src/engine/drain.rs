//! From the buffer into the flash array: when, what together, and what must be read for it.

use super::batch::Batch;
use super::flash::NOBODY;
use super::{Event, Gathers, Ssd};
use crate::buffer::{Elements, LineSetup, Out, Piece, Shape};
use crate::ftl::{Ftl, Stall};
use crate::geometry::Geometry;
use crate::nand::Place;
use crate::spec::{Spec, Striping, WritePolicy};
use fathom_base::{Lpn, SECTOR_BYTES};

/// The most clustered pages of neighbouring units that leave the buffer together.
const NEIGHBOUR_PAGES: u32 = 16;

/// The memory for writes; without a buffer, as much as the controller needs.
pub(super) fn line_setup(spec: &Spec, g: &Geometry) -> LineSetup {
    let buffer = spec.write_buffer.as_ref();
    let block = buffer.and_then(|b| b.block);
    let block_pages = block.map_or(g.cpages_per_cblock, |b| {
        (b.0 / spec.flash.clustered_page.0) as u32
    });
    LineSetup {
        policy: buffer.map_or(WritePolicy::NoCache, |b| b.policy),
        combine: buffer.is_none_or(|b| b.combine),
        capacity_sectors: buffer.map_or(u64::MAX / 2, |b| b.capacity.0 / SECTOR_BYTES),
        sectors_per_line: g.sectors_per_cpage,
        shape: Shape {
            elements: elements(spec, g),
            block_pages,
        },
        clines: g.logical_cblocks * g.cpages_per_cblock,
    }
}

/// Whether what leaves goes to one station after the other, whatever its address.
fn in_turn(spec: &Spec) -> bool {
    spec.mapping.kind.is_paged() && spec.mapping.striping == Striping::Dynamic
}

/// Where a clustered page will be programmed, as far as its number tells. With static striping neighbours lie in
/// different groups, in whatever order. With dynamic striping it goes where the turn is, so that as many as there
/// are stations keep them all busy, whichever they are. With block mapping the block tells the group and the page
/// the lane.
fn elements(spec: &Spec, g: &Geometry) -> Elements {
    let (stride, count, lanes) = match spec.mapping.kind {
        kind if !kind.is_paged() => (g.cpages_per_cblock, g.groups, g.lanes_per_group),
        _ if in_turn(spec) => (1, g.stations, 1),
        _ => (1, g.groups, 1),
    };
    Elements {
        stride,
        count,
        lanes,
    }
}

fn units_of(batch: &Batch) -> impl Iterator<Item = Lpn> + '_ {
    let units = batch.runs.iter().flat_map(|&(lpn, n)| lpn.0..lpn.0 + n);
    units.map(Lpn)
}

impl Ssd {
    /// Drains the buffer as far as it should be drained.
    #[inline]
    pub(super) fn pump(&mut self) {
        while self.should_drain() {
            let Some(out) = self.first_ready() else {
                break;
            };
            let domain = self.domain_of_line(self.lines.cline(out));
            if self.drain_batch(out) == Err(Stall) {
                self.stall(domain);
            }
        }
        if !self.flushes.is_empty() {
            self.settle_flushes();
        }
    }

    #[inline]
    fn should_drain(&mut self) -> bool {
        if self.worn_out {
            return false;
        }
        if self.unbuffered {
            return !self.lines.is_empty();
        }
        // What leaves together leaves whole.
        let leaves = self.lines.is_leaving() || self.lines.has_parked();
        if leaves || self.lines.oldest_is_due(self.drain_mark) {
            return true;
        }
        if self.lines.is_empty() || !self.waits_for_room {
            return false;
        }
        // A full buffer is drained to the newest line, which may still be growing; that one too, if nothing
        // else can make room.
        if self.lines.is_cache() {
            self.may_choose()
        } else {
            !self.lines.has_one_line() || self.draining.is_empty()
        }
    }

    /// Whether a cache is to let more go: no more than keeps the stations at work, and at most half of it, for what stays may
    /// be written again.
    fn may_choose(&self) -> bool {
        if !self.waits_for_room {
            return false;
        }
        let going = self.draining.sectors() + self.lines.parked_sectors();
        let much = 2 * (self.lines.occupied() - going) > self.lines.capacity();
        let nothing_goes = self.draining.is_empty() && !self.lines.has_parked();
        nothing_goes || much && !self.draining.is_enough()
    }

    /// What leaves next: the first that waits for no erase. Lines of one clustered page wait for the same one, so that
    /// none overtakes an older one.
    fn first_ready(&mut self) -> Option<Out> {
        if let [whole] = &self.domains[..] {
            return if whole.stalled {
                None
            } else {
                self.lines.first_out(self.drain_mark)
            };
        }
        if self.lines.leave_by_age(self.drain_mark) {
            return self.oldest_ready();
        }
        let (pages, groups) = (self.g.cpages_per_cblock, self.domains.len());
        loop {
            let domains = &self.domains;
            let next = self.lines.first_chosen(|cline| {
                let domain = (cline / pages) as usize % groups;
                (domain, domains[domain].stalled)
            });
            if next.is_some() || !self.may_choose() || !self.lines.choose() {
                return next;
            }
        }
    }

    /// The oldest line that waits for no erase.
    fn oldest_ready(&mut self) -> Option<Out> {
        let mut next = self.lines.first_out(self.drain_mark);
        while let Some(out) = next
            && self.is_stalled(self.lines.cline(out))
        {
            // Nothing is hurried that need not leave.
            next = self
                .lines
                .next_out(out)
                .filter(|&out| self.is_complete(out));
        }
        next
    }

    /// What is kept in order with a clustered page of the host's address space.
    fn domain_of_line(&self, cline: u32) -> usize {
        match self.domains.len() {
            1 => 0,
            groups => (cline / self.g.cpages_per_cblock) as usize % groups,
        }
    }

    /// Whether a clustered page of the host's address space waits for an erase.
    pub(super) fn is_stalled(&self, cline: u32) -> bool {
        self.domains[self.domain_of_line(cline)].stalled
    }

    /// Hands what leaves next to the translation layer: one line, or as many as fill a clustered page where units
    /// of different lines can share one.
    fn drain_batch(&mut self, first: Out) -> Result<(), Stall> {
        let mut batch = std::mem::take(&mut self.batch);
        batch.clear();
        let mut next = Some(first);
        while let Some(out) = next {
            let shares = self.gathers.is_some() && self.is_complete(out);
            if !(batch.outs.is_empty() || shares) {
                break;
            }
            self.lines.view(out, &mut batch.line);
            // A second line of a page is drained after the first is placed, for it may need it.
            if batch.has_page(self.g.units_per_cpage) {
                break;
            }
            self.plan(&mut batch);
            if !batch.outs.is_empty() && !self.may_share(&batch) {
                batch.undo();
                break;
            }
            batch.accept(out);
            if self.gathers.is_none() || out.alone {
                break;
            }
            next = self.lines.next_out(out);
        }
        let result = self.place_batch(&batch);
        self.batch = batch;
        result
    }

    /// Whether a line grows no further.
    fn is_complete(&self, out: Out) -> bool {
        let due = |id| self.lines.is_due(id, self.drain_mark);
        let newest = self.lines.newest().filter(|&id| out.is(id));
        newest.is_none_or(due)
    }

    /// Places a piece of an unbuffered write without the detour of a line of its own.
    pub(super) fn place_directly(&mut self, piece: Piece) -> Result<(), Stall> {
        let result = if piece.sectors == self.g.sectors_per_cpage {
            self.place_page(piece)
        } else {
            self.place_part(piece)
        };
        match result {
            Ok(()) => self.lines.pass(piece),
            Err(Stall) => self.stall(self.domain_of_line(piece.cline)),
        }
        result
    }

    /// A whole clustered page: there is nothing to plan, for no old data is wanted.
    #[inline]
    fn place_page(&mut self, piece: Piece) -> Result<(), Stall> {
        let units = self.g.units_per_cpage;
        let run = (Lpn(piece.cline * units), units);
        let result = self.ftl.write(&[run], &mut self.ops);
        match result {
            Ok(()) => self.finish(piece.owner, &[], piece.sectors),
            Err(Stall) => self.issue_own(),
        }
        result
    }

    fn place_part(&mut self, piece: Piece) -> Result<(), Stall> {
        let mut batch = std::mem::take(&mut self.batch);
        batch.clear();
        self.lines.view_of(piece, &mut batch.line);
        self.plan(&mut batch);
        (batch.dirty, batch.owner) = (piece.sectors, piece.owner);
        let result = self.place_batch(&batch);
        self.batch = batch;
        result
    }

    fn stall(&mut self, domain: usize) {
        let domain = &mut self.domains[domain];
        domain.stalled = true;
        self.counters.stalls += 1;
        if domain.erasing == 0 && self.bad.len() > self.bad_at_first {
            self.events.push(self.now, Event::Exhausted);
        }
    }

    fn place_batch(&mut self, batch: &Batch) -> Result<(), Stall> {
        let bytes = self.merged_bytes(batch);
        let result = self.ftl.write(&batch.runs, &mut self.ops);
        match result {
            Ok(()) => {
                self.keep_units(batch, &bytes);
                self.finish_batch(batch);
            }
            Err(Stall) => self.issue_own(),
        }
        self.unit_bytes = bytes;
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
        batch.outs.iter().for_each(|&out| self.lines.leave(out));
        self.finish(batch.owner, &batch.reads, batch.dirty);
    }

    /// Issues what was placed: `dirty` sectors, for an unbuffered write or for nobody.
    #[inline]
    fn finish(&mut self, owner: u32, reads: &[Place], dirty: u32) {
        self.issue(owner, reads, dirty);
        if owner != NOBODY
            && let Some(active) = self.active.get_mut(owner)
        {
            active.pending -= 1;
        }
    }

    /// Adds the units of `batch.line` that hold dirty sectors or pad others, and the old data that must be read
    /// for those that hold clean ones too.
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
            if dirty == 0 && !batch.line.whole {
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
                batch.read(place);
            }
        }
    }

    /// The bytes of a batch's units as they will be, one after another: what is dirty over what the drive holds.
    fn merged_bytes(&mut self, batch: &Batch) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.unit_bytes);
        bytes.clear();
        let Some(store) = &self.store else {
            return bytes;
        };
        let (size, per_unit) = (store.unit_bytes(), u64::from(self.g.sectors_per_unit));
        bytes.resize(units_of(batch).count() * size, 0);
        for (lpn, unit) in units_of(batch).zip(bytes.chunks_exact_mut(size)) {
            let first = u64::from(lpn.0) * per_unit;
            for (sector, into) in (first..).zip(unit.chunks_exact_mut(SECTOR_BYTES as usize)) {
                self.drained_sector(batch, sector, into);
            }
        }
        bytes
    }

    /// A batch has been placed: its units are where the mapping says.
    fn keep_units(&mut self, batch: &Batch, bytes: &[u8]) {
        if let Some(store) = &mut self.store {
            let size = store.unit_bytes();
            for (lpn, unit) in units_of(batch).zip(bytes.chunks_exact(size)) {
                store.program(self.ftl.lookup(lpn), lpn, unit);
            }
        }
    }
}
