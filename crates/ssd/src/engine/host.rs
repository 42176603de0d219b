//! The host's side: requests in flight, the link that their data crosses, the order in which they may begin.
//!
//! Writes cross the link one after another, piece by piece, so that none holds room in the memory that it does not
//! fill. It knows nothing of flash: a request waits for *parts*, and whoever has one says so.

use super::flushes::Flushes;
use super::order::Hazards;
use crate::buffer::lines::Piece;
use crate::event::{Clock, Event};
use crate::geometry::Geometry;
use crate::link::{Link, Way};
use crate::nand::job::Place;
use crate::spec::{Cut, Spec};
use fathom_base::{Rng, SECTOR_BYTES, Slab, Time};
use fathom_block::{IoErrorKind, Op, Request};
use std::collections::VecDeque;

/// A request in flight.
#[derive(Clone, Debug)]
struct Active {
    request: Request,
    submitted: Time,
    /// Parts still to come: flash operations of a read, programs of an unbuffered write.
    pending: u32,
    /// Sectors of a write that have crossed the link.
    arrived: u64,
    /// The piece on the link: its sectors, and those for which room is set aside.
    piece: (u32, u32),
    /// A write of which a part cannot be placed any more: it fails when nothing of it is under way.
    failed: bool,
    /// When the last transfer of a read ends.
    last_transfer: Time,
    data: Option<Box<[u8]>>,
    /// The unit of the map that was read last for an unbuffered write.
    map_read: Option<Place>,
}

impl Active {
    /// Its first sector, and how many.
    fn sectors(&self) -> (u64, u64) {
        let Request { offset, len, .. } = self.request;
        (offset / SECTOR_BYTES, len / SECTOR_BYTES)
    }
}

/// A piece of a write has crossed the link.
pub(super) struct Arrival {
    pub(super) piece: Piece,
    /// Its first sector.
    pub(super) sector: u64,
    /// Where its data begins in that of the write, in bytes.
    pub(super) at: usize,
    /// Sectors of the write.
    pub(super) length: u64,
    /// It was the last piece.
    pub(super) is_last: bool,
    pub(super) fua: bool,
    pub(super) failed: bool,
}

#[derive(Clone, Debug)]
pub(super) struct HostSide {
    link: Link,
    active: Slab<Active>,
    pub(super) hazards: Hazards,
    /// Writes whose command is through, in the order in which they cross the link.
    incoming: VecDeque<u32>,
    pub(super) flushes: Flushes,
    pub(super) sectors_written: u64,
    pub(super) sectors_read: u64,
}

impl HostSide {
    pub(super) fn new(spec: &Spec, rng: Rng) -> Self {
        Self {
            link: Link::new(&spec.host, spec.noise.command_percent, rng),
            active: Slab::default(),
            hazards: Hazards::default(),
            incoming: VecDeque::new(),
            flushes: Flushes::default(),
            sectors_written: 0,
            sectors_read: 0,
        }
    }

    pub(super) fn ids(&self) -> Vec<u32> {
        self.active.ids().collect()
    }

    /// Takes a request.
    #[inline]
    pub(super) fn accept(&mut self, request: Request, now: Time) -> u32 {
        self.active.insert(Active {
            request,
            submitted: now,
            pending: 0,
            arrived: 0,
            piece: (0, 0),
            failed: false,
            last_transfer: now,
            data: None,
            map_read: None,
        })
    }

    /// Hands a command to the controller; true if it is through at once, which need not be an event then.
    #[inline]
    pub(super) fn is_command_through(&mut self, id: u32, clock: &mut Clock) -> bool {
        let at = self.link.command(clock.now);
        let through = at == clock.now && !clock.happens_now();
        if !through {
            clock.at(at, Event::Command(id));
        }
        through
    }

    /// A command is through: what it wants, if it may begin at once.
    #[inline]
    pub(super) fn admit(&mut self, id: u32) -> Option<Op> {
        let request = &self.active.get(id)?.request;
        self.hazards.admit(id, request).then_some(request.op)
    }

    /// First sector and sectors of a request.
    pub(super) fn sectors(&self, id: u32) -> Option<(u64, u64)> {
        self.active.get(id).map(Active::sectors)
    }

    /// A request is to wait for so many more parts.
    #[inline]
    pub(super) fn expect(&mut self, id: u32, parts: u32) {
        if let Some(active) = self.active.get_mut(id) {
            active.pending += parts;
        }
    }

