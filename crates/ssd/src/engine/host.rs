//! The host side: requests in flight, the link that carries their data, and the order in which they may start.
//!
//! Writes cross the link one after another, piece by piece, so that no write holds room in the memory that it does not
//! fill. This module knows nothing of flash: a request waits for a number of *parts*, and the owner of each part reports
//! when it is done.

pub(super) use super::active::Arrival;

use super::active::Active;
use super::flushes::Flushes;
use super::order::Hazards;
use super::queues::Queues;
use crate::buffer::lines::Piece;
use crate::event::{Clock, Event};
use crate::geometry::Geometry;
use crate::link::{Link, Way};
use crate::nand::job::Place;
use crate::spec::{Cut, Log, Protocol, Spec};
use fathom_base::{Dur, Rng, SECTOR_BYTES, Slab, Time};
use fathom_block::{IoErrorKind, Op, Payload, Request, ZoneAction};
use std::collections::VecDeque;
use std::num::NonZeroU64;

/// Bytes that are read of a translation page in host memory: the page of that memory with the entry.
const HOST_PAGE_BYTES: u64 = 4096;

#[derive(Clone, Debug)]
pub(super) struct HostSide {
    link: Link,
    active: Slab<Active>,
    pub(super) hazards: Hazards,
    /// Writes whose command has been processed, in the order in which they use the link.
    incoming: VecDeque<u32>,
    pub(super) flushes: Flushes,
    pub(super) sectors_written: u64,
    pub(super) sectors_read: u64,
    /// What the drive reports about itself, and in the units of which protocol.
    pub(super) log: Log,
    pub(super) protocol: Protocol,
    /// Bytes of a read of host memory, and its time in addition to the transfer.
    map_bytes: u64,
    host_memory_latency: Dur,
    /// The submission queues, if there are several.
    queues: Option<Box<Queues>>,
    /// True if an event will fetch the next command.
    will_fetch: bool,
    /// By request, the unit of the mapping table that was read last for an unbuffered write, where the table is in flash.
    map_reads: Option<Vec<Option<Place>>>,
}

impl HostSide {
    pub(super) fn new(spec: &Spec, g: &Geometry, rng: Option<Rng>) -> Self {
        Self {
            link: Link::new(&spec.host, spec.noise.command_percent, rng),
            active: Slab::default(),
            hazards: Hazards::new(spec.mapping.zone.and_then(|zone| NonZeroU64::new(zone.0))),
            incoming: VecDeque::new(),
            flushes: Flushes::default(),
            sectors_written: 0,
            sectors_read: 0,
            log: spec.host.log,
            protocol: spec.host.protocol,
            map_bytes: spec.unit().min(HOST_PAGE_BYTES),
            host_memory_latency: spec.mapping.host_memory_latency,
            queues: Queues::new(&spec.host),
            will_fetch: false,
            map_reads: (g.map_units > 0).then(Vec::new),
        }
    }

    pub(super) fn ids(&self) -> Vec<u32> {
        self.active.ids().collect()
    }

    /// Adds a request, which was asked for at offset `asked`. Returns its index.
    #[inline]
    pub(super) fn accept(&mut self, mut request: Request, asked: u64, now: Time) -> u32 {
        if request.op == Op::Read {
            request.data = None;
        }
        let id = self.active.insert(Active::new(request, asked, now));
        if let Some(reads) = &mut self.map_reads {
            let rooms = reads.len().max(id as usize + 1);
            reads.resize(rooms, None);
            reads[id as usize] = None;
        }
        id
    }

    /// Hands a command to the controller, or to one of several queues. Returns true if it is processed at once, in which
    /// case no event is scheduled.
    #[inline]
    pub(super) fn is_command_through(&mut self, id: u32, clock: &mut Clock) -> bool {
        if self.queues.is_some() {
            self.line_up_command(id, clock);
            return false;
        }
        let at = self.link.command(clock.now);
        let through = at == clock.now && !clock.happens_now();
        if !through {
            clock.at(at, Event::Command(id));
        }
        through
    }

    /// Reads a part of the mapping table from host memory. Returns the time at which it is there.
    pub(super) fn read_host_memory(&mut self, now: Time) -> Time {
        self.link.transfer(Way::In, self.map_bytes, now) + self.host_memory_latency
    }

    /// Adds a command to the queue of its process.
    fn line_up_command(&mut self, id: u32, clock: &mut Clock) {
        let process = self.active.get(id).map(|active| active.request.tag.process);
        if let Some(queues) = &mut self.queues {
            queues.push(process.unwrap_or_default(), id);
        }
        self.fetch(clock);
    }

    /// The controller is free for the next command of several queues.
    pub(super) fn fetch_due(&mut self, clock: &mut Clock) {
        self.will_fetch = false;
        self.fetch(clock);
    }

