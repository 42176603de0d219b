//! The way below the host: adapters, drives, interrupts.

use super::adapter::{Arrival, Line};
use super::charged::{Charged, Event};
use super::spec::{Interface, Target};
use super::ticket::{Part, Stage};
use crate::Layer;
use fathom_base::Time;
use fathom_block::{Completion, Request, Subject};

impl<D: Subject> Charged<D> {
    /// Advances the drives to their next completions, or to `target`. Returns whether something completed before that.
    pub(super) fn advance_drives(&mut self, target: Time) -> bool {
        let mut came = std::mem::take(&mut self.came);
        let reached = self
            .drives
            .advance(target, |completion| came.push(completion));
        let any = !came.is_empty();
        // A drive without an event before `target` stops there; only its completions move the time.
        if any || reached < target {
            self.progress.now = self.progress.now.max(reached);
        }
        for completion in came.drain(..) {
            self.piece_done(completion);
        }
        self.came = came;
        any || reached < target
    }

    /// The I/O leaves the host: to the adapter and the drives.
    pub(super) fn send(&mut self, id: u32) {
        let now = self.now();
        let Some(ticket) = self.tickets.get_mut(id) else {
            return;
        };
        ticket.stage = Stage::Below;
        ticket.sent = now;
        let Request {
            op, offset, len, ..
        } = ticket.request;
        let pieces = self.drives.layout().pieces(op, offset, len);
        ticket.left = Time::MAX;
        for piece in pieces {
            let port = piece.drive / self.platform.drives.max(1) as usize;
            let leaves = match self.ports.get_mut(port) {
                Some(port) => port.pass(&self.platform.adapter, piece.len, now),
                None => now,
            };
            let part = self.parts.insert(Part { ticket: id, piece });
            self.events.push(leaves, Event::Leaves(part));
        }
    }

    pub(super) fn leaves(&mut self, id: u32) {
        let now = self.now();
        let Some(part) = self.parts.get(id).copied() else {
            return;
        };
        let Some(ticket) = self.tickets.get_mut(part.ticket) else {
            return;
        };
        ticket.left = ticket.left.min(now);
        let range = part.piece.within as usize..(part.piece.within + part.piece.len) as usize;
        let data = ticket.request.data.as_ref();
        let data = data.and_then(|data| data.get(range)).map(Into::into);
        let request = Request {
            tag: ticket.request.tag,
            data,
            ..Request::new(
                u64::from(id),
                ticket.request.op,
                part.piece.offset,
                part.piece.len,
            )
        };
        self.drives.send(part.piece.drive, request, now);
    }

    /// A drive has completed a piece.
    fn piece_done(&mut self, completion: Completion) {
        let Some(part) = self.parts.remove(completion.id.0 as u32) else {
            return;
        };
        let now = self.now();
        let Some(ticket) = self.tickets.get_mut(part.ticket) else {
            return;
        };
        if let Err(error) = completion.result {
            ticket.result = Err(error.kind);
        }
        if let Some(data) = completion.data {
            let whole = || vec![0; ticket.request.len as usize].into_boxed_slice();
            let all = ticket.data.get_or_insert_with(whole);
            let range = part.piece.within as usize..part.piece.within as usize + data.len();
            if let Some(place) = all.get_mut(range) {
                place.copy_from_slice(&data);
            }
        }
        // The last one remains.
        ticket.done = now;
        let adapter = (part.piece.drive / self.platform.drives.max(1) as usize) as u32;
        self.arrived(part.ticket, adapter);
    }

    /// The completion of a piece has arrived at the adapter.
    fn arrived(&mut self, id: u32, adapter: u32) {
        let now = self.now();
        if self.platform.interface == Interface::IoUringPolled && !self.from_cache {
            if self.take_piece(id) {
                self.found(id);
            }
            return;
        }
        let processor = match self.platform.interrupts.target {
            Target::Adapter => adapter % self.processors.count(),
            Target::Submitter => {
                let ticket = self.tickets.get(id);
                ticket.map_or(0, |ticket| ticket.booking.processor)
            }
        };
        let line = Line { adapter, processor };
        match self.lines.arrive(line, id, &self.platform.interrupts, now) {
            Arrival::Now => self.call_handler(line),
            Arrival::Later(at) => self.events.push(at, Event::Coalesced(line)),
            Arrival::UnderWay => {}
        }
    }

    /// The handler runs when the processor has no other interrupt.
    pub(super) fn call_handler(&mut self, line: Line) {
        let at = self
            .processors
            .interrupted_until(line.processor, self.now());
        self.events.push(at, Event::Handler(line));
    }

    /// The handler of a line takes all completions, one after the other.
    pub(super) fn handle(&mut self, line: Line) {
        let clocks = &self.platform.clocks;
        let once = [
            (Layer::Interrupt, clocks.interrupt),
            (Layer::UncachedReads, clocks.of_uncached_reads()),
        ];
        let each = [
            (Layer::Interrupt, clocks.driver_return),
            (Layer::Completion, clocks.completion),
        ];
        self.work.interrupts += 1;
        self.interrupt(line.processor, &once);
        for id in self.lines.take(line) {
            let ends = self.interrupt(line.processor, &each);
            self.events.push(ends, Event::Handled(id));
        }
    }

    fn interrupt(&mut self, processor: u32, layers: &[(Layer, u64)]) -> Time {
        let sum = self.spend(layers);
        let takes = self.platform.clock.time_of(sum);
        self.processors.interrupt(processor, takes, self.now())
    }
}
