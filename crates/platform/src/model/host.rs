//! The host's side: threads issue I/Os and get their completions.

use super::charged::{Charged, Event};
use super::clocks::Clocks;
use super::spec::Interface;
use super::thread::Doing;
use super::ticket::Stage;
use crate::Layer;
use crate::processors::Place;
use fathom_base::{Bytes, Dur};
use fathom_block::Subject;

impl<D: Subject> Charged<D> {
    pub(super) fn handle_event(&mut self, event: Event) {
        match event {
            Event::Computed(id) => self.computed(id),
            Event::Leaves(part) => self.leaves(part),
            Event::Coalesced(line) => {
                if self.lines.time_is_over(line, self.progress.now) {
                    self.call_handler(line);
                }
            }
            Event::Handler(line) => self.handle(line),
            Event::Handled(id) => self.handled(id),
            Event::Thread(thread) => self.thread_ends(thread),
        }
    }

    /// Whether each I/O has a thread of its own.
    fn is_sync(&self) -> bool {
        self.from_cache || !self.platform.interface.is_async()
    }

    /// A program makes a request.
    pub(super) fn issue(&mut self, id: u32) {
        let Some(ticket) = self.tickets.get(id) else {
            return;
        };
        let process = ticket.request.tag.process;
        self.order.enter(id, &ticket.request);
        if !self.is_sync() {
            return self.issue_async(id, process);
        }
        let Clocks {
            application,
            system_call,
            ..
        } = self.platform.clocks;
        let mut sum = 0;
        if !self.from_cache {
            self.work.system_calls += 1;
            let entry = system_call / 2;
            sum += self.spend(&[
                (Layer::Application, application),
                (Layer::SystemCall, entry),
            ]);
        }
        self.issue_in_kernel(id, Place::Any, sum);
    }

    /// The way to the drive, after `before` clocks of the same thread.
    fn issue_in_kernel(&mut self, id: u32, place: Place, before: u64) {
        let others = match self.platform.clocks.contention {
            0 => 0,
            _ => u64::from(self.processors.others(self.progress.now)),
        };
        let called = u64::from(!self.from_cache);
        let pieces = self.tickets.get(id).map_or(1, |ticket| ticket.pieces);
        let pieces = u64::from(pieces);
        let [block, protocol, driver] = self.platform.of_piece();
        let contention = self.platform.clocks.contention * others;
        let sum = before
            + self.spend(&[
                (Layer::FileSystem, called * self.platform.file_systems()),
                (Layer::Block, pieces * block),
                (Layer::Protocol, pieces * protocol),
                (Layer::Driver, pieces * driver),
                (Layer::Contention, pieces * contention),
            ]);
        let booking = self.book(place, sum, Event::Computed(id));
        if let Some(ticket) = self.tickets.get_mut(id) {
            (ticket.stage, ticket.booking) = (Stage::Issue, booking);
        }
    }

    fn issue_async(&mut self, id: u32, process: u32) {
        let now = self.progress.now;
        let Clocks {
            application,
            system_call,
            ..
        } = self.platform.clocks;
        let own = self.platform.of_interface();
        let place = self.place_of(process);
        let by_thread = self.platform.interface == Interface::IoUringSqThread;
        let thread = self.threads.entry(process).or_default();
        let begins = thread.submitted != Some(now);
        thread.submitted = Some(now);
        let call = if begins && !by_thread {
            self.work.system_calls += 1;
            system_call
        } else {
            0
        };
        let sum = self.spend(&[
            (Layer::Application, application),
            (Layer::SystemCall, call + own),
        ]);
        match by_thread {
            true => {
                let booking = self.book(place, sum, Event::Computed(id));
                if let Some(ticket) = self.tickets.get_mut(id) {
                    (ticket.stage, ticket.booking) = (Stage::Program, booking);
                }
            }
            false => self.issue_in_kernel(id, place, sum),
        }
        let booking = self.tickets.get(id).map(|ticket| ticket.booking);
        self.run_thread(process, Doing::Running(booking.unwrap_or_default()));
    }

    /// The processor of a thread of a program.
    fn place_of(&self, process: u32) -> Place {
        Place::On(process % self.platform.program_cores())
    }

    /// The processor of the thread of the kernel that submits for it.
    fn submitter_of(&self, process: u32) -> Place {
        let programs = self.platform.program_cores();
        let others = (self.platform.cores - programs).max(1);
        Place::On((programs + process % others) % self.platform.cores)
    }

    /// What an I/O computes has ended.
    fn computed(&mut self, id: u32) {
        let Some(ticket) = self.tickets.get(id) else {
            return;
        };
        let (stage, booking) = (ticket.stage, ticket.booking);
        let process = ticket.request.tag.process;
        let waits = self.is_sync() && (ticket.request.tag.sync || !self.from_cache);
        if !self.has_ended(booking, Event::Computed(id)) {
            return;
        }
        match stage {
            Stage::Program => {
                self.issue_in_kernel(id, self.submitter_of(process), 0);
            }
            Stage::Issue => {
                if waits {
                    self.sleep(Place::On(booking.processor));
                }
                let mut leave = Vec::new();
                self.order.issued(id, &mut leave);
                leave.into_iter().for_each(|id| self.send(id));
            }
            Stage::Return => self.deliver(id),
            Stage::Below => {}
        }
    }

    /// A thread gives up its processor.
    fn sleep(&mut self, place: Place) {
        self.work.sleeps += 1;
        let clocks = self.platform.clocks.sleep;
        self.spend(&[(Layer::ContextSwitch, clocks)]);
        let takes = self.platform.clock.time_of(clocks);
        self.processors.book(place, takes, self.progress.now);
    }

