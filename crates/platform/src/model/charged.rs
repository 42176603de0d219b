//! A device that charges the platform for every I/O: processors, adapters and interrupts between a program and its drives.

use super::adapter::{Line, Lines, Port};
use super::drives::Drives;
use super::order::Order;
use super::spec::Platform;
use super::thread::Thread;
use super::ticket::{Part, Ticket};
use super::work::{HostWork, Spent};
use crate::Layer;
use crate::processors::{Booking, Place, Processors};
use fathom_base::{BadValue, Dur, EventQueue, Slab, Time};
use fathom_block::simulated::{self, Progress, Simulated};
use fathom_block::{
    Busy, Completion, Device, DeviceInfo, DriveLog, DriveStats, IoErrorKind, Op, QueueWork,
    Request, Subject,
};
use std::collections::BTreeMap;

/// An event of the platform.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// The computing of an I/O ends, unless an interrupt came.
    Computed(u32),
    /// A piece of an I/O leaves the adapter for its drive.
    Leaves(u32),
    /// The time of coalescing is over.
    Coalesced(Line),
    /// The handler of a line runs.
    Handler(Line),
    /// The handler is done with an I/O.
    Handled(u32),
    /// What a thread computes ends, unless an interrupt came.
    Thread(u32),
}

/// Drives as programs see them: behind adapters, with the host's processors between.
#[derive(Debug)]
pub struct Charged<D> {
    pub(super) platform: Platform,
    pub(super) processors: Processors,
    /// Whether requests come from a page cache: those who make them have paid for their system calls.
    pub(super) from_cache: bool,
    pub(super) progress: Progress,
    pub(super) events: EventQueue<Event>,
    pub(super) tickets: Slab<Ticket>,
    pub(super) threads: BTreeMap<u32, Thread>,
    pub(super) work: HostWork,
    pub(super) spent: Spent,
    info: DeviceInfo,
    start: Time,
    pub(super) drives: Drives<D>,
    pub(super) parts: Slab<Part>,
    pub(super) ports: Vec<Port>,
    pub(super) lines: Lines,
    pub(super) order: Order,
    /// Kept to reuse its memory.
    pub(super) came: Vec<Completion>,
}

impl<D: Subject> Charged<D> {
    /// Puts drives behind the adapters of a platform, in order: the first adapter gets the first of them.
    ///
    /// # Errors
    /// A value of the platform is invalid; the number of drives is not that of the platform; a drive is real, or one of
    /// several that cannot tell the time of its next event; the chunk of a RAID 0 does not fit the drives.
    pub fn new(
        platform: Platform,
        drives: Vec<D>,
        processors: Processors,
    ) -> Result<Self, BadValue> {
        platform.check()?;
        let platform = platform.in_use();
        let wanted = platform.drives_in_all() as usize;
        if drives.len() != wanted {
            let allowed = format!("must be the number of drives, {}", drives.len());
            return Err(BadValue::new("drives", wanted, allowed));
        }
        let mut drives = drives;
        let several = drives.len() > 1;
        let fits = |drive: &mut D| drive.info().modelled && (!several || drive.next_at().is_some());
        if let Some(other) = drives.iter_mut().find_map(|drive| match fits(drive) {
            true => None,
            false => Some(drive.info().name.clone()),
        }) {
            let allowed = "a modelled drive: the time of a real host is its own";
            return Err(BadValue::new("drive", other, allowed));
        }
        let zoned = drives.iter().find(|drive| drive.info().zoned.is_some());
        if let Some(zoned) = zoned {
            let found = format!("{}, a zoned drive", zoned.info().name);
            let allowed = "it is for drives without zones, because it has no file system for them";
            return Err(BadValue::new("drive", found, allowed).of("platform"));
        }
        let drives = Drives::new(drives, &platform)?;
        let start = drives.now();
        Ok(Self {
            info: drives.info(),
            ports: vec![Port::default(); platform.adapters as usize],
            processors,
            platform,
            from_cache: false,
            progress: at(start),
            start,
            drives,
            events: EventQueue::default(),
            tickets: Slab::default(),
            parts: Slab::default(),
            threads: BTreeMap::new(),
            lines: Lines::default(),
            order: Order::default(),
            came: Vec::new(),
            work: HostWork::default(),
            spent: Spent::default(),
        })
    }

    /// Declares that requests come from a page cache: their programs have computed the system calls already, and nobody
    /// waits for a write that is not marked as synchronous.
    #[must_use]
    pub fn below_a_cache(self) -> Self {
        Self {
            from_cache: true,
            ..self
        }
    }

