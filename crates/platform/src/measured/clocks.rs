//! Splits the time of the processors into layers.

use super::doing::{Doing, Who, begins, interrupt};
use super::interrupts::completing;
use super::spent::{Clocks, CpuTime, Load, unseen};
use super::threads::{Pending, Threads};
use super::timeline::Timeline;
use crate::layer::Layer;
use fathom_block::kernel::{Event, Interrupt, Record};

/// Splits the time of all processors into layers.
pub fn clocks(records: &[Record], load: &Load) -> Clocks {
    let timeline = Timeline::new(records);
    let records = timeline.records();
    let completing = completing(records, &load.route);
    let mut state = State::new(load);
    for (record, completing) in records.iter().zip(completing) {
        if usize::from(record.cpu) < state.cpus.len() {
            state.take(record, completing);
        }
    }
    for gap in timeline
        .gaps
        .iter()
        .filter(|gap| gap.at == u64::MAX && gap.since == 0)
    {
        state.forget_all(gap.cpu);
    }
    state.end()
}

/// An interrupt in progress, and what it interrupted.
#[derive(Clone, Copy, Debug)]
struct Frame {
    kind: Interrupt,
    before: Doing,
}

#[derive(Clone, Debug, Default)]
struct Cpu {
    /// The time up to which it is told.
    at: u64,
    thread: Option<u32>,
    doing: Doing,
    nest: Vec<Frame>,
    /// The last event ended an interrupt.
    after_interrupt: bool,
}

struct State<'a> {
    load: &'a Load,
    cpus: Vec<Cpu>,
    threads: Threads,
    found: Clocks,
}

impl<'a> State<'a> {
    fn new(load: &'a Load) -> Self {
        let count = usize::from(load.cpus);
        Self {
            load,
            cpus: vec![Cpu::default(); count],
            threads: Threads::new(&load.threads, load.route.submitter),
            found: Clocks {
                cpus: vec![CpuTime::default(); count],
                unseen: unseen(&load.missing),
                ..Clocks::default()
            },
        }
    }

    fn is_within(&self, at: u64) -> bool {
        (self.load.from..self.load.to).contains(&at)
    }

    /// Moves a CPU on to a time, and counts what passed as what it does.
    fn pass(&mut self, cpu: usize, at: u64) {
        let Load { from, to, .. } = *self.load;
        // Threads that read after one another have no time in common.
        let to = to.max(from);
        let since = self.cpus[cpu].at.clamp(from, to);
        let time = at.clamp(from, to).saturating_sub(since);
        self.cpus[cpu].at = self.cpus[cpu].at.max(at);
        self.count(cpu, time, 0);
    }

    fn count(&mut self, cpu: usize, time: u64, events: u64) {
        let Cpu { doing, thread, .. } = self.cpus[cpu];
        let found = &mut self.found.cpus[cpu];
        let caller = thread.and_then(|thread| self.threads.get_mut(thread));
        match (doing, caller) {
            (Doing::Layer(layer), _) => {
                found.time[layer as usize] += time;
                found.events[layer as usize] += events;
            }
            (Doing::Open(layer), Some(caller)) => {
                let cpu = cpu as u16;
                caller.add(layer, Pending { cpu, time, events });
            }
            _ => found.unattributed += time,
        }
    }

    /// Gives what a thread did without a layer to the one that its next event tells.
    fn settle(&mut self, thread: u32, next: Option<&Event>) {
        let Some(caller) = self.threads.get_mut(thread) else {
            return;
        };
        let layer = caller.settled(next, self.load.route.polls);
        for Pending { cpu, time, events } in caller.pending.drain(..) {
            let found = &mut self.found.cpus[usize::from(cpu)];
            found.time[layer as usize] += time;
            found.events[layer as usize] += events;
        }
    }

    fn take(&mut self, record: &Record, completing: bool) {
        let cpu = usize::from(record.cpu);
        if let Event::Lost { since, .. } = record.event {
            return self.lost(cpu, since, record.at);
        }
        if self.cpus[cpu]
            .thread
            .is_some_and(|thread| thread != record.thread)
        {
            self.unseen_switch(cpu, record.at);
        }
        self.pass(cpu, record.at);
        self.identify(cpu, record);
        self.tally(record);
        match record.event {
            Event::Interrupt(kind) => {
                let before = self.cpus[cpu].doing;
                self.cpus[cpu].nest.push(Frame { kind, before });
                self.cpus[cpu].doing = interrupt(kind, completing);
            }
            Event::InterruptEnd(kind) => self.interrupt_end(cpu, kind),
            Event::Switch { to, .. } => self.switch(cpu, record.thread, to),
            _ => self.work(cpu, record),
        }
        self.cpus[cpu].after_interrupt = matches!(record.event, Event::InterruptEnd(_));
        if self.is_within(record.at) {
            self.count(cpu, 0, 1);
        }
    }

