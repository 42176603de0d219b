//! Injection: while the drive waits for a queue, requests of other queues go, as long as they do not slow down that
//! queue.
//!
//! Linux 6.12, `block/bfq-iosched.c`: `bfq_choose_bfqq_for_injection`, `bfq_update_inject_limit`,
//! `bfq_reset_inject_limit`, `bfq_check_waker`.

use super::Bfq;
use super::queue::SHORT;
use fathom_base::{Dur, Time};

/// Maximum time after a completion of another queue within which that queue may have woken this one.
const WAKES: Dur = Dur::ms(4);
/// Number of detections in a row that confirm a waker.
const DETECTIONS: u32 = 3;

impl Bfq {
    /// Returns the queue to serve while the drive waits for `id`: the async writes of the same process, its waker, a
    /// queue that it wakes, or any other.
    pub(super) fn instead_of(&mut self, id: u32) -> Option<u32> {
        let queue = &self.queues[id as usize];
        let own = queue.process.and_then(|process| self.written_by(process));
        let woken = queue.injection.woken.last().copied();
        let kin = [own, queue.injection.waker, woken];
        let fits = |&other: &u32| self.fits(other) && self.queues[other as usize].busy;
        if let Some(other) = kin.into_iter().flatten().find(fits) {
            return Some(other);
        }
        let alone = queue.raise.by == 1 || self.busy.raised > 1 || !queue.habit.short_think;
        match !self.idling_pays(id) && alone {
            true => self.inject(id),
            false => None,
        }
    }

    /// Returns the async queue whose next request is of this process, if any.
    fn written_by(&self, process: u32) -> Option<u32> {
        let of = |&id: &u32| {
            let next = self.queues[id as usize].next;
            let io = next.and_then(|next| self.pool.get(next.1));
            io.is_some_and(|io| io.process == process)
        };
        self.unwaited.values().copied().find(of)
    }

    /// Returns whether a queue has a request that its budget covers.
    fn fits(&self, id: u32) -> bool {
        let left = self.queues[id as usize].budget_left();
        self.next_charge(id).is_some_and(|charge| charge <= left)
    }

    fn inject(&mut self, id: u32) -> Option<u32> {
        let queue = &self.queues[id as usize];
        if self.in_flight >= queue.injection.limit {
            return None;
        }
        let all = queue.raise.by == 1 || !queue.habit.short_think;
        let suits = |&other: &u32| {
            let queue = &self.queues[other as usize];
            let next = queue.next.and_then(|next| self.pool.get(next.1));
            let long = next.is_some_and(|io| io.len >= SHORT.0);
            (all || queue.raise.by > 1)
                && self.fits(other)
                && (self.tunables.is_rotational() || !long || self.in_flight == 0)
        };
        let other = self.time.latest_first().find(suits)?;
        self.wait.injected = true;
        Some(other)
    }

    /// Handles a new request that is the only one of its process.
    pub(super) fn note_lone(&mut self, id: u32, now: Time) {
        self.check_waker(id, now);
        if self.queues[id as usize].injection.decreased + Dur::ms(1_000) <= now {
            self.reset_injection(id, now);
        }
        let injection = &self.queues[id as usize].injection;
        let measurable = self.in_flight == 0
            || (injection.base_ns > 0 && self.wait.injected && self.in_flight > 0);
        if self.serving == Some(id) && measurable && injection.decreased + Dur::ms(10) <= now {
            self.wait.request_since = now;
            self.wait.on_dispatch = true;
            self.wait.injected &= self.in_flight > 0;
        }
    }

    pub(super) fn reset_injection(&mut self, id: u32, now: Time) {
        self.wait.request = None;
        let queue = &mut self.queues[id as usize];
        queue.injection.base_ns = 0;
        queue.injection.limit = u32::from(!queue.habit.short_think);
        queue.injection.decreased = now;
    }

    /// Adapts the injection limit when the timed request completes: it grows if the request took little longer than
    /// without injection.
    pub(super) fn update_injection(&mut self, id: u32, now: Time) {
        let total = now.since(self.wait.request_since).0;
        let most = self.depth.most();
        let injection = &mut self.queues[id as usize].injection;
        let limit = injection.limit;
        if injection.base_ns > 0 && self.wait.injected {
            let threshold = (injection.base_ns * 3) >> 1;
            if total >= threshold && limit > 0 {
                injection.limit -= 1;
                injection.decreased = now;
            } else if total < threshold && limit <= most {
                injection.limit += 1;
            }
        }
        let alone = self.in_flight == 1;
        if (injection.base_ns == 0 && alone) || total < injection.base_ns {
            if injection.base_ns == 0 {
                injection.limit = limit.max(1);
            }
            injection.base_ns = total;
        } else if !self.wait.injected && alone {
            injection.base_ns = total;
        }
        self.wait.request = None;
        self.wait.injected = false;
    }

    /// Checks whether the queue that completed a request last has woken this one, three times in a row.
    fn check_waker(&mut self, id: u32, now: Time) {
        let Some(last) = self.last_completed.filter(|&last| last != id) else {
            return;
        };
        let recent = now.since(self.rate.last_completion) < WAKES;
        let patience = self.tunables.slice_idle * 128;
        let queue = &mut self.queues[id as usize];
        if queue.habit.short_think || !recent {
            return;
        }
        let injection = &mut queue.injection;
        if injection.tentative != Some(last) || now > injection.detecting_since + patience {
            injection.tentative = Some(last);
            injection.detections = 1;
            injection.detecting_since = now;
        } else {
            injection.detections += 1;
        }
        if injection.detections == DETECTIONS {
            injection.tentative = None;
            let before = injection.waker.replace(last);
            for waker in before.into_iter().chain([last]) {
                self.queues[waker as usize]
                    .injection
                    .woken
                    .retain(|&other| other != id);
            }
            self.queues[last as usize].injection.woken.push(id);
        }
    }

    /// Moves a queue that is busy again to the end of its waker's list, where it comes first.
    pub(super) fn woken_again(&mut self, id: u32) {
        if let Some(waker) = self.queues[id as usize].injection.waker {
            let woken = &mut self.queues[waker as usize].injection.woken;
            if woken.contains(&id) {
                woken.retain(|&other| other != id);
                woken.push(id);
            }
        }
    }
}
