//! B-WF2Q+, budget worst-case fair weighted fair queueing: which queue has the drive next, by virtual time.
//!
//! P. Valente, A. Avanzini, "Evolution of the BFQ Storage I/O Scheduler" (MST 2015), and Linux 6.12, `block/bfq-wf2q.c`,
//! of which the procedures named here were read.
//!
//! Virtual time advances by the service given, over the sum of the weights of the queues that want any or have just had
//! more than their share. A queue begins at the virtual time `start` and would be done with its budget, over its weight,
//! at `finish`. Of those that have begun by now the one that is done first goes: so that no queue gets ahead of its share
//! by more than a budget.
//!
//! As in the kernel, the next queue is chosen when something changes and not when it is asked for
//! (`bfq_update_next_in_service`), and a queue that went idle ahead of its share counts until virtual time has come to its
//! `finish` (`bfq_forget_idle`). Instead of one tree with the least `start` below every node there are two sets: those
//! that have begun, by `finish`, and those that have not, by `start`; a step is O(log n) on average. What is left out:
//! groups of queues.
//!
//! Each class of priority has a virtual time of its own, and goes before those below it (`bfq_lookup_next_entity`). The
//! last one, "idle", goes first once in 200 ms (`BFQ_CL_IDLE_TIMEOUT`), so that nobody waits for ever for what it holds.

use fathom_base::{Dur, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Binary digits of virtual time below one sector over one unit of weight: `WFQ_SERVICE_SHIFT`.
const SHIFT: u32 = 22;

/// Where a queue stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Wants nothing, and is owed nothing.
    Out,
    /// Wants nothing, and is ahead of its share.
    Idle,
    /// Waits; the number says in which order queues began to wait.
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

/// The queues of a class, and its virtual time: `bfq_service_tree`.
#[derive(Clone, Debug, Default)]
struct Tree {
    now: u64,
    /// The sum of the weights of all that are not out.
    weight: u64,
    /// Those that wait and have begun, by `finish`.
    eligible: BTreeSet<(u64, u64, u32)>,
    /// Those that wait and have not, by `start`.
    future: BTreeSet<(u64, u64, u32)>,
    idle: BTreeSet<(u64, u32)>,
}

impl Tree {
    fn is_empty(&self) -> bool {
        self.eligible.is_empty() && self.future.is_empty()
    }
}

/// Classes of priority, the highest first.
pub(super) const CLASSES: usize = 3;
/// How long the last class waits for those above it.
const IDLE_TIMEOUT: Dur = Dur::ms(200);

/// Queues by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Wf2q {
    entities: Vec<Entity>,
    trees: [Tree; CLASSES],
    /// All that wait, in the order in which they began to.
    waiting: BTreeMap<u64, u32>,
    came: u64,
    serving: Option<u32>,
    next: Option<u32>,
    /// The time of day, and when the last class was last looked at first.
    clock: Time,
    idle_served: Time,
}

/// The virtual time that a service in sectors takes.
fn span(service: u64, weight: u64) -> u64 {
    ((u128::from(service) << SHIFT) / u128::from(weight.max(1))) as u64
}

impl Wf2q {
    /// A new queue of a class, which wants nothing; its number is how many there were before.
    pub(super) fn add(&mut self, class: usize) {
        self.entities.push(Entity {
            class: class.min(CLASSES - 1),
            start: 0,
            finish: 0,
            weight: 0,
            state: State::Out,
        });
    }

    /// It is so late now.
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

    /// Whether another queue than the one that is served is next: `next_queue_may_preempt`.
    pub(super) fn may_preempt(&self) -> bool {
        self.next != self.serving
    }

    /// The queues that wait, the latest first.
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

    /// A queue wants service: `__bfq_activate_entity`. It gets no credit for having wanted none, unless it is `in_time`:
    /// then it begins where it ended, but is done no earlier than now, or than a part of that where it is `raised`.
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

    /// The queue that is served next; it waits no more.
    pub(super) fn serve(&mut self) -> Option<u32> {
        let id = self.next?;
        self.serving = Some(id);
        self.dequeue(id);
        self.entities[id as usize].state = State::Served;
        self.choose_with(None, false);
        Some(id)
    }

    /// Service was given to a queue, in sectors: `bfq_bfqq_served`.
    pub(super) fn served(&mut self, id: u32, service: u64) {
        let tree = self.tree(id);
        tree.now = tree.now.saturating_add(span(service, tree.weight));
        let class = self.class_of(id);
        self.forget_idle(class);
    }

    /// The weight of the queue that is served changes at once.
    pub(super) fn weigh(&mut self, id: u32, weight: u64) {
        let entity = &mut self.entities[id as usize];
        let tree = &mut self.trees[entity.class];
        tree.weight = tree.weight + weight - entity.weight;
        entity.weight = weight;
    }

    /// A queue that waits has another budget.
    pub(super) fn rebudget(&mut self, id: u32, weight: u64, budget: u64) {
        self.dequeue(id);
        self.enqueue_with(id, weight, budget);
        self.choose_with(Some(id), false);
    }

    /// The queue that was served has got that much and goes on waiting with a new budget, from where it is now.
    pub(super) fn requeue(&mut self, id: u32, service: u64, weight: u64, budget: u64) {
        let entity = &mut self.entities[id as usize];
        entity.finish = entity.start.saturating_add(span(service, entity.weight));
        entity.start = entity.finish;
        self.enqueue_with(id, weight, budget);
        self.choose_with(Some(id), true);
        self.serving = None;
    }

    /// A queue wants nothing more; it has got that much of its budget: `__bfq_deactivate_entity`.
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

    /// `bfq_update_next_in_service`: a queue that has just come may be the next one without a look at all others.
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

    /// `bfq_lookup_next_entity`: that of the highest class, or once in a while of the last.
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

    /// `__bfq_lookup_next_entity`. Virtual time jumps ahead where nobody has begun; for good only if nobody is served.
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

    /// Those that have begun by now.
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

    /// `bfq_forget_idle`: one at a time. Where nobody waits, time goes back to the last that is ahead.
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