    /// Takes commands from the queues while the controller is free, which it is again when it has processed one.
    fn fetch(&mut self, clock: &mut Clock) {
        let Some(queues) = &mut self.queues else {
            return;
        };
        while self.link.controller_free() <= clock.now
            && let Some(id) = queues.pick()
        {
            let at = self.link.command(clock.now);
            clock.at(at, Event::Command(id));
        }
        if !queues.is_empty() && !self.will_fetch {
            self.will_fetch = true;
            clock.at(self.link.controller_free(), Event::Fetch);
        }
    }

    /// Handles the end of a command. Returns its operation if it may start at once.
    #[inline]
    pub(super) fn admit(&mut self, id: u32) -> Option<Op> {
        let request = &self.active.get(id)?.request;
        self.hazards.admit(id, request).then_some(request.op)
    }

    /// Returns the first sector and the number of sectors of a request.
    pub(super) fn sectors(&self, id: u32) -> Option<(u64, u64)> {
        self.active.get(id).map(Active::sectors)
    }

    /// Adds `parts` parts that a request waits for.
    #[inline]
    pub(super) fn expect(&mut self, id: u32, parts: u32) {
        if let Some(active) = self.active.get_mut(id) {
            active.pending += parts;
        }
    }

    /// Notes that a piece of an unbuffered write has been placed; from now on its programs are counted.
    #[inline]
    pub(super) fn placed(&mut self, id: u32, programs: u32) {
        if let Some(active) = self.active.get_mut(id) {
            active.pending = active.pending + programs - 1;
        }
    }

    /// Notes that a part of a request is done. Returns the number of parts left, or `None` if the request no longer
    /// exists.
    #[inline]
    pub(super) fn part_done(&mut self, id: u32) -> Option<u32> {
        let active = self.active.get_mut(id)?;
        active.pending -= 1;
        Some(active.pending)
    }

    /// Sends a part of a read, which is in the drive's memory, over the link.
    pub(super) fn send_part(&mut self, id: u32, bytes: u32, clock: &mut Clock) {
        let end = self.link.transfer(Way::Out, u64::from(bytes), clock.now);
        let Some(active) = self.active.get_mut(id) else {
            return;
        };
        active.last_transfer = active.last_transfer.max(end);
        active.pending -= 1;
        if active.pending == 0 {
            clock.at(active.last_transfer, Event::Complete(id));
        }
    }

    /// Sends the sectors of a read that were found in the drive's memory over the link. All its other parts must have
    /// been started.
    pub(super) fn send_from_memory(&mut self, id: u32, sectors: u64, clock: &mut Clock) {
        let Some(active) = self.active.get_mut(id) else {
            return;
        };
        if sectors > 0 || active.pending == 0 {
            let bytes = sectors * SECTOR_BYTES;
            let end = self.link.transfer(Way::Out, bytes, clock.now);
            active.last_transfer = active.last_transfer.max(end);
        }
        if active.pending == 0 {
            clock.at(active.last_transfer, Event::Complete(id));
        }
    }

    /// Stores the bytes that a read will return.
    pub(super) fn keep_data(&mut self, id: u32, bytes: Box<[u8]>) {
        if let Some(active) = self.active.get_mut(id) {
            active.request.data = Some(bytes);
        }
    }

    /// Returns the data of a write from byte `at` on, if the request carries data.
    #[inline]
    pub(super) fn data(&self, id: u32, at: usize, len: usize) -> Option<&[u8]> {
        let data = self.active.get(id)?.request.data.as_deref()?;
        data.get(at..at + len)
    }

    /// Returns the content of a write that carries no data.
    #[inline]
    pub(super) fn payload(&self, id: u32) -> Payload {
        let active = self.active.get(id);
        active.map_or(Payload::Unique, |active| active.request.tag.payload)
    }

    /// Returns the unit of the mapping table that was read last for an unbuffered write, for update.
    #[inline]
    pub(super) fn map_read(&mut self, id: u32) -> Option<&mut Option<Place>> {
        self.map_reads.as_mut()?.get_mut(id as usize)
    }

    /// Queues a write for the link. Returns true if it is first.
    #[inline(always)]
    pub(super) fn line_up(&mut self, id: u32) -> bool {
        self.incoming.push_back(id);
        self.incoming.len() == 1
    }

    /// Ends the turn of the first write on the link. Returns true if another write is next.
    #[inline]
    pub(super) fn next_turn(&mut self) -> bool {
        self.incoming.pop_front();
        !self.incoming.is_empty()
    }

