//! The charge of a request, the weight of a queue, and the set of busy queues.
//!
//! Linux 6.12, `block/bfq-iosched.c`: `bfq_serv_to_charge`, `bfq_asymmetric_scenario`, `bfq_weights_tree_add`;
//! `block/bfq-wf2q.c`: `__bfq_entity_update_weight_prio`, `bfq_add_bfqq_busy`, `bfq_del_bfqq_busy`.

use super::{ASYNC_CHARGE, Bfq};
use crate::Io;
use fathom_base::SECTOR_BYTES;

impl Bfq {
    /// The charge of a request against the budget of its queue, in sectors.
    pub(super) fn charge(&self, id: u32, io: &Io) -> u64 {
        let sectors = io.len.div_ceil(SECTOR_BYTES);
        let queue = &self.queues[id as usize];
        match queue.sync || queue.raise.by > 1 || self.is_asymmetric(id) {
            true => sectors,
            false => sectors * ASYNC_CHARGE,
        }
    }

    /// Returns true if queues of several classes are busy, or if weights differ and this queue does not have the least.
    pub(super) fn is_asymmetric(&self, id: u32) -> bool {
        let least = self.weights.first_key_value().map(|(&weight, _)| weight);
        let counted = self.queues[id as usize].counted;
        let classes = self.busy.of_class.iter().filter(|&&busy| busy > 0).count();
        classes > 1 || (self.weights.len() > 1 && (counted.is_none() || counted != least))
    }

    pub(super) fn count(&mut self, id: u32) {
        let weight = self.time.weight_of(id);
        let queue = &mut self.queues[id as usize];
        if queue.counted.is_none() {
            queue.counted = Some(weight);
            *self.weights.entry(weight).or_default() += 1;
        }
    }

    pub(super) fn discount(&mut self, id: u32) {
        let Some(weight) = self.queues[id as usize].counted.take() else {
            return;
        };
        if let Some(count) = self.weights.get_mut(&weight) {
            *count -= 1;
            if *count == 0 {
                self.weights.remove(&weight);
            }
        }
    }

    /// Applies the current weight of a queue and returns it: `__bfq_entity_update_weight_prio`.
    pub(super) fn settle_weight(&mut self, id: u32) -> u64 {
        let queue = &self.queues[id as usize];
        let (weight, raised) = (queue.weight * queue.raise.by, queue.raise.by > 1);
        if weight != self.time.weight_of(id) && queue.counted.is_some() {
            self.discount(id);
            if !raised {
                self.queues[id as usize].counted = Some(weight);
                *self.weights.entry(weight).or_default() += 1;
            }
        }
        weight
    }

    /// `bfq_add_bfqq_busy`.
    pub(super) fn wake(&mut self, id: u32) {
        let weight = self.settle_weight(id);
        let queue = &mut self.queues[id as usize];
        let in_time = std::mem::take(&mut queue.ran_dry);
        let (budget, raised) = (queue.budget, queue.raise.by);
        self.time.wake(id, weight, budget, in_time, raised);
        queue.busy = true;
        self.busy.all += 1;
        self.busy.of_class[self.time.class_of(id)] += 1;
        self.busy.raised += u32::from(raised > 1);
        if queue.in_flight == 0 && raised == 1 {
            self.count(id);
        }
        self.woken_again(id);
    }

    /// `bfq_del_bfqq_busy`.
    pub(super) fn rest(&mut self, id: u32, expires: bool) {
        let queue = &mut self.queues[id as usize];
        queue.busy = false;
        self.busy.all -= 1;
        self.busy.of_class[self.time.class_of(id)] -= 1;
        self.busy.raised -= u32::from(queue.raise.by > 1);
        let (service, done) = (queue.service, queue.in_flight == 0);
        self.time.rest(id, service, expires);
        if done {
            self.discount(id);
        }
    }
}