    /// The work so far.
    pub fn work(&self) -> HostWork {
        let now = self.progress.now;
        let mut work = HostWork {
            time: now.since(self.start),
            busy: self.processors.busy(now),
            ..self.work.clone()
        };
        let mut spent = self.spent.clone();
        // The threads that submit spin.
        let programs = self.platform.program_cores() as usize;
        for index in programs..work.busy.len() {
            let spins = Dur(work.time.0.saturating_sub(work.busy[index].0));
            work.busy[index] = work.time;
            spent.spend(Layer::Polling, self.platform.clock.clocks_in(spins));
        }
        spent.add_to(work, self.platform.clock)
    }

    /// The drives.
    pub fn drives(&self) -> impl Iterator<Item = &D> {
        self.drives.each()
    }

    pub(super) fn now(&self) -> Time {
        self.progress.now
    }

    /// Books computing, and an event when it ends.
    pub(super) fn book(&mut self, place: Place, clocks: u64, event: Event) -> Booking {
        let takes = self.platform.clock.time_of(clocks);
        let booking = self.processors.book(place, takes, self.now());
        self.events
            .push(self.processors.ends(booking, self.now()), event);
        booking
    }

    /// Whether a booking has ended. If an interrupt has delayed it, the event comes again.
    pub(super) fn has_ended(&mut self, booking: Booking, event: Event) -> bool {
        let now = self.now();
        let ends = self.processors.ends(booking, now);
        if ends > now {
            self.events.push(ends, event);
        }
        ends <= now
    }

    /// Counts clocks of layers and returns their sum.
    pub(super) fn spend(&mut self, layers: &[(Layer, u64)]) -> u64 {
        for (layer, clocks) in layers {
            self.spent.spend(*layer, *clocks);
        }
        layers.iter().map(|(_, clocks)| clocks).sum()
    }

    /// The program gets the completion of an I/O.
    pub(super) fn deliver(&mut self, id: u32) {
        let Some(ticket) = self.tickets.remove(id) else {
            return;
        };
        if ticket.result.is_ok() && matches!(ticket.request.op, Op::Read | Op::Write) {
            self.account(&ticket, self.progress.now);
        }
        let Ticket {
            request,
            submitted,
            result,
            data,
            ..
        } = ticket;
        self.progress.complete(&request, submitted, result, data);
    }
}

/// Nothing in flight at a time.
fn at(now: Time) -> Progress {
    let mut progress = Progress::default();
    progress.now = now;
    progress
}

impl<D: Subject> Device for Charged<D> {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> Time {
        self.progress.now
    }

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        let Some(admitted) = simulated::admit(self, &request) else {
            return Err(Busy(request));
        };
        let Request {
            op, offset, len, ..
        } = request;
        let pieces = match admitted {
            Ok(()) => self.drives.layout().count(op, offset, len),
            Err(_) => 0,
        };
        let ticket = Ticket::new(request, pieces, self.now());
        let id = self.tickets.insert(ticket);
        match admitted.err() {
            Some(kind) => {
                if let Some(ticket) = self.tickets.get_mut(id) {
                    ticket.result = Err(kind);
                }
                self.deliver(id);
            }
            None => self.issue(id),
        }
        Ok(())
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        simulated::wait(self, until, done);
    }

    /// The log of all drives together.
    fn log(&mut self) -> Option<DriveLog> {
        self.drives.log()
    }
}

impl<D: Subject> Subject for Charged<D> {
    fn stats(&self) -> Option<DriveStats> {
        self.drives.stats()
    }

    /// The block layer of a single drive; several have one each.
    fn queue(&self) -> Option<QueueWork> {
        let mut drives = self.drives.each();
        let first = drives.next()?;
        drives.next().is_none().then(|| first.queue())?
    }
}

impl<D: Subject> Simulated for Charged<D> {
    fn progress(&mut self) -> &mut Progress {
        &mut self.progress
    }

    /// Advances to the next event of the host or of a drive: the earlier one.
    fn step(&mut self, limit: Time) -> bool {
        let own = self.events.next_at().filter(|at| *at <= limit);
        let target = own.unwrap_or(limit);
        if !self.parts.is_empty() && self.advance_drives(target) {
            return true;
        }
        let Some((at, event)) = self.events.pop_until(target) else {
            return false;
        };
        self.progress.now = self.now().max(at);
        self.handle_event(event);
        true
    }

    fn is_still(&self) -> bool {
        self.events.is_empty() && self.parts.is_empty()
    }

    fn end(&mut self) {
        self.events.clear();
        self.lines.clear();
        self.order.clear();
        self.threads.clear();
        self.parts.clear();
        let in_flight: Vec<u32> = self.tickets.ids().collect();
        for id in in_flight {
            if let Some(ticket) = self.tickets.get_mut(id) {
                ticket.result = Err(IoErrorKind::EndOfTime);
            }
            self.deliver(id);
        }
    }
}