    /// Returns the next piece of the first write in the queue: at most `most` sectors.
    #[inline(always)]
    pub(super) fn next_piece(&self, g: &Geometry, cut: Cut, most: u64) -> Option<Piece> {
        let &id = self.incoming.front()?;
        let active = self.active.get(id)?;
        let (begin, length) = active.sectors();
        let arrived = active.arrived;
        let (cline, first) = g.line_of_sector(begin + arrived);
        let of_page = u64::from(g.sectors_per_cpage);
        let of_cut = match cut {
            Cut::Page => of_page,
            Cut::Command => of_page - arrived % of_page,
        };
        let sectors = (length - arrived)
            .min(of_page - u64::from(first))
            .min(of_cut)
            .min(most) as u32;
        Some(Piece {
            cline,
            first,
            sectors,
            reserved: 0,
            owner: id,
        })
    }

    /// Sends a piece over the link. `reserved` sectors of room are reserved for it.
    #[inline(always)]
    pub(super) fn send_piece(&mut self, piece: Piece, reserved: u32, clock: &mut Clock) {
        let (id, sectors) = (piece.owner, piece.sectors);
        if let Some(active) = self.active.get_mut(id) {
            active.piece = (sectors, reserved);
        }
        let bytes = u64::from(sectors) * SECTOR_BYTES;
        let end = self.link.transfer(Way::In, bytes, clock.now);
        clock.at(end, Event::Arrived(id));
    }

    /// Handles the arrival of the piece on the link.
    #[inline]
    pub(super) fn arrived(&mut self, id: u32, g: &Geometry) -> Option<Arrival> {
        let active = self.active.get_mut(id)?;
        let ((begin, length), (sectors, reserved)) = (active.sectors(), active.piece);
        let sector = begin + active.arrived;
        let at = (active.arrived * SECTOR_BYTES) as usize;
        if !active.failed {
            active.arrived += u64::from(sectors);
            self.sectors_written += u64::from(sectors);
        }
        let (cline, first) = g.line_of_sector(sector);
        Some(Arrival {
            piece: Piece {
                cline,
                first,
                sectors,
                reserved,
                owner: id,
            },
            sector,
            at,
            length,
            is_last: active.arrived == length,
            fua: active.request.tag.fua,
            failed: active.failed,
        })
    }

    /// Notes that a part of an unbuffered write is programmed. Returns whether the write has arrived completely and is
    /// programmed, or `None` if it no longer exists.
    #[inline]
    pub(super) fn part_written(&mut self, id: u32) -> Option<bool> {
        let active = self.active.get_mut(id)?;
        active.pending -= 1;
        Some(!active.failed && active.pending == 0 && active.has_arrived())
    }

    /// Returns the first byte of the zone that a request finishes, if it does.
    pub(super) fn finishes(&self, id: u32) -> Option<u64> {
        let request = &self.active.get(id)?.request;
        (request.op == Op::Zone(ZoneAction::Finish)).then_some(request.offset)
    }

    /// Makes a request without data wait for `parts` programs.
    pub(super) fn await_programs(&mut self, id: u32, parts: u32) {
        if let Some(active) = self.active.get_mut(id) {
            active.pending += parts;
            active.arrived = active.sectors().1;
        }
    }

    /// Marks a write as failed: it can no longer be placed.
    pub(super) fn fail(&mut self, id: u32) {
        if let Some(active) = self.active.get_mut(id) {
            active.failed = true;
        }
    }

    /// Returns true if a failed write has nothing in progress.
    pub(super) fn has_failed(&self, id: u32) -> bool {
        let on_link = self.incoming.front() == Some(&id);
        let over = |active: &Active| active.failed && active.pending == 0;
        !on_link && self.active.get(id).is_some_and(over)
    }

    /// Fails all writes that wait for the link. The first stays queued if a piece of it is on the link (`on_link`).
    /// Returns the others.
    pub(super) fn fail_incoming(&mut self, on_link: bool) -> VecDeque<u32> {
        let mut incoming = std::mem::take(&mut self.incoming);
        incoming.iter().for_each(|&id| self.fail(id));
        if on_link {
            self.incoming.extend(incoming.pop_front());
        }
        incoming
    }

    /// Completes a request. Returns false if it does not exist.
    #[inline]
    pub(super) fn complete(
        &mut self,
        id: u32,
        result: Result<(), IoErrorKind>,
        clock: &mut Clock,
    ) -> bool {
        let Some(active) = self.active.get_mut(id) else {
            return false;
        };
        if active.request.op == Op::Append {
            let placed = std::mem::replace(&mut active.request.offset, active.asked);
            clock.complete_append(&active.request, active.submitted, result, placed);
        } else {
            let data = active.take_read();
            clock.complete(&active.request, active.submitted, result, data);
        }
        self.active.discard(id);
        true
    }

    /// Forgets all transfers and waiting requests.
    pub(super) fn clear(&mut self) {
        self.link.clear();
        self.hazards.clear();
        self.flushes.clear();
        self.incoming.clear();
        self.will_fetch = false;
        if let Some(queues) = &mut self.queues {
            queues.clear();
        }
    }
}
