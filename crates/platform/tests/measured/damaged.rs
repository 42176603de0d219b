//! Random I/Os with the events of others among them, and the same with events dropped, repeated, moved or lost.

use super::{CALLER, KSOFTIRQD, KWORKER, record, route, sleep, span};
use fathom_base::Rng;
use fathom_block::kernel::{Call, Event, Interrupt, Record, Span};
use fathom_platform::Phase;
use fathom_platform::measured::{Io, Latencies, Load, Rejection, clocks, latencies};
use proptest::prelude::*;

/// A random sequence of I/Os, and what is right for it.
struct Sequence {
    rng: Rng,
    now: u64,
    records: Vec<Record>,
    ios: Vec<Io>,
    /// The phases of each, by [`Phase::ALL`].
    right: Vec<[Option<u64>; 9]>,
}

impl Sequence {
    fn new(seed: u64, count: u32) -> Self {
        let mut sequence = Self {
            rng: Rng::new(seed, 1),
            now: 1_000,
            records: Vec::new(),
            ios: Vec::new(),
            right: Vec::new(),
        };
        for _ in 0..count {
            sequence.io();
        }
        sequence
    }

    /// Time passes, with the events of others.
    fn pass(&mut self) -> u64 {
        let from = self.now;
        let other = Span {
            dev: 1,
            ..span(self.rng.below(9))
        };
        for _ in 0..self.rng.below(3) {
            self.now += self.rng.below(50);
            let cpu = self.rng.below(2) as u16;
            let event = match self.rng.below(5) {
                0 => Event::Interrupt(Interrupt::Timer),
                1 => Event::InterruptEnd(Interrupt::Timer),
                2 => Event::BioQueue(other),
                3 => Event::Complete(other),
                _ => Event::Waking(KWORKER),
            };
            self.records.push(record(self.now, cpu, KWORKER, event));
        }
        self.now += 1 + self.rng.below(200);
        self.now - from
    }

    fn push(&mut self, cpu: u16, thread: u32, event: Event) {
        self.records.push(record(self.now, cpu, thread, event));
    }

    fn io(&mut self) {
        self.pass();
        let before = self.now;
        let span = span(8 * self.rng.below(1000));
        let (own, other) = (self.rng.below(2) as u16, self.rng.below(2) as u16);
        let mut right = [None; 9];
        right[Phase::Entry as usize] = Some(self.pass());
        self.push(own, CALLER, Event::Enter(Call::Pread));
        right[Phase::FileSystem as usize] = Some(self.pass());
        self.push(own, CALLER, Event::BioQueue(span));
        right[Phase::Block as usize] = Some(self.pass());
        self.push(own, CALLER, Event::Issue(span));
        let sleeps = self.rng.below(3) > 0;
        let issued = self.now;
        if sleeps {
            self.pass();
            self.push(own, CALLER, sleep(0));
        }
        self.pass();
        right[Phase::Device as usize] = Some(self.now - issued);
        let by = if sleeps { KSOFTIRQD } else { CALLER };
        self.push(other, by, Event::Complete(span));
        if sleeps {
            right[Phase::Completion as usize] = Some(self.pass());
            self.push(other, KSOFTIRQD, Event::Waking(CALLER));
            right[Phase::Wake as usize] = Some(self.pass());
            self.push(own, 0, sleep(CALLER));
        }
        let from = self.now;
        self.pass();
        self.push(own, CALLER, Event::Exit(Call::Pread, 4096));
        self.pass();
        right[Phase::Return as usize] = Some(self.now - from);
        let (thread, after) = (CALLER, self.now);
        self.ios.push(Io {
            thread,
            before,
            after,
        });
        self.right.push(right);
    }

    fn found(&self) -> Latencies {
        let found = latencies(&self.records, &self.ios, &route());
        let rejected: u64 = found.rejected.values().sum();
        assert_eq!(found.ios.len() as u64 + rejected, self.ios.len() as u64);
        for parts in &found.ios {
            let io = self.ios[parts.index];
            let sum: u64 = parts.time.iter().flatten().sum();
            assert_eq!(sum, io.after - io.before, "the sum is the whole");
        }
        found
    }

    /// Returns the I/O in whose time a record is.
    fn of(&self, at: u64) -> Option<usize> {
        self.ios
            .iter()
            .position(|io| (io.before..=io.after).contains(&at))
    }
}

/// An event without which an I/O cannot be told.
fn is_needed(record: &Record) -> bool {
    let ours = |span: &Span| span.dev == super::DEV;
    match &record.event {
        Event::BioQueue(span) | Event::Issue(span) | Event::Complete(span) => ours(span),
        Event::Enter(_) | Event::Exit(..) => true,
        Event::Waking(thread) => *thread == CALLER,
        _ => false,
    }
}

fn load(sequence: &Sequence, cpus: u16) -> Load {
    Load {
        threads: vec![CALLER],
        route: route(),
        from: 1_500,
        to: sequence.now + 500,
        cpus,
        missing: Vec::new(),
    }
}

