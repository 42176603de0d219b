//! Weight raising: queues that seem interactive or soft real-time get a higher weight for some time (`low_latency`).
//!
//! Linux 6.12, `block/bfq-iosched.c`: `bfq_bfqq_handle_idle_busy_switch`, `bfq_update_bfqq_wr_on_rq_arrival`,
//! `bfq_update_wr_data`, `bfq_bfqq_softrt_next_start`, `bfq_handle_burst`.

use super::queue::Queue;
use super::raised::{Guess, RAISED};
use super::{Bfq, MIN_BUDGET_PART};
use fathom_base::{Dur, Time};

/// Idle time after which a process counts as interactive: `bfq_wr_min_idle_time`.
const IDLE: Dur = Dur::ms(2_000);
/// Minimum time between two raises of an async queue: `bfq_wr_min_inter_arr_async`.
const ASYNC_GAP: Dur = Dur::ms(500);
/// Number of sectors after which an interactive queue is no longer raised: `max_service_from_wr`.
const MAX_SERVICE: u64 = 120_000;
/// The weight of the default priority. Queues with another weight are not raised.
const DEFAULT_WEIGHT: u64 = 40;
/// Number of queues in a large burst, and the maximum time between the creation of two queues of a burst:
/// `bfq_large_burst_thresh`, `bfq_burst_interval`.
const LARGE_BURST: usize = 8;
pub(super) const BURST_GAP: Dur = Dur::ms(180);

impl Bfq {
    /// `bfq_wr_duration`: the time of a raise, longer on a slower drive.
    fn raise_time(&self) -> Dur {
        self.rate
            .interactive()
            .clamp(Dur::ms(3_000), Dur::ms(25_000))
    }

    fn guess(&self, queue: &Queue, now: Time) -> Guess {
        let raise = &queue.raise;
        let free = !raise.in_large_burst && queue.weight == DEFAULT_WEIGHT;
        let quiet = queue.in_flight == 0 && queue.timeout.is_none_or(|at| at + IDLE < now);
        let calm = queue.habit.seeks != u32::MAX && queue.in_flight == 0;
        let soft = free && calm && raise.next_soft < now;
        let interactive = free && quiet;
        Guess {
            interactive,
            soft,
            deserves: raise.by > 1 || (queue.sync && (interactive || soft)),
        }
    }

    /// Decides whether to raise a queue that was empty and has a request. Returns whether it seems interactive.
    pub(super) fn raise_on_arrival(&mut self, id: u32, now: Time) -> bool {
        let guess = self.guess(&self.queues[id as usize], now);
        let most = self.raise_time();
        let least = 2 * self.least_budget();
        let queue = &mut self.queues[id as usize];
        let quiet =
            queue.in_flight == 0 && queue.timeout.is_none_or(|at| at + Dur::ms(10_000) < now);
        if !queue.just_created && quiet {
            queue.raise.in_large_burst = false;
            self.burst.queues.retain(|&other| other != id);
        }
        queue.just_created = false;
        if self.tunables.low_latency {
            let raise = &mut queue.raise;
            if raise.by == 1 && guess.deserves {
                if guess.interactive {
                    raise.service = 0;
                    raise.interactive(most);
                } else {
                    raise.interactive_since = None;
                    raise.soft();
                }
                queue.budget = queue.budget.min(least);
            } else if raise.by > 1 {
                raise.go_on(guess, most, now);
            }
        }
        queue.raise.backlogged = now;
        queue.raise.backlog_service = 0;
        queue.raise.update_soft = false;
        guess.interactive
    }

    /// Decides whether to raise a queue with requests that gets an async request.
    pub(super) fn raise_async(&mut self, id: u32, now: Time) {
        let most = self.raise_time();
        let raise = &mut self.queues[id as usize].raise;
        if self.tunables.low_latency && raise.by == 1 && raise.since + ASYNC_GAP < now {
            raise.interactive(most);
            self.busy.raised += 1;
        }
    }

    /// Counts service given to a queue, in sectors.
    pub(super) fn note_service(&mut self, id: u32, sectors: u64) {
        let raise = &mut self.queues[id as usize].raise;
        if raise.by > 1 {
            raise.service += sectors;
        }
        raise.backlog_service += sectors;
    }

