//! B-WF2Q+, budget worst-case fair weighted fair queueing: chooses the next queue by virtual time.
//!
//! P. Valente, A. Avanzini, "Evolution of the BFQ Storage I/O Scheduler" (MST 2015), and Linux 6.12,
//! `block/bfq-wf2q.c`; the procedures named here were read there.
//!
//! Virtual time advances by the service given, divided by the sum of the weights of the queues that want service or are
//! still ahead of their share. A queue becomes eligible at the virtual time `start`. It would have used up its budget,
//! divided by its weight, at `finish`. Of the eligible queues the one with the least `finish` goes, so no queue gets
//! ahead of its share by more than a budget.
//!
//! As in the kernel, the next queue is chosen when something changes and not when it is asked for
//! (`bfq_update_next_in_service`), and a queue that went idle ahead of its share counts until virtual time reaches its
//! `finish` (`bfq_forget_idle`). The kernel has one tree with the least `start` below every node; here there are two
//! sets: eligible queues by `finish`, and future ones by `start`. A step takes O(log n) on average. Left out: groups of
//! queues.
//!
//! Each priority class has its own virtual time and goes before the lower ones (`bfq_lookup_next_entity`). The last
//! class, "idle", goes first once per 200 ms (`BFQ_CL_IDLE_TIMEOUT`), so that its requests do not wait for ever.

use fathom_base::{Dur, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Binary digits of virtual time below one sector per unit of weight: `WFQ_SERVICE_SHIFT`.
const SHIFT: u32 = 22;

/// The state of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Wants no service and is not ahead of its share.
    Out,
    /// Wants no service and is ahead of its share.
    Idle,
    /// Waits for service; the number gives the order in which queues began to wait.
    Active(u64),
    Served,
}

#[derive(Clone, Copy, Debug)]
struct Entity {
    class: usize,
    start: u64,
    finish: u64,
    weight: u64,
    state: State,
}

/// The queues of a class and its virtual time: `bfq_service_tree`.
#[derive(Clone, Debug, Default)]
struct Tree {
    now: u64,
    /// The sum of the weights of all queues that are not `Out`.
    weight: u64,
    /// Waiting queues that are eligible, by `finish`.
    eligible: BTreeSet<(u64, u64, u32)>,
    /// Waiting queues that are not eligible yet, by `start`.
    future: BTreeSet<(u64, u64, u32)>,
    idle: BTreeSet<(u64, u32)>,
}

impl Tree {
    fn is_empty(&self) -> bool {
        self.eligible.is_empty() && self.future.is_empty()
    }
}

/// Number of priority classes; class 0 is the highest.
pub(super) const CLASSES: usize = 3;
/// Time that the last class waits for the higher ones.
const IDLE_TIMEOUT: Dur = Dur::ms(200);

/// The queues, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Wf2q {
    entities: Vec<Entity>,
    trees: [Tree; CLASSES],
    /// All waiting queues, in the order in which they began to wait.
    waiting: BTreeMap<u64, u32>,
    came: u64,
    serving: Option<u32>,
    next: Option<u32>,
    /// The current time, and when the last class was last given precedence.
    clock: Time,
    idle_served: Time,
}

/// The virtual time of a service in sectors.
fn span(service: u64, weight: u64) -> u64 {
    ((u128::from(service) << SHIFT) / u128::from(weight.max(1))) as u64
}

impl Wf2q {
    /// Adds a queue to a class. It wants no service, and its number is the number of queues before.
    pub(super) fn add(&mut self, class: usize) {
        self.entities.push(Entity {
            class: class.min(CLASSES - 1),
            start: 0,
            finish: 0,
            weight: 0,
            state: State::Out,
        });
    }

    /// Sets the current time.
    pub(super) fn tick(&mut self, now: Time) {
        self.clock = now;
    }

    pub(super) fn class_of(&self, id: u32) -> usize {
        self.entities[id as usize].class
    }

    fn tree(&mut self, id: u32) -> &mut Tree {
        let class = self.class_of(id);
        &mut self.trees[class]
    }

    /// Returns whether the next queue is another one than that being served: `next_queue_may_preempt`.
    pub(super) fn may_preempt(&self) -> bool {
        self.next != self.serving
    }

