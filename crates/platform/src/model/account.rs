//! The division of an I/O's time into phases.

use super::charged::Charged;
use super::ticket::Ticket;
use crate::Phase;
use fathom_base::{Bytes, Dur, Time};

impl<D> Charged<D> {
    /// Adds the phases of an I/O that its program gets now. They sum to its latency.
    pub(super) fn account(&mut self, ticket: &Ticket, now: Time) {
        let platform = &self.platform;
        let len = Bytes(ticket.request.len);
        // A page cache has made the system call.
        let called = u64::from(!self.from_cache);
        let of = |clocks| platform.clock.time_of(clocks);
        let issued = ticket.sent.since(ticket.submitted);
        let file_system = of(called * platform.file_systems()).min(issued);
        let block = of(u64::from(ticket.pieces) * platform.of_piece().iter().sum::<u64>());
        let block = block.min(Dur(issued.0 - file_system.0));
        let device = ticket.done.since(ticket.left);
        let link = platform.adapter.link;
        let transfer = link.map_or(Dur::ZERO, |link| {
            let ns = u128::from(len.0) * 1_000_000_000 / u128::from(link.bytes_per_second());
            Dur(u64::try_from(ns).unwrap_or(u64::MAX)).min(device)
        });
        let after = now.since(ticket.handled);
        let returns = of(called * (platform.returning() + platform.copy(len))).min(after);
        self.work.ios += 1;
        for (phase, time) in [
            (Phase::Entry, Dur(issued.0 - file_system.0 - block.0)),
            (Phase::FileSystem, file_system),
            (Phase::Block, block),
            (Phase::Adapter, ticket.left.since(ticket.sent)),
            (Phase::Transfer, transfer),
            (Phase::Device, Dur(device.0 - transfer.0)),
            (Phase::Completion, ticket.handled.since(ticket.done)),
            (Phase::Wake, Dur(after.0 - returns.0)),
            (Phase::Return, returns),
        ] {
            self.spent.take(phase, time);
        }
    }
}
