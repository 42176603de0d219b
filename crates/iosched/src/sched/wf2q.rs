//! B-WF2Q+, budget worst-case fair weighted fair queueing: which queue has the drive next, by virtual time.
//!
//! P. Valente, A. Avanzini, "Evolution of the BFQ Storage I/O Scheduler" (MST 2015), as known, and Linux,
//! `block/bfq-wf2q.c`, of which the time stamps were read.
//!
//! Virtual time advances by the service given, over the sum of the weights of the queues that want any. A queue begins
//! at the virtual time `start` and would be done with its budget, over its weight, at `finish`. Of those that have
//! begun by now the one that is done first goes: so that no queue gets ahead of its share by more than a budget.
//!
//! Instead of one tree with the least `finish` below every node there are two sets: those that have begun, by `finish`,
//! and those that have not, by `start`; a queue moves from one to the other once, so that a step is O(log n) on average.
//! What is left out: groups of queues; and the weight of a queue that went idle early counts no more at once, where the
//! kernel counts it until its `finish`.

use std::collections::{BTreeMap, BTreeSet};

/// Binary digits of virtual time below one sector over one unit of weight: `WFQ_SERVICE_SHIFT`.
const SHIFT: u32 = 22;

/// Where a queue stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Waiting,
    Served,
}

#[derive(Clone, Copy, Debug)]
struct Entity {
    start: u64,
    finish: u64,
    weight: u64,
    state: State,
}

/// Queues by number, and the virtual time.
#[derive(Clone, Debug, Default)]
pub(super) struct Wf2q {
    entities: Vec<Entity>,
    now: u64,
    /// Those that wait and have begun, by `finish`.
    eligible: BTreeSet<(u64, u32)>,
    /// Those that wait and have not, by `start`.
    future: BTreeSet<(u64, u32)>,
    /// How many that are not idle have that weight.
    weights: BTreeMap<u64, u32>,
    /// The sum of these weights.
    weight: u64,
}

/// The virtual time that a service in sectors takes.
fn span(service: u64, weight: u64) -> u64 {
    ((u128::from(service) << SHIFT) / u128::from(weight.max(1))) as u64
}

impl Wf2q {
    /// A new queue, idle; its number is how many there were before.
    pub(super) fn add(&mut self) {
        self.entities.push(Entity {
            start: 0,
            finish: 0,
            weight: 0,
            state: State::Idle,
        });
    }

    pub(super) fn is_idle(&self, id: u32) -> bool {
        self.entities[id as usize].state == State::Idle
    }

    /// Whether two queues that are not idle have different weights.
    pub(super) fn weights_differ(&self) -> bool {
        self.weights.len() > 1
    }

    /// Queues that are not idle.
    pub(super) fn busy(&self) -> u32 {
        self.weights.values().sum()
    }

    /// An idle queue wants service. It gets no credit for having wanted none, and none anew for what it had.
    pub(super) fn wake(&mut self, id: u32, weight: u64, budget: u64) {
        let entity = &mut self.entities[id as usize];
        entity.start = entity.finish.max(self.now);
        self.enqueue(id, weight, budget);
    }

    /// The queue that is served next; it waits no more.
    pub(super) fn next(&mut self) -> Option<u32> {
        if self.eligible.is_empty() {
            let &(start, _) = self.future.first()?;
            self.now = self.now.max(start);
        }
        while let Some(&(start, id)) = self.future.first()
            && start <= self.now
        {
            self.future.pop_first();
            self.eligible
                .insert((self.entities[id as usize].finish, id));
        }
        let (_, id) = self.eligible.pop_first()?;
        self.entities[id as usize].state = State::Served;
        Some(id)
    }

    /// Service was given, in sectors.
    pub(super) fn served(&mut self, service: u64) {
        self.now = self.now.saturating_add(span(service, self.weight));
    }

    /// The queue that was served has got that much and goes on with a new budget, from where it is now.
    pub(super) fn requeue(&mut self, id: u32, service: u64, weight: u64, budget: u64) {
        self.rest(id, service);
        let entity = &mut self.entities[id as usize];
        entity.start = entity.finish;
        self.enqueue(id, weight, budget);
    }

    /// A queue wants nothing more; it has got that much of its budget.
    pub(super) fn rest(&mut self, id: u32, service: u64) {
        let entity = &mut self.entities[id as usize];
        self.eligible.remove(&(entity.finish, id));
        self.future.remove(&(entity.start, id));
        entity.state = State::Idle;
        entity.finish = entity.start.saturating_add(span(service, entity.weight));
        self.weight -= entity.weight;
        if let Some(count) = self.weights.get_mut(&entity.weight) {
            *count -= 1;
            if *count == 0 {
                self.weights.remove(&entity.weight);
            }
        }
    }

    fn enqueue(&mut self, id: u32, weight: u64, budget: u64) {
        let entity = &mut self.entities[id as usize];
        entity.weight = weight;
        entity.finish = entity.start.saturating_add(span(budget, weight));
        entity.state = State::Waiting;
        self.weight += weight;
        *self.weights.entry(weight).or_default() += 1;
        self.future.insert((entity.start, id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queues(weights: &[u64], budget: u64) -> Wf2q {
        let mut time = Wf2q::default();
        for (id, &weight) in (0..).zip(weights) {
            time.add();
            time.wake(id, weight, budget);
        }
        time
    }

    /// Serves whole budgets, `count` of them; how many each queue got.
    fn serve(time: &mut Wf2q, weights: &[u64], budget: u64, count: u32) -> Vec<u32> {
        let mut order = Vec::new();
        for _ in 0..count {
            let id = time.next().unwrap();
            time.served(budget);
            time.requeue(id, budget, weights[id as usize], budget);
            order.push(id);
        }
        order
    }

    #[test]
    fn nobody_is_ahead_of_the_share_by_more_than_a_budget() {
        let weights = [50, 10, 10, 10, 10, 10];
        let mut time = queues(&weights, 100);
        let order = serve(&mut time, &weights, 100, 60);
        // Half of all to the first, at any time; in plain fair queueing its five turns would come at once.
        for end in 1..=order.len() {
            let got = order[..end].iter().filter(|&&id| id == 0).count() as f64;
            assert!((got - end as f64 / 2.0).abs() <= 1.0, "{got} of {end}");
        }
        for id in 1..6 {
            assert_eq!(order.iter().filter(|&&other| other == id).count(), 6);
        }
    }

    #[test]
    fn who_was_idle_is_owed_nothing_and_keeps_its_debt() {
        let mut time = queues(&[10], 100);
        time.add();
        serve(&mut time, &[10], 100, 50);
        time.wake(1, 10, 100);
        let order = serve(&mut time, &[10, 10], 100, 6);
        assert_eq!(order.iter().filter(|&&id| id == 1).count(), 3, "{order:?}");
        // It leaves after a whole budget and comes back at once: no turn out of turn.
        let mut time = queues(&[10, 10], 100);
        let first = time.next().unwrap();
        time.served(100);
        time.rest(first, 100);
        time.wake(first, 10, 10);
        assert_eq!(time.next(), Some(1 - first));
    }

    #[test]
    fn weights_are_those_of_who_is_not_idle() {
        let mut time = queues(&[10, 10, 20], 1);
        assert_eq!((time.weights_differ(), time.busy()), (true, 3));
        time.rest(2, 0);
        assert_eq!((time.weights_differ(), time.busy()), (false, 2));
        assert!(time.is_idle(2) && !time.is_idle(1));
    }
}