    /// The waiting queues, starting from the latest.
    pub(super) fn latest_first(&self) -> impl Iterator<Item = u32> {
        self.waiting.values().rev().copied()
    }

    #[cfg(test)]
    pub(super) fn finish_of(&self, id: u32) -> u64 {
        self.entities[id as usize].finish
    }

    pub(super) fn weight_of(&self, id: u32) -> u64 {
        self.entities[id as usize].weight
    }

    /// Makes a queue wait for service: `__bfq_activate_entity`. It gets no credit for its idle time unless `in_time`.
    /// Then it starts at its old finish time, shifted so that it finishes no earlier than now; for a raised queue the
    /// shift is divided by `raised`.
    pub(super) fn wake(&mut self, id: u32, weight: u64, budget: u64, in_time: bool, raised: u64) {
        let now = self.tree(id).now;
        let entity = &mut self.entities[id as usize];
        let tree = &mut self.trees[entity.class];
        let back = in_time && now > entity.finish;
        let earliest = if back { entity.finish } else { now };
        if entity.state == State::Idle {
            tree.idle.remove(&(entity.finish, id));
            entity.start = earliest.max(entity.finish);
        } else {
            entity.start = earliest;
            tree.weight += entity.weight;
        }
        self.weigh(id, weight);
        let entity = &mut self.entities[id as usize];
        entity.finish = entity.start.saturating_add(span(budget, weight));
        if back && now > entity.finish {
            let late = (now - entity.finish) / raised.max(1);
            entity.start += late;
            entity.finish += late;
        }
        self.enqueue(id);
        self.choose_with(Some(id), false);
    }

    /// Takes the next queue from the waiting ones and serves it.
    pub(super) fn serve(&mut self) -> Option<u32> {
        let id = self.next?;
        self.serving = Some(id);
        self.dequeue(id);
        self.entities[id as usize].state = State::Served;
        self.choose_with(None, false);
        Some(id)
    }

    /// Advances virtual time by service given to a queue, in sectors: `bfq_bfqq_served`.
    pub(super) fn served(&mut self, id: u32, service: u64) {
        let tree = self.tree(id);
        tree.now = tree.now.saturating_add(span(service, tree.weight));
        let class = self.class_of(id);
        self.forget_idle(class);
    }

    /// Changes the weight of the queue being served at once.
    pub(super) fn weigh(&mut self, id: u32, weight: u64) {
        let entity = &mut self.entities[id as usize];
        let tree = &mut self.trees[entity.class];
        tree.weight = tree.weight + weight - entity.weight;
        entity.weight = weight;
    }

    /// Changes the budget of a waiting queue.
    pub(super) fn rebudget(&mut self, id: u32, weight: u64, budget: u64) {
        self.dequeue(id);
        self.enqueue_with(id, weight, budget);
        self.choose_with(Some(id), false);
    }

    /// Ends the service of a queue that got `service` sectors and waits again with a new budget, from its present
    /// finish time.
    pub(super) fn requeue(&mut self, id: u32, service: u64, weight: u64, budget: u64) {
        let entity = &mut self.entities[id as usize];
        entity.finish = entity.start.saturating_add(span(service, entity.weight));
        entity.start = entity.finish;
        self.enqueue_with(id, weight, budget);
        self.choose_with(Some(id), true);
        self.serving = None;
    }

    /// Ends the demand of a queue that got `service` sectors of its budget: `__bfq_deactivate_entity`.
    pub(super) fn rest(&mut self, id: u32, service: u64, expires: bool) {
        if self.serving == Some(id) {
            self.serving = None;
        } else {
            self.dequeue(id);
        }
        let entity = &mut self.entities[id as usize];
        let tree = &mut self.trees[entity.class];
        entity.finish = entity.start.saturating_add(span(service, entity.weight));
        if entity.finish > tree.now {
            entity.state = State::Idle;
            tree.idle.insert((entity.finish, id));
        } else {
            self.forget(id);
        }
        if self.next == Some(id) {
            self.choose_with(None, expires);
        }
    }