    /// A part that a request waits for has come, if there is such a request; gives how many have not.
    #[inline]
    pub(super) fn part_done(&mut self, id: u32) -> Option<u32> {
        let active = self.active.get_mut(id)?;
        active.pending -= 1;
        Some(active.pending)
    }

    /// A part of a read is in the drive's memory: it goes over the link.
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

    /// So many sectors of a read were in the drive's memory: they go over the link. All other parts are on their way.
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

    /// The bytes that a read will give.
    pub(super) fn keep_data(&mut self, id: u32, bytes: Box<[u8]>) {
        if let Some(active) = self.active.get_mut(id) {
            active.data = Some(bytes);
        }
    }

    /// The bytes of a write from one of them on, if they came with it.
    pub(super) fn data(&self, id: u32, at: usize, len: usize) -> Option<&[u8]> {
        let data = self.active.get(id)?.request.data.as_deref()?;
        data.get(at..at + len)
    }

    /// The unit of the map that was read last for an unbuffered write, to be changed.
    #[inline]
    pub(super) fn map_read(&mut self, id: u32) -> Option<&mut Option<Place>> {
        self.active.get_mut(id).map(|active| &mut active.map_read)
    }

    /// A write takes its turn on the link; whether it is its turn.
    pub(super) fn line_up(&mut self, id: u32) -> bool {
        self.incoming.push_back(id);
        self.incoming.len() == 1
    }

    /// The turn of a write on the link is over; whether another one has it.
    pub(super) fn next_turn(&mut self) -> bool {
        self.incoming.pop_front();
        !self.incoming.is_empty()
    }

    /// The next piece of the write whose turn it is: at most `most` sectors.
    pub(super) fn next_piece(&self, g: &Geometry, cut: Cut, most: u64) -> Option<Piece> {
        let &id = self.incoming.front()?;
        let active = self.active.get(id)?;
        let (begin, length) = active.sectors();
        let (cline, first) = g.line_of_sector(begin + active.arrived);
        let of_page = u64::from(g.sectors_per_cpage);
        let of_cut = match cut {
            Cut::Page => of_page,
            Cut::Command => of_page - active.arrived % of_page,
        };
        let sectors = (length - active.arrived)
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

    /// Sends a piece over the link, for which `reserved` sectors of room are set aside.
    pub(super) fn send_piece(&mut self, piece: Piece, reserved: u32, clock: &mut Clock) {
        let (id, sectors) = (piece.owner, piece.sectors);
        if let Some(active) = self.active.get_mut(id) {
            active.piece = (sectors, reserved);
        }
        let bytes = u64::from(sectors) * SECTOR_BYTES;
        let end = self.link.transfer(Way::In, bytes, clock.now);
        clock.at(end, Event::Arrived(id));
    }

    /// The piece on the link has crossed it.
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

    /// Whether an unbuffered write has arrived and is programmed.
    pub(super) fn is_written(&self, id: u32) -> bool {
        let done = |a: &Active| !a.failed && a.pending == 0 && a.arrived == a.sectors().1;
        self.active.get(id).is_some_and(done)
    }

    /// A write cannot be placed any more.
    pub(super) fn fail(&mut self, id: u32) {
        if let Some(active) = self.active.get_mut(id) {
            active.failed = true;
        }
    }

    /// Whether a write that fails has nothing under way.
    pub(super) fn has_failed(&self, id: u32) -> bool {
        let on_link = self.incoming.front() == Some(&id);
        let over = |active: &Active| active.failed && active.pending == 0;
        !on_link && self.active.get(id).is_some_and(over)
    }

    /// No more of a write comes over the link, but for the piece that is on it (`on_link`); gives the others.
    pub(super) fn fail_incoming(&mut self, on_link: bool) -> VecDeque<u32> {
        let mut incoming = std::mem::take(&mut self.incoming);
        incoming.iter().for_each(|&id| self.fail(id));
        if on_link {
            self.incoming.extend(incoming.pop_front());
        }
        incoming
    }

    /// A request is complete; false where there is none.
    pub(super) fn complete(
        &mut self,
        id: u32,
        result: Result<(), IoErrorKind>,
        clock: &mut Clock,
    ) -> bool {
        let Some(active) = self.active.remove(id) else {
            return false;
        };
        clock.complete(&active.request, active.submitted, result, active.data);
        true
    }

    /// Forgets what is under way.
    pub(super) fn clear(&mut self) {
        self.link.clear();
        self.hazards.clear();
        self.flushes.clear();
        self.incoming.clear();
    }
}
