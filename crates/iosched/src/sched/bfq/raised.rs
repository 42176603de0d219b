//! How a queue is raised (`low_latency`), and what decides whether it is; the rules are in `raise.rs`.

use fathom_base::{Dur, Time};

/// How much more a raised queue weighs: `bfq_wr_coeff`; for soft real-time times `BFQ_SOFTRT_WEIGHT_FACTOR`.
pub(super) const RAISED: u64 = 30;
const SOFT_FACTOR: u64 = 100;
/// How long a soft real-time queue is raised: `bfq_wr_rt_max_time`.
const SOFT_TIME: Dur = Dur::ms(300);
/// Sectors a second above which a process is not soft real-time: `bfq_wr_max_softrt_rate`.
const SOFT_RATE: u64 = 7_000;
/// Four ticks of a kernel with 250 a second.
const FOUR_TICKS: Dur = Dur::ms(16);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Interactive,
    SoftRealTime,
}

/// How a queue is raised, and what decides whether it is.
#[derive(Clone, Debug)]
pub(super) struct Raise {
    /// How many times its weight it has; 1 if it is not raised.
    pub(super) by: u64,
    pub(super) kind: Option<Kind>,
    pub(super) most: Dur,
    /// Since when it is raised, or when that ended.
    pub(super) since: Time,
    /// When it was raised as interactive before it became soft real-time.
    pub(super) interactive_since: Option<Time>,
    /// Sectors that it has got while raised, and since it began to want any.
    pub(super) service: u64,
    pub(super) backlog_service: u64,
    pub(super) backlogged: Time,
    pub(super) next_soft: Time,
    pub(super) update_soft: bool,
    pub(super) in_large_burst: bool,
}

/// Queues that were created in a row.
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

    /// `bfq_bfqq_end_wr`.
    pub(super) fn end(&mut self, now: Time) {
        if !self.is_soft() {
            self.next_soft = now;
        }
        self.by = 1;
        self.kind = None;
        self.most = Dur::ZERO;
        self.since = now;
    }

    /// `bfq_bfqq_softrt_next_start`: not before it would have got what it got at the highest rate of a soft real-time one.
    pub(super) fn next_soft(&self, now: Time, slice_idle: Dur) -> Time {
        let fair = self.backlogged + Dur(1_000_000_000 / SOFT_RATE) * self.backlog_service;
        self.next_soft.max(fair).max(now + slice_idle + FOUR_TICKS)
    }
}

/// What a queue seems to be that wants service again.
#[derive(Clone, Copy)]
pub(super) struct Guess {
    pub(super) interactive: bool,
    pub(super) soft: bool,
    pub(super) deserves: bool,
}

impl Raise {
    /// A queue that is raised wants service again.
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