    fn forget(&mut self, id: u32) {
        let entity = &mut self.entities[id as usize];
        entity.state = State::Out;
        self.trees[entity.class].weight -= entity.weight;
    }

    fn enqueue_with(&mut self, id: u32, weight: u64, budget: u64) {
        self.weigh(id, weight);
        let entity = &mut self.entities[id as usize];
        entity.finish = entity.start.saturating_add(span(budget, weight));
        self.enqueue(id);
    }

    fn enqueue(&mut self, id: u32) {
        self.came += 1;
        let entity = &mut self.entities[id as usize];
        entity.state = State::Active(self.came);
        let future = &mut self.trees[entity.class].future;
        future.insert((entity.start, self.came, id));
        self.waiting.insert(self.came, id);
    }

    fn dequeue(&mut self, id: u32) {
        let entity = self.entities[id as usize];
        if let State::Active(came) = entity.state {
            let tree = &mut self.trees[entity.class];
            tree.eligible.remove(&(entity.finish, came, id));
            tree.future.remove(&(entity.start, came, id));
            self.waiting.remove(&came);
        }
    }

    /// `bfq_update_next_in_service`: chooses the next queue. If a new queue wins against the present choice, the others
    /// are not searched.
    fn choose_with(&mut self, new: Option<u32>, expires: bool) {
        let wins = |new: u32| {
            let entity = self.entities[new as usize];
            self.next.is_none_or(|next| {
                let next = self.entities[next as usize];
                entity.class == next.class
                    && entity.start <= self.trees[entity.class].now
                    && next.finish > entity.finish
            })
        };
        self.next = match new.filter(|&new| self.next != Some(new) && wins(new)) {
            Some(new) => Some(new),
            None => self.look_up(expires),
        };
    }

    /// `bfq_lookup_next_entity`: finds the next queue of the highest class, or once per timeout of the last class.
    fn look_up(&mut self, expires: bool) -> Option<u32> {
        let mut first = 0;
        if self.idle_served + IDLE_TIMEOUT < self.clock {
            if !self.trees[CLASSES - 1].is_empty() {
                first = CLASSES - 1;
            }
            self.idle_served = self.clock;
        }
        (first..CLASSES).find_map(|class| self.look_up_in(class, expires))
    }

    /// `__bfq_lookup_next_entity`. If no queue is eligible, virtual time jumps ahead; permanently only if none is being
    /// served.
    fn look_up_in(&mut self, class: usize, expires: bool) -> Option<u32> {
        self.promote(class);
        if self.trees[class].eligible.is_empty() {
            let future = &self.trees[class].future;
            let &(start, _, _) = future.first()?;
            if self.serving.is_some() && !expires {
                let first = future.range((start, 0, 0)..=(start, u64::MAX, u32::MAX));
                let done = |id: u32| self.entities[id as usize].finish;
                return first
                    .min_by_key(|&&(_, came, id)| (done(id), came))
                    .map(|&(_, _, id)| id);
            }
            let now = &mut self.trees[class].now;
            *now = start.max(*now);
            self.forget_idle(class);
            self.promote(class);
        }
        self.trees[class].eligible.first().map(|&(_, _, id)| id)
    }

    /// Moves the queues that have become eligible.
    fn promote(&mut self, class: usize) {
        let tree = &mut self.trees[class];
        while let Some(&(start, came, id)) = tree.future.first()
            && start <= tree.now
        {
            tree.future.pop_first();
            let finish = self.entities[id as usize].finish;
            tree.eligible.insert((finish, came, id));
        }
    }

    /// `bfq_forget_idle`: forgets one idle queue at a time. If no queue waits, virtual time goes back to the greatest
    /// `finish` of the idle queues.
    fn forget_idle(&mut self, class: usize) {
        let tree = &mut self.trees[class];
        if tree.is_empty()
            && let Some(&(finish, _)) = tree.idle.last()
            && finish <= tree.now
        {
            tree.now = finish;
        }
        if let Some(&(finish, id)) = tree.idle.first()
            && finish <= tree.now
        {
            tree.idle.pop_first();
            self.forget(id);
        }
    }
}

#[cfg(test)]
mod tests;
