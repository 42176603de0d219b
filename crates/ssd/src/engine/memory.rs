//! The write memory and when it is drained. This is the write buffer or, on a drive without one, the controller's own
//! memory.
//!
//! `gather` decides which lines are drained together. This module knows neither requests nor flash, except the batches on
//! their way ([`Draining`]) and the domains that wait for an erase ([`Domains`]).

use super::batch::Batch;
use super::constant::Shrinking;
use super::domain::Domains;
use super::draining::Draining;
use crate::buffer::lines::{LineSetup, LineView, Out, Piece, WriteLines};
use crate::buffer::policy::{Elements, Shape};
use crate::event::{Clock, Event};
use crate::geometry::Geometry;
use crate::spec::{Drain, Oversize, Spec, Striping, WriteBuffer, WritePolicy};
use fathom_base::{Bytes, SECTOR_BYTES, Time};
use std::collections::BTreeMap;

/// Lines that may be programmed together if a clustered page holds several units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gathers {
    /// Any lines (page mapping).
    AnyUnits,
    /// Lines whose units are consecutive and lie in one block (block mapping).
    Neighbours,
}

impl Gathers {
    fn of(spec: &Spec, g: &Geometry) -> Option<Self> {
        let kind = spec.mapping.kind;
        let several = spec.write_buffer.is_some() && g.units_per_cpage > 1 && !kind.is_zoned();
        several.then_some(match spec.mapping.kind.is_paged() {
            true => Gathers::AnyUnits,
            false => Gathers::Neighbours,
        })
    }
}

#[derive(Clone, Debug)]
pub(super) struct WriteMemory {
    pub(super) g: Geometry,
    pub(super) settings: WriteBuffer,
    /// True if the drive has no write buffer: this is the controller's own memory, which is drained at once.
    pub(super) unbuffered: bool,
    pub(super) lines: WriteLines,
    /// The bytes of each line, if data is kept.
    bytes: BTreeMap<u32, Box<[u8]>>,
    /// Which of it shrinks, on a drive that compresses.
    pub(super) shrinking: Shrinking,
    /// True if the write whose turn it is waits for room.
    waits_for_room: bool,
    /// True if the buffer was full and must be drained completely before it accepts more (`drain_whole`).
    emptying: bool,
    /// Lines that became dirty up to this mark are due.
    pub(super) drain_mark: u64,
    last_write: Time,
    idle_scheduled: bool,
    pub(super) gathers: Option<Gathers>,
    /// The batch that is being drained; kept for its allocations.
    pub(super) batch: Batch,
    /// Number of times that a write found no erased block and waited for one.
    pub(super) stalls: u64,
}

impl WriteMemory {
    pub(super) fn new(spec: &Spec, g: &Geometry) -> Self {
        let unlimited = || WriteBuffer::new(WritePolicy::NoCache, Bytes(u64::MAX / 2));
        let settings = spec.write_buffer.clone().unwrap_or_else(unlimited);
        Self {
            g: g.clone(),
            lines: WriteLines::new(&line_setup(spec, &settings, g)),
            settings,
            unbuffered: spec.write_buffer.is_none(),
            bytes: BTreeMap::new(),
            shrinking: Shrinking::new(spec, g.sectors_per_cpage),
            waits_for_room: false,
            emptying: false,
            drain_mark: 0,
            last_write: Time::ZERO,
            idle_scheduled: false,
            gathers: Gathers::of(spec, g),
            batch: Batch::default(),
            stalls: 0,
        }
    }

    /// Reserves room for a piece of a write. Returns the reserved sectors, or `None` if the piece must wait for room. The
    /// controller's own memory has room for everything in flight.
    #[inline(always)]
    pub(super) fn make_room(&mut self, piece: Piece) -> Option<u32> {
        if self.unbuffered {
            return Some(0);
        }
        let needed = self.lines.growth(piece.cline, piece.first, piece.sectors);
        self.waits_for_room = self.emptying || !self.lines.reserve(needed);
        if self.waits_for_room && self.settings.drain_whole {
            self.emptying = true;
            self.drain_mark = self.lines.insertions();
        }
        (!self.waits_for_room).then_some(needed)
    }

