//! The path in: finds the queue of a request, updates the habits of its process, and decides whether its queue preempts
//! another.
//!
//! Linux 6.12, `block/bfq-iosched.c`: `bfq_get_queue`, `__bfq_insert_request`, `bfq_add_request`,
//! `bfq_bfqq_handle_idle_busy_switch`, `bfq_rq_enqueued`.

use super::queue::{Queue, is_seek, weight};
use super::raise::BURST_GAP;
use super::turn::Reason;
use super::{Bfq, Process, head, place};
use crate::Io;
use fathom_base::{Dur, SECTOR_BYTES, Time};

/// Age above which a queue accepts no further process (`bfq_activation_stable_merging`).
const SHARING: Dur = Dur::ms(600);

impl Bfq {
    /// Returns the queue of a request, if there is one.
    pub(super) fn known(&self, io: &Io) -> Option<u32> {
        match io.sync {
            true => self.processes.get(&io.process).map(|it| it.queue),
            false => self.unwaited.get(&(io.class, io.priority)).copied(),
        }
    }

    /// Returns the queue of a request. The first request of a process creates one or shares an existing one.
    pub(super) fn queue_of(&mut self, now: Time, io: &Io) -> u32 {
        if let Some(id) = self.known(io) {
            return id;
        }
        let shared = self.created_last.filter(|_| io.sync).filter(|&last| {
            let last = &self.queues[last as usize];
            let soon = last.created + BURST_GAP >= now;
            soon && last.is_of(io) && !self.tunables.is_rotational() && self.depth.queues
        });
        let id = shared.unwrap_or_else(|| self.create(now, io));
        if shared.is_some() {
            self.queues[id as usize].process = None;
        }
        if io.sync {
            let (queue, requests) = (id, 0);
            self.processes
                .insert(io.process, Process { queue, requests });
        } else {
            self.unwaited.insert((io.class, io.priority), id);
        }
        id
    }

    pub(super) fn create(&mut self, now: Time, io: &Io) -> u32 {
        let id = self.queues.len() as u32;
        if io.sync {
            let old = self.created_last.is_none_or(|last| {
                let last = &self.queues[last as usize];
                last.created + SHARING < now || !last.is_of(io)
            });
            if old {
                self.created_last = Some(id);
            }
        }
        self.time.add(io.class as usize);
        self.queues.push(Queue::new(now, io, self.budget_limit()));
        id
    }

    pub(super) fn put(&mut self, now: Time, io: Io) {
        let id = self.queue_of(now, &io);
        let mut alone = false;
        if let Some(process) = self.processes.get_mut(&io.process).filter(|_| io.sync) {
            process.requests += 1;
            alone = process.requests == 1;
        }
        if self.may_burst(id) {
            self.note_burst(id, now);
        }
        self.note_habit(id, now, &io);
        self.queues[id as usize].weight = weight(&io);
        self.held += 1;
        if io.sync && alone {
            self.note_lone(id, now);
        }
        let queue = &mut self.queues[id as usize];
        if io.sync {
            queue.note_intensity(now);
        }
        queue.sorted.insert(&mut self.pool, io);
        let before = queue.next;
        let head = head(&self.tunables, self.rate.place);
        let queue = &mut self.queues[id as usize];
        queue.next = head.nearer(before, Some(place(&io)));
        let other = queue.next != before;
        let raised = queue.raise.by > 1;
        let mut interactive = false;
        if !queue.busy {
            interactive = self.awake(id, now);
        } else {
            if !io.sync {
                self.raise_async(id, now);
            }
            if other {
                self.rebudget(id);
            }
        }
        let raise = &mut self.queues[id as usize].raise;
        if self.tunables.low_latency && (!raised || raise.by == 1 || interactive) {
            raise.since = now;
        }
        self.end_wait(id, now, &io);
    }

    /// Updates the habits of a process from a request: `bfq_update_io_thinktime`, `bfq_update_has_short_ttime`,
    /// `bfq_update_io_seektime`.
    pub(super) fn note_habit(&mut self, id: u32, now: Time, io: &Io) {
        let slice_idle = self.tunables.slice_idle;
        let queue = &mut self.queues[id as usize];
        let habit = &mut queue.habit;
        if queue.in_flight == 0 && !queue.busy {
            habit
                .think
                .add(now.since(habit.ended).0.min(2 * slice_idle.0));
        }
        let was_short = habit.short_think;
        if queue.sync && slice_idle > Dur::ZERO {
            let long = habit.think.trusted();
            habit.short_think = long.is_none_or(|mean| mean <= slice_idle.0 / 2);
        }
        let short = habit.short_think;
        let seek = is_seek(habit.place, io, self.tunables.is_rotational());
        habit.seeks = habit.seeks << 1 | u32::from(seek);
        habit.place = io.end();
        let injection = &queue.injection;
        let settled = injection.decreased + Dur::ms(100) <= now || !short;
        if was_short != short && injection.base_ns == 0 && settled {
            self.reset_injection(id, now);
        }
        self.doubt_soft(id, now);
    }

    /// Makes a queue busy that has a request again: `bfq_bfqq_handle_idle_busy_switch`. It may preempt the queue being
    /// served. Returns whether it seems interactive.
    pub(super) fn awake(&mut self, id: u32, now: Time) -> bool {
        let charge = self.next_charge(id).unwrap_or_default();
        let queue = &mut self.queues[id as usize];
        let in_time = now <= queue.habit.ended + self.tunables.slice_idle * 3;
        let goes_on = queue.ran_dry && in_time && queue.budget_left() > 0;
        queue.budget = match goes_on {
            true => queue.budget_left().min(queue.max_budget),
            false => queue.max_budget.max(charge),
        };
        queue.service = 0;
        queue.ran_dry = goes_on;
        let interactive = self.raise_on_arrival(id, now);
        self.wake(id);
        let Some(serving) = self.serving else {
            return interactive;
        };
        let (queue, other) = (&self.queues[id as usize], &self.queues[serving as usize]);
        let wins = (goes_on && queue.raise.by >= other.raise.by)
            || self.time.class_of(id) < self.time.class_of(serving)
            || self.time.weight_of(id) > self.time.weight_of(serving)
            || !self.is_better_to_idle(serving);
        if wins && self.time.may_preempt() {
            self.expire(serving, false, Reason::Preempted, now);
        }
        interactive
    }

    /// Ends the wait for a queue whose request has arrived: `bfq_rq_enqueued`.
    pub(super) fn end_wait(&mut self, id: u32, now: Time, io: &Io) {
        if self.serving != Some(id) || !self.wait.waits {
            return;
        }
        let queue = &self.queues[id as usize];
        let late = queue.timeout.is_none_or(|at| at <= now);
        let small = queue.sorted.len() == 1 && io.len < 32 * SECTOR_BYTES;
        if small && !late && self.idling_pays(id) {
            return;
        }
        self.wait.waits = false;
        self.wait.until = None;
        if late {
            self.expire(id, false, Reason::BudgetTimeout, now);
        }
    }
}
