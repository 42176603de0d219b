//! Injection: while the drive waits for a queue, requests of others go, as many as do not make that queue's take longer.
//!
//! Linux 6.12, `block/bfq-iosched.c`: `bfq_choose_bfqq_for_injection`, `bfq_update_inject_limit`,
//! `bfq_reset_inject_limit`, `bfq_check_waker`.

use super::Bfq;
use super::queue::SHORT;
use fathom_base::{Dur, Time};

/// A queue that asks within this after a completion of another may have been woken by it.
const WAKES: Dur = Dur::ms(4);
/// So often in a row, it was.
const DETECTIONS: u32 = 3;

impl Bfq {
    /// The queue that goes while the drive waits for `id`: what the same process wrote, who wakes it, who is woken by
    /// it, or any other.
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

    /// The queue of writes for which nobody waits, if its next one is of this process.
    fn written_by(&self, process: u32) -> Option<u32> {
        let of = |&id: &u32| {
            let next = self.queues[id as usize].next;
            let io = next.and_then(|next| self.pool.get(next.1));
            io.is_some_and(|io| io.process == process)
        };
        self.unwaited.values().copied().find(of)
    }

    /// Whether a queue has a request that its budget is enough for.
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

    /// A request of a queue has come, the only one of its process.
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

    /// The request that was watched is done: more of others may go if it took little longer than without them.
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

    /// Whether the queue that had a completion last makes this one ask, three times in a row.
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

    /// A queue is busy again: among those that its waker wakes it comes first.
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
