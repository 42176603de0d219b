//! Adapters: their ceilings, and the coalescing of their interrupts.

use super::spec::{Adapter, Interrupts};
use fathom_base::{Dur, Time};
use std::collections::BTreeMap;

const NS_PER_S: u128 = 1_000_000_000;

/// A ceiling on what passes in a second: things leave in order, each a certain time after the one before at the earliest.
/// The first after a pause passes at once.
#[derive(Clone, Debug, Default)]
struct Ceiling {
    next: Time,
    /// What rounding left of the last interval, in parts of a nanosecond of 1 / rate.
    rest: u128,
}

impl Ceiling {
    /// Lets `amount` pass at a rate per second. Returns when it leaves.
    fn pass(&mut self, amount: u64, per_second: u64, now: Time) -> Time {
        if now > self.next {
            (self.next, self.rest) = (now, 0);
        }
        let leaves = self.next;
        let exact = u128::from(amount) * NS_PER_S + self.rest;
        let per_second = u128::from(per_second.max(1));
        self.rest = exact % per_second;
        let interval = u64::try_from(exact / per_second).unwrap_or(u64::MAX);
        self.next += Dur(interval);
        leaves
    }
}

/// The state of an adapter.
#[derive(Clone, Debug, Default)]
pub(super) struct Port {
    requests: Ceiling,
    bytes: Ceiling,
}

impl Port {
    /// Returns when a request of that length leaves for its drive.
    pub(super) fn pass(&mut self, adapter: &Adapter, len: u64, now: Time) -> Time {
        let by_count = match adapter.iops {
            Some(iops) => self.requests.pass(1, iops, now),
            None => now,
        };
        let by_bytes = match adapter.rate {
            Some(rate) => self.bytes.pass(len, rate.bytes_per_second(), now),
            None => now,
        };
        by_count.max(by_bytes) + adapter.latency
    }
}

/// An interrupt line: of an adapter, for all processors or for one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Line {
    pub(super) adapter: u32,
    pub(super) processor: u32,
}

/// What happens when a completion arrives at a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// The interrupt comes now.
    Now,
    /// It comes at this time, unless more completions bring it earlier.
    Later(Time),
    /// It is under way already.
    UnderWay,
}

#[derive(Clone, Debug, Default)]
struct Completions {
    tickets: Vec<u32>,
    /// When the interrupt for them comes at the latest.
    due: Time,
    /// Whether the handler has been called and has not run yet.
    called: bool,
}

/// The completions for which no handler has run yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines(BTreeMap<Line, Completions>);

impl Lines {
    /// Adds a completion.
    pub(super) fn arrive(
        &mut self,
        line: Line,
        ticket: u32,
        settings: &Interrupts,
        now: Time,
    ) -> Arrival {
        let waiting = self.0.entry(line).or_default();
        waiting.tickets.push(ticket);
        let arrival = match waiting.tickets.len() {
            _ if waiting.called => Arrival::UnderWay,
            n if n >= settings.count as usize => Arrival::Now,
            1 => {
                waiting.due = now + settings.time;
                Arrival::Later(waiting.due)
            }
            _ => Arrival::UnderWay,
        };
        waiting.called |= arrival == Arrival::Now;
        arrival
    }

    /// The time of coalescing is over. Returns whether the interrupt comes now.
    pub(super) fn time_is_over(&mut self, line: Line, now: Time) -> bool {
        let waiting = self.0.entry(line).or_default();
        let comes = !waiting.called && !waiting.tickets.is_empty() && waiting.due <= now;
        waiting.called |= comes;
        comes
    }

    /// The handler runs: takes all completions.
    pub(super) fn take(&mut self, line: Line) -> Vec<u32> {
        let waiting = self.0.entry(line).or_default();
        waiting.called = false;
        std::mem::take(&mut waiting.tickets)
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ceiling_holds_over_many_and_the_first_passes_at_once() {
        let mut ceiling = Ceiling::default();
        let last = (0..3_001).map(|_| ceiling.pass(1, 3, Time(7)).0).max();
        assert_eq!(last, Some(7 + 1_000 * 1_000_000_000));
        let later = Time(2_000_000_000_000);
        assert_eq!(ceiling.pass(1, 3, later), later);
    }

    #[test]
    fn an_interrupt_comes_with_the_last_of_a_group_or_with_the_time() {
        let (mut lines, line) = (
            Lines::default(),
            Line {
                adapter: 0,
                processor: 0,
            },
        );
        let settings = Interrupts {
            count: 3,
            time: Dur(100),
            ..Interrupts::default()
        };
        let mut arrive = |ticket, at| lines.arrive(line, ticket, &settings, Time(at));
        assert_eq!(arrive(1, 0), Arrival::Later(Time(100)));
        assert_eq!(arrive(2, 10), Arrival::UnderWay);
        assert_eq!(arrive(3, 20), Arrival::Now);
        // The handler has not run yet: it takes this one, too.
        assert_eq!(arrive(4, 25), Arrival::UnderWay);
        assert_eq!(lines.take(line), [1, 2, 3, 4]);
        assert_eq!(
            lines.arrive(line, 5, &settings, Time(60)),
            Arrival::Later(Time(160))
        );
        assert!(
            !lines.time_is_over(line, Time(100)),
            "that was for the others"
        );
        assert!(lines.time_is_over(line, Time(160)));
        assert_eq!(lines.take(line), [5]);
    }
}
