//! The state of weight raising (`low_latency`); the rules are in `raise.rs`.

use fathom_base::{Dur, Time};

/// Factor on the weight of a raised queue: `bfq_wr_coeff`; for soft real-time times `BFQ_SOFTRT_WEIGHT_FACTOR`.
pub(super) const RAISED: u64 = 30;
const SOFT_FACTOR: u64 = 100;
/// Time for which a soft real-time queue is raised: `bfq_wr_rt_max_time`.
const SOFT_TIME: Dur = Dur::ms(300);
/// Rate in sectors per second above which a process is not soft real-time: `bfq_wr_max_softrt_rate`.
const SOFT_RATE: u64 = 7_000;
/// Four ticks of a kernel at 250 Hz.
const FOUR_TICKS: Dur = Dur::ms(16);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Interactive,
    SoftRealTime,
}

/// Whether a queue is raised, and the observations that decide it.
#[derive(Clone, Debug)]
pub(super) struct Raise {
    /// Factor on its weight; 1 if it is not raised.
    pub(super) by: u64,
    pub(super) kind: Option<Kind>,
    pub(super) most: Dur,
    /// When the raise began, or when the last one ended.
    pub(super) since: Time,
    /// When it was raised as interactive, before it became soft real-time.
    pub(super) interactive_since: Option<Time>,
    /// In sectors: the service while raised, and the service since it last became busy.
    pub(super) service: u64,
    pub(super) backlog_service: u64,
    pub(super) backlogged: Time,
    pub(super) next_soft: Time,
    pub(super) update_soft: bool,
    pub(super) in_large_burst: bool,
}

/// Queues that were created shortly after one another.
#[derive(Clone, Debug, Default)]
pub(super) struct Burst {
    pub(super) queues: Vec<u32>,
    pub(super) size: usize,
    pub(super) large: bool,
    pub(super) last: Option<Time>,
}

impl Raise {
    pub(super) fn new(now: Time) -> Self {
        Self {
            by: 1,
            kind: None,
            most: Dur::ZERO,
            since: now,
            interactive_since: None,
            service: 0,
            backlog_service: 0,
            backlogged: Time::ZERO,
            next_soft: now,
            update_soft: false,
            in_large_burst: false,
        }
    }

    pub(super) fn is_soft(&self) -> bool {
        self.kind == Some(Kind::SoftRealTime)
    }

    pub(super) fn interactive(&mut self, most: Dur) {
        self.by = RAISED;
        self.kind = Some(Kind::Interactive);
        self.most = most;
    }

    pub(super) fn soft(&mut self) {
        self.by = RAISED * SOFT_FACTOR;
        self.kind = Some(Kind::SoftRealTime);
        self.most = SOFT_TIME;
    }

    /// Ends the raise: `bfq_bfqq_end_wr`.
    pub(super) fn end(&mut self, now: Time) {
        if !self.is_soft() {
            self.next_soft = now;
        }
        self.by = 1;
        self.kind = None;
        self.most = Dur::ZERO;
        self.since = now;
    }

    /// `bfq_bfqq_softrt_next_start`: the time after which the next request may count as soft real-time, so that the
    /// service received so far does not exceed the maximum rate of a soft real-time process.
    pub(super) fn next_soft(&self, now: Time, slice_idle: Dur) -> Time {
        let fair = self.backlogged + Dur(1_000_000_000 / SOFT_RATE) * self.backlog_service;
        self.next_soft.max(fair).max(now + slice_idle + FOUR_TICKS)
    }
}

/// The apparent kind of a queue that becomes busy.
#[derive(Clone, Copy)]
pub(super) struct Guess {
    pub(super) interactive: bool,
    pub(super) soft: bool,
    pub(super) deserves: bool,
}

impl Raise {
    /// Updates the raise of a raised queue that becomes busy again.
    pub(super) fn go_on(&mut self, guess: Guess, most: Dur, now: Time) {
        if guess.interactive {
            self.interactive(most);
        } else if self.in_large_burst {
            self.by = 1;
        } else if guess.soft {
            if !self.is_soft() {
                self.interactive_since = Some(self.since);
                self.soft();
            }
            self.since = now;
        }
    }
}