    /// Room was released: returns true if the write that waits for it may retry.
    #[inline]
    pub(super) fn may_retry(&mut self, draining: &Draining) -> bool {
        if self.emptying && !(self.lines.is_empty() && draining.is_empty()) {
            return false;
        }
        self.emptying = false;
        self.waits_for_room
    }

    /// Stops waiting for room because the write fails. Returns false if no write was waiting.
    pub(super) fn stop_waiting(&mut self) -> bool {
        std::mem::take(&mut self.waits_for_room)
    }

    /// Notes a write; schedules an idle drain if the spec asks for it.
    #[inline]
    pub(super) fn note_write(&mut self, clock: &mut Clock) {
        self.last_write = clock.now;
        if self.settings.drain == Drain::Idle && !self.idle_scheduled {
            self.idle_scheduled = true;
            clock.after(self.settings.idle_delay, Event::Idle);
        }
    }

    /// Handles [`Event::Idle`]: if no write has arrived for the idle delay, makes everything due and returns true.
    pub(super) fn is_idle(&mut self, clock: &mut Clock) -> bool {
        let due = self.last_write + self.settings.idle_delay;
        if due > clock.now {
            clock.at(due, Event::Idle);
            return false;
        }
        self.idle_scheduled = false;
        self.mark_due();
        true
    }

    /// Makes everything due when power returns.
    pub(super) fn wake(&mut self, clock: &mut Clock) {
        self.mark_due();
        self.idle_scheduled = true;
        clock.at(clock.now, Event::Idle);
    }

    /// Makes all dirty lines due. Returns their mark.
    pub(super) fn mark_due(&mut self) -> u64 {
        let mark = self.lines.insertions();
        self.drain_mark = self.drain_mark.max(mark);
        mark
    }

    /// Returns true if a write of this length is complete only when it is in flash.
    #[inline]
    pub(super) fn passes(&self, sectors: u64) -> bool {
        self.settings.oversize == Oversize::WriteThrough && sectors > self.lines.capacity()
    }

    #[inline]
    pub(super) fn should_drain(&mut self, draining: &Draining) -> bool {
        if self.unbuffered {
            return !self.lines.is_empty();
        }
        // A batch that has started to leave always leaves completely.
        let leaves = self.lines.is_leaving() || self.lines.has_parked();
        if leaves || self.lines.oldest_is_due(self.drain_mark) {
            return true;
        }
        if self.lines.is_empty() || !self.waits_for_room {
            return false;
        }
        // A full buffer is drained up to the newest line, which may still grow. That line is drained too if nothing else
        // can make room.
        if self.lines.is_cache() {
            self.may_choose(draining)
        } else {
            !self.lines.has_one_line() || draining.is_empty()
        }
    }

    /// Returns true if a cache should evict more: only as much as keeps the stations busy, and at most half of the cache,
    /// because the rest may be overwritten.
    fn may_choose(&self, draining: &Draining) -> bool {
        if !self.waits_for_room {
            return false;
        }
        let going = draining.sectors() + self.lines.parked_sectors();
        let much = 2 * (self.lines.occupied() - going) > self.lines.capacity();
        let nothing_goes = draining.is_empty() && !self.lines.has_parked();
        nothing_goes || much && !draining.is_enough()
    }

    /// Returns the first line to leave that does not wait for an erase. Lines of one clustered page wait for the same
    /// erase, so none overtakes an older one.
    pub(super) fn first_ready(&mut self, draining: &Draining, domains: &Domains) -> Option<Out> {
        if let Some(whole) = domains.single() {
            return if whole.stalled {
                None
            } else {
                self.lines.first_out(self.drain_mark)
            };
        }
        if self.lines.leave_by_age(self.drain_mark) {
            return self.oldest_ready(domains);
        }
        loop {
            let next = self.lines.first_chosen(|cline| {
                let domain = domains.of_line(cline);
                (domain, domains[domain].stalled)
            });
            if next.is_some() || !self.may_choose(draining) || !self.lines.choose() {
                return next;
            }
        }
    }