    /// The host has taken the completion of a piece. Returns whether it was the last one of its I/O.
    pub(super) fn take_piece(&mut self, id: u32) -> bool {
        let Some(ticket) = self.tickets.get_mut(id) else {
            return false;
        };
        ticket.missing -= 1;
        ticket.missing == 0
    }

    /// The handler is done with a piece of an I/O.
    fn handled(&mut self, id: u32) {
        if !self.take_piece(id) {
            return;
        }
        let now = self.progress.now;
        let Some(ticket) = self.tickets.get_mut(id) else {
            return;
        };
        ticket.handled = now;
        let (len, sync) = (Bytes(ticket.request.len), ticket.request.tag.sync);
        if !self.is_sync() {
            return self.found(id);
        }
        if self.from_cache && !sync {
            return self.deliver(id);
        }
        let mut layers = vec![(Layer::ContextSwitch, self.platform.clocks.wake)];
        if !self.from_cache {
            layers.push((Layer::SystemCall, self.platform.returning()));
            layers.push((Layer::Copy, self.platform.copy(len)));
        }
        let sum = self.spend(&layers);
        let booking = self.book(Place::Any, sum, Event::Computed(id));
        if let Some(ticket) = self.tickets.get_mut(id) {
            (ticket.stage, ticket.booking) = (Stage::Return, booking);
        }
    }

    /// A completion waits for its thread.
    pub(super) fn found(&mut self, id: u32) {
        let now = self.progress.now;
        let Some(ticket) = self.tickets.get_mut(id) else {
            return;
        };
        ticket.handled = now;
        let process = ticket.request.tag.process;
        let thread = self.threads.entry(process).or_default();
        thread.pending.push_back(id);
        if thread.doing != Doing::Nothing {
            return;
        }
        if self.platform.interface == Interface::IoUringPolled {
            let spun = now.since(thread.idle_since);
            let clocks = self.platform.clock.clocks_in(spun);
            self.spent.spend(Layer::Polling, clocks);
            return self.collect(process);
        }
        let sum = self.spend(&[(Layer::ContextSwitch, self.platform.clocks.wake)]);
        let takes = self.platform.clock.time_of(sum);
        let booking = self.processors.book(self.place_of(process), takes, now);
        self.run_thread(process, Doing::Running(booking));
    }

    /// A thread does something until a booking ends.
    fn run_thread(&mut self, process: u32, doing: Doing) {
        let now = self.progress.now;
        let thread = self.threads.entry(process).or_default();
        thread.doing = doing;
        let awaited = std::mem::replace(&mut thread.awaited, true);
        if let Some(booking) = thread.booking()
            && !awaited
        {
            let ends = self.processors.ends(booking, now);
            self.events.push(ends, Event::Thread(process));
        }
    }

    /// What a thread computes has ended: it gets its completions, or looks for more.
    fn thread_ends(&mut self, process: u32) {
        let Some(thread) = self.threads.get_mut(&process) else {
            return;
        };
        thread.awaited = false;
        let (doing, booking) = (thread.doing, thread.booking());
        if let Some(booking) = booking
            && !self.processors.is_done(booking, self.progress.now)
        {
            return self.run_thread(process, doing);
        }
        match doing {
            Doing::Nothing => {}
            Doing::Running(_) => self.look(process),
            Doing::Collecting(booking, count) => {
                for _ in 0..count {
                    let thread = self.threads.get_mut(&process);
                    if let Some(id) = thread.and_then(|thread| thread.pending.pop_front()) {
                        self.deliver(id);
                    }
                }
                let Some(thread) = self.threads.get_mut(&process) else {
                    return;
                };
                // It looks again once it had the chance to submit.
                (thread.doing, thread.awaited) = (Doing::Running(booking), true);
                self.events
                    .push(self.progress.now + Dur(1), Event::Thread(process));
            }
        }
    }

    /// A thread that has submitted everything looks for completions.
    fn look(&mut self, process: u32) {
        let now = self.progress.now;
        let Some(thread) = self.threads.get_mut(&process) else {
            return;
        };
        if !thread.pending.is_empty() {
            return self.collect(process);
        }
        (thread.doing, thread.idle_since) = (Doing::Nothing, now);
        match self.platform.interface {
            Interface::IoUringPolled => {}
            _ => self.sleep(self.place_of(process)),
        }
    }

    /// A thread collects all completions that are there.
    fn collect(&mut self, process: u32) {
        let interface = self.platform.interface;
        let Clocks {
            system_call,
            poll,
            completion,
            ..
        } = self.platform.clocks;
        let pending = self.threads.get(&process).map(|thread| &thread.pending);
        let ids: Vec<u32> = pending.into_iter().flatten().copied().collect();
        let (mut copies, mut pieces) = (0, 0);
        for ticket in ids.iter().filter_map(|id| self.tickets.get(*id)) {
            copies += self.platform.copy(Bytes(ticket.request.len));
            pieces += u64::from(ticket.pieces);
        }
        let mut layers = vec![(Layer::Copy, copies)];
        if interface != Interface::IoUringSqThread {
            self.work.system_calls += 1;
            layers.push((Layer::SystemCall, system_call));
        }
        if interface == Interface::IoUringPolled {
            layers.push((Layer::Interrupt, pieces * poll));
            layers.push((Layer::Completion, pieces * completion));
        }
        let sum = self.spend(&layers);
        let takes = self.platform.clock.time_of(sum);
        let place = self.place_of(process);
        let booking = self.processors.book(place, takes, self.progress.now);
        self.run_thread(process, Doing::Collecting(booking, ids.len()));
    }
}