    /// Ends the raise of the queue being served if it has lasted long enough: `bfq_update_wr_data`.
    pub(super) fn update_raise(&mut self, id: u32, now: Time) {
        let most = self.raise_time();
        let queue = &mut self.queues[id as usize];
        let raise = &mut queue.raise;
        if raise.by > 1 {
            let over = raise.since + raise.most < now;
            let was_interactive = raise
                .interactive_since
                .is_some_and(|since| since + most >= now);
            if over && !raise.in_large_burst && raise.is_soft() && was_interactive {
                raise.interactive(most);
                raise.since = raise.interactive_since.unwrap_or(now);
            } else if over
                || raise.in_large_burst
                || (!raise.is_soft() && raise.service > MAX_SERVICE)
            {
                raise.end(now);
                self.busy.raised -= u32::from(queue.busy);
            }
        }
        let heavy = self.time.weight_of(id) > queue.weight;
        if heavy != (queue.raise.by > 1) {
            let weight = self.settle_weight(id);
            self.time.weigh(id, weight);
        }
    }

    /// Ends a soft real-time raise if all of the last requests were seeks (`bfq_update_io_seektime`).
    pub(super) fn doubt_soft(&mut self, id: u32, now: Time) {
        let most = self.raise_time();
        let queue = &mut self.queues[id as usize];
        let raise = &mut queue.raise;
        if raise.by == 1 || !raise.is_soft() || queue.habit.seeks != u32::MAX {
            return;
        }
        match raise.interactive_since.filter(|&since| since + most >= now) {
            Some(since) => {
                raise.interactive(most);
                raise.since = since;
            }
            None => {
                raise.end(now);
                self.busy.raised -= u32::from(queue.busy);
            }
        }
    }

    /// Updates the raise at the end of a turn.
    pub(super) fn note_end_of_turn(&mut self, id: u32, now: Time) {
        let queue = &mut self.queues[id as usize];
        if !self.tunables.low_latency {
            return;
        }
        if queue.raise.by == 1 {
            queue.raise.since = now;
        }
        if queue.sorted.is_empty() {
            if queue.in_flight == 0 {
                queue.raise.next_soft = queue.raise.next_soft(now, self.tunables.slice_idle);
            } else {
                queue.raise.update_soft = true;
            }
        }
    }

    /// Updates the raise when a request of a queue completes.
    pub(super) fn note_done(&mut self, id: u32, now: Time) {
        let queue = &mut self.queues[id as usize];
        let dry = queue.in_flight == 0 && queue.sorted.is_empty();
        if queue.raise.update_soft && dry && queue.raise.by != RAISED {
            queue.raise.next_soft = queue.raise.next_soft(now, self.tunables.slice_idle);
        }
    }

    /// Counts a queue that is created or has no request yet. Many in a row are a burst and are not raised
    /// (`bfq_handle_burst`).
    pub(super) fn note_burst(&mut self, id: u32, now: Time) {
        let raise = &self.queues[id as usize].raise;
        if self.burst.queues.contains(&id) || raise.in_large_burst {
            return;
        }
        let burst = &mut self.burst;
        let late = burst.last.is_none_or(|last| last + BURST_GAP < now);
        burst.last = Some(now);
        if late {
            burst.large = false;
            burst.queues.clear();
            burst.size = usize::from(self.busy.all == 0);
            burst.queues.extend((self.busy.all == 0).then_some(id));
        } else if burst.large {
            self.queues[id as usize].raise.in_large_burst = true;
        } else {
            burst.size += 1;
            burst.queues.push(id);
            if burst.size == LARGE_BURST {
                burst.large = true;
                for id in burst.queues.drain(..) {
                    self.queues[id as usize].raise.in_large_burst = true;
                }
            }
        }
    }

    /// Returns whether a queue without requests so far is checked for a burst.
    pub(super) fn may_burst(&self, id: u32) -> bool {
        self.queues[id as usize].just_created && (self.burst.size > 0 || self.busy.all == 0)
    }

    /// The minimum budget, in sectors: `bfq_min_budget`.
    pub(super) fn least_budget(&self) -> u64 {
        self.budget_limit() / MIN_BUDGET_PART
    }
}