    fn tally(&mut self, record: &Record) {
        if !self.is_within(record.at) {
            return;
        }
        let own = self.threads.get(record.thread).is_some();
        let submits = self.load.route.submitter == Some(record.thread);
        self.found.own_events += u64::from(own && !submits);
        match record.event {
            Event::Complete(span) if self.load.route.is_issued(span.dev) => {
                self.found.completions += 1;
            }
            Event::Switch { to, .. } => {
                self.found.switches += 1;
                let ours = |thread| self.threads.get(thread).is_some();
                self.found.own_switches += u64::from(ours(to) || ours(record.thread));
            }
            _ => {}
        }
    }

    /// The first event of a CPU, or the first one after a loss, tells who runs.
    fn identify(&mut self, cpu: usize, record: &Record) {
        let thread = record.thread;
        let state = &mut self.cpus[cpu];
        state.thread = Some(thread);
        if state.doing == Doing::Unknown && state.nest.is_empty() {
            let interrupted = matches!(record.event, Event::Interrupt(_));
            state.doing = match (self.threads.get(thread), thread) {
                (Some(caller), _) => caller.resumed(),
                (None, 0) if interrupted => Doing::Layer(Layer::Idle),
                (None, _) => Doing::Layer(Layer::Other),
            };
        }
    }

    fn interrupt_end(&mut self, cpu: usize, kind: Interrupt) {
        let state = &mut self.cpus[cpu];
        let at = state.nest.iter().rposition(|frame| frame.kind == kind);
        if let Some(at) = at {
            state.doing = state.nest[at].before;
            state.nest.truncate(at);
        }
    }

    fn switch(&mut self, cpu: usize, from: u32, to: u32) {
        self.settle(from, None);
        self.run(cpu, to);
    }

    /// A thread gets a CPU.
    fn run(&mut self, cpu: usize, thread: u32) {
        let doing = match (self.threads.get(thread), thread) {
            (Some(caller), _) => caller.resumed(),
            (None, 0) => Doing::Layer(Layer::Idle),
            (None, _) => Doing::Layer(Layer::Other),
        };
        let state = &mut self.cpus[cpu];
        state.thread = Some(thread);
        state.doing = doing;
        state.nest.clear();
    }

    /// Another thread runs, and no switch was reported. If an interrupt ended just before, what followed it was the switch;
    /// otherwise the time of the switch is unknown.
    fn unseen_switch(&mut self, cpu: usize, at: u64) {
        self.found.unseen_switches += u64::from(self.is_within(at));
        if let Some(thread) = self.cpus[cpu].thread {
            self.settle(thread, None);
        }
        let state = &mut self.cpus[cpu];
        state.doing = match state.after_interrupt && state.nest.is_empty() {
            true => Doing::Layer(Layer::ContextSwitch),
            false => Doing::Unknown,
        };
        self.pass(cpu, at);
        let state = &mut self.cpus[cpu];
        state.doing = Doing::Unknown;
        state.nest.clear();
    }

    /// An event of a thread, or within an interrupt.
    fn work(&mut self, cpu: usize, record: &Record) {
        let nested = !self.cpus[cpu].nest.is_empty();
        let who = match self.threads.get_mut(record.thread) {
            Some(caller) if !nested => {
                caller.learn(&record.event);
                if caller.is_unknown() {
                    return;
                }
                self.settle(record.thread, Some(&record.event));
                Who::Load
            }
            _ => Who::Other,
        };
        let now = self.cpus[cpu].doing;
        let next = begins(&record.event, now, who, &self.load.route);
        self.cpus[cpu].doing = match (next, who) {
            (Some(Doing::Layer(layer)), Who::Load)
                if record.event == Event::UringComplete
                    && self.load.route.submitter == Some(record.thread) =>
            {
                Doing::Open(layer)
            }
            (Some(next), _) => next,
            // Another thread's own work goes on after its part in an I/O.
            (None, Who::Other) if !nested && now != Doing::Layer(Layer::Completion) => {
                Doing::Layer(Layer::Other)
            }
            _ => now,
        };
    }

    fn lost(&mut self, cpu: usize, since: u64, at: u64) {
        self.pass(cpu, since);
        if let Some(caller) = self.cpus[cpu].thread.and_then(|t| self.threads.get_mut(t)) {
            for Pending { cpu, time, .. } in caller.pending.drain(..) {
                self.found.cpus[usize::from(cpu)].unattributed += time;
            }
        }
        let elsewhere = self
            .cpus
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != cpu);
        let running: Vec<u32> = elsewhere.filter_map(|(_, cpu)| cpu.thread).collect();
        self.threads.forget(&running);
        self.cpus[cpu] = Cpu {
            at: self.cpus[cpu].at,
            ..Cpu::default()
        };
        self.pass(cpu, at);
    }

    /// Events of a CPU were lost at an unknown time: nothing of it is certain.
    fn forget_all(&mut self, cpu: u16) {
        if let Some(found) = self.found.cpus.get_mut(usize::from(cpu)) {
            let time = found.time.iter().sum::<u64>() + found.unattributed;
            *found = CpuTime {
                unattributed: time,
                ..CpuTime::default()
            };
        }
    }

    fn end(mut self) -> Clocks {
        for cpu in 0..self.cpus.len() {
            self.pass(cpu, self.load.to);
        }
        for thread in self.threads.numbers() {
            self.settle(thread, None);
        }
        self.found
    }
}