/// Returns the unattributed time of each processor, whose sums are checked.
fn unattributed(sequence: &Sequence) -> Vec<u64> {
    let load = load(sequence, 2);
    let found = clocks(&sequence.records, &load);
    let whole = load.to - load.from;
    let of = |cpu: &fathom_platform::measured::CpuTime| {
        let sum = cpu.time.iter().sum::<u64>() + cpu.unattributed;
        assert_eq!(sum, whole, "the sum is the whole");
        cpu.unattributed
    };
    found.cpus.iter().map(of).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn valid_sequences_are_told_exactly(seed: u64) {
        let sequence = Sequence::new(seed, 20);
        let found = sequence.found();
        let told: Vec<_> = found.ios.iter().map(|parts| parts.time).collect();
        prop_assert_eq!(told, sequence.right.clone());
        unattributed(&sequence);
    }

    #[test]
    fn a_dropped_event_that_is_needed_rejects_its_io(seed: u64, which: prop::sample::Index) {
        let mut sequence = Sequence::new(seed, 5);
        let needed = (0..sequence.records.len()).filter(|i| is_needed(&sequence.records[*i]));
        let needed: Vec<usize> = needed.collect();
        let dropped = sequence.records.remove(*which.get(&needed));
        let io = sequence.of(dropped.at).unwrap();
        let found = sequence.found();
        prop_assert!(found.ios.iter().all(|parts| parts.index != io), "{dropped:?}");
        prop_assert_eq!(found.ios.len(), 4);
        unattributed(&sequence);
    }

    #[test]
    fn a_repeated_event_is_never_counted_twice(seed: u64, which: prop::sample::Index) {
        let mut sequence = Sequence::new(seed, 5);
        let at = which.index(sequence.records.len());
        let repeated = sequence.records[at];
        sequence.records.insert(at, repeated);
        let found = sequence.found();
        if is_needed(&repeated) {
            let io = sequence.of(repeated.at).unwrap();
            prop_assert!(found.ios.iter().all(|parts| parts.index != io), "{repeated:?}");
        }
        unattributed(&sequence);
    }

    #[test]
    fn shuffled_events_break_no_sum(seed: u64, swaps in 1_usize..30) {
        let mut sequence = Sequence::new(seed, 10);
        let count = sequence.records.len() as u64;
        for _ in 0..swaps {
            let [a, b] = [0, 1].map(|_| sequence.rng.below(count) as usize);
            let (first, second) = (sequence.records[a].at, sequence.records[b].at);
            (sequence.records[a].at, sequence.records[b].at) = (second, first);
        }
        sequence.found();
        unattributed(&sequence);
    }

    #[test]
    fn lost_events_are_said_and_their_ios_rejected(seed: u64, from: prop::sample::Index, count in 1_usize..40) {
        let mut sequence = Sequence::new(seed, 10);
        let from = from.index(sequence.records.len());
        let cpu = sequence.records[from].cpu;
        let of_cpu = |records: &[Record]| {
            let of = records.iter().enumerate().filter(|(_, r)| r.cpu == cpu);
            of.map(|(index, _)| index).collect::<Vec<_>>()
        };
        let indices = of_cpu(&sequence.records);
        let first = indices.iter().position(|i| *i == from).unwrap();
        let gone: Vec<usize> = indices[first..].iter().copied().take(count).collect();
        let since = first.checked_sub(1).map_or(0, |i| sequence.records[indices[i]].at);
        let next = indices.get(first + gone.len()).map(|i| sequence.records[*i].at);
        for index in gone.iter().rev() {
            sequence.records.remove(*index);
        }
        let lost = Event::Lost { since, count: Some(gone.len() as u64) };
        let at = next.unwrap_or(u64::MAX);
        let place = sequence.records.partition_point(|r| r.at < at);
        sequence.records.insert(place, record(at, cpu, 0, lost));
        let found = sequence.found();
        for (index, io) in sequence.ios.iter().enumerate() {
            let touched = io.before <= at && io.after >= since;
            let told = found.ios.iter().any(|parts| parts.index == index);
            prop_assert_eq!(told, !touched);
        }
        let lost_ios = sequence.ios.len() - found.ios.len();
        prop_assert_eq!(found.rejected.get(&Rejection::Lost).copied().unwrap_or(0), lost_ios as u64);
        let load = load(&sequence, 2);
        let gap = at.min(load.to).saturating_sub(since.max(load.from));
        prop_assert!(unattributed(&sequence)[usize::from(cpu)] >= gap);
    }

    #[test]
    fn any_events_leave_a_complete_partition(seed: u64, count in 0_usize..400) {
        let mut sequence = Sequence::new(seed, 0);
        for _ in 0..count {
            let event = any_event(&mut sequence.rng);
            sequence.now += sequence.rng.below(20);
            let cpu = sequence.rng.below(2) as u16;
            let thread = [0, CALLER, KWORKER, 101][sequence.rng.below(4) as usize];
            sequence.push(cpu, thread, event);
        }
        sequence.now += 2_000;
        unattributed(&sequence);
    }
}

fn any_event(rng: &mut Rng) -> Event {
    let place = span(rng.below(3) * 8);
    let thread = [0, CALLER, KWORKER, 101][rng.below(4) as usize];
    let kind = [
        Interrupt::Timer,
        Interrupt::Soft(4),
        Interrupt::Device(36),
        Interrupt::Call,
        Interrupt::Reschedule,
    ][rng.below(5) as usize];
    let events = [
        Event::Enter(Call::UringEnter),
        Event::Exit(Call::UringEnter, 1),
        Event::BioQueue(place),
        Event::GetRequest(place),
        Event::Insert(place),
        Event::Issue(place),
        Event::Complete(place),
        Event::BioComplete(place),
        Event::Interrupt(kind),
        Event::InterruptEnd(kind),
        Event::Switch {
            to: thread,
            preempted: rng.below(2) == 0,
        },
        Event::Waking(thread),
        Event::Woken(thread),
        Event::UringSubmit,
        Event::UringComplete,
        Event::DirectDone,
        Event::PagesReady,
        Event::Lost {
            since: rng.below(3_000),
            count: None,
        },
    ];
    events[rng.below(events.len() as u64) as usize]
}