    /// Returns the oldest line that does not wait for an erase.
    fn oldest_ready(&mut self, domains: &Domains) -> Option<Out> {
        let mut next = self.lines.first_out(self.drain_mark);
        while let Some(out) = next
            && domains.is_stalled(self.lines.cline(out))
        {
            // Never takes a line that does not have to leave yet.
            next = self
                .lines
                .next_out(out)
                .filter(|&out| self.is_complete(out));
        }
        next
    }

    /// Returns true if a line can no longer grow.
    pub(super) fn is_complete(&self, out: Out) -> bool {
        let due = |id| self.lines.is_due(id, self.drain_mark);
        let newest = self.lines.newest().filter(|&id| out.is(id));
        newest.is_none_or(due)
    }

    /// Stores the bytes of a piece that has been inserted into a line: `data`, or zeros.
    pub(super) fn keep(&mut self, line: u32, piece: Piece, data: Option<&[u8]>) {
        let size = self.g.sectors_per_cpage as usize * SECTOR_BYTES as usize;
        let empty = || vec![0; size].into_boxed_slice();
        let bytes = self.bytes.entry(line).or_insert_with(empty);
        let (at, len) = (
            piece.first as usize * SECTOR_BYTES as usize,
            piece.sectors as usize * SECTOR_BYTES as usize,
        );
        match data {
            Some(data) => bytes[at..at + len].copy_from_slice(data),
            None => bytes[at..at + len].fill(0),
        }
    }

    /// Returns the bytes of a sector of a line, if data is kept.
    pub(super) fn sector(&self, line: u32, in_line: u32) -> Option<&[u8]> {
        let size = SECTOR_BYTES as usize;
        self.bytes
            .get(&line)?
            .get(in_line as usize * size..)?
            .get(..size)
    }

    /// Removes and returns all lines, with their bytes.
    pub(super) fn take_all(&mut self) -> Vec<(LineView, Box<[u8]>)> {
        let lines = self.lines.drain_all().into_iter();
        let mut bytes = std::mem::take(&mut self.bytes);
        lines
            .map(|line| {
                let bytes = bytes.remove(&line.id).unwrap_or_default();
                (line, bytes)
            })
            .collect()
    }

    /// Removes the lines of a drive without a buffer, which can no longer be placed. Returns the writes that they belong
    /// to.
    pub(super) fn take_unplaced(&mut self) -> Vec<u32> {
        self.bytes.clear();
        self.lines
            .take_all()
            .iter()
            .map(|line| line.owner)
            .collect()
    }

    /// Forgets waiting writes and scheduled drains.
    pub(super) fn clear(&mut self) {
        (self.waits_for_room, self.emptying) = (false, false);
        self.idle_scheduled = false;
    }
}

fn line_setup(spec: &Spec, settings: &WriteBuffer, g: &Geometry) -> LineSetup {
    let block_pages = settings.block.map_or(g.cpages_per_cblock, |b| {
        (b.0 / spec.flash.clustered_page.0) as u32
    });
    LineSetup {
        policy: settings.policy,
        combine: settings.combine,
        capacity_sectors: settings.capacity.0 / SECTOR_BYTES,
        sectors_per_line: g.sectors_per_cpage,
        shape: Shape {
            elements: elements(spec, g),
            block_pages,
        },
        clines: g.logical_cblocks * g.cpages_per_cblock,
    }
}

/// Predicts where a clustered page will be programmed, as far as its number determines it. With static striping,
/// neighbouring pages lie in different groups, in some order. With dynamic striping, pages are placed in turn, so any set
/// of as many pages as there are stations keeps all of them busy. With block mapping, the block determines the group and
/// the page the lane.
fn elements(spec: &Spec, g: &Geometry) -> Elements {
    let (stride, count, lanes) = match (spec.mapping.kind.is_paged(), spec.mapping.striping) {
        (false, _) => (g.cpages_per_cblock, g.groups, g.lanes_per_group),
        (true, Striping::Dynamic) => (1, g.stations, 1),
        (true, _) => (1, g.groups, 1),
    };
    Elements {
        stride,
        count,
        lanes,
    }
}
