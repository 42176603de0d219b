//! Submission queues and the arbitration between them (NVM Express Base Specification, "Command Arbitration").
//!
//! Round robin takes up to a burst of commands from each queue in turn. Weighted round robin takes those of urgent queues
//! first. The other queues have three priorities, each with a number of commands in a round: a round ends when no priority
//! with waiting commands has any left. Queues of one priority take turns. A queue that was empty joins at the end of its
//! turn, so an arbitration costs the same with any number of queues.
//!
//! Not modelled: the admin queue, and the time of reading a command from host memory, which is part of
//! `host.command_overhead`.

use crate::spec::{Host, Priority, QueueArbitration};
use std::collections::VecDeque;

/// Queues of one priority.
#[derive(Clone, Debug, Default)]
struct Class {
    /// The queues with commands, in turn.
    ready: VecDeque<u32>,
    /// Commands taken from the first of them in this turn.
    taken: u32,
}

/// The urgent class, which holds all queues where there are no priorities.
const URGENT: usize = 0;

/// The submission queues of a drive; the commands in them are indices of requests.
#[derive(Clone, Debug)]
pub(super) struct Queues {
    queues: Vec<VecDeque<u32>>,
    /// The class of each queue.
    class_of: Vec<usize>,
    classes: [Class; 4],
    /// Commands of each class in a round; that of the urgent class is not used.
    weights: [u32; 4],
    left: [u32; 4],
    burst: u32,
}

impl Queues {
    /// Creates the queues of a drive; `None` for one queue, which needs no arbitration.
    pub(super) fn new(host: &Host) -> Option<Box<Self>> {
        if host.queues <= 1 {
            return None;
        }
        let class_of = |queue: u32| match host.queue_arbitration {
            QueueArbitration::RoundRobin => URGENT,
            QueueArbitration::Weighted => {
                let given = host.queue_priorities.get(queue as usize).copied();
                match given.unwrap_or_default() {
                    Priority::Urgent => URGENT,
                    Priority::High => 1,
                    Priority::Medium => 2,
                    Priority::Low => 3,
                }
            }
        };
        let weights = match host.queue_weights[..] {
            [high, medium, low] => [0, high, medium, low],
            _ => [0, 1, 1, 1],
        };
        let burst = match host.arbitration_burst {
            0 => u32::MAX,
            burst => burst,
        };
        Some(Box::new(Self {
            queues: vec![VecDeque::new(); host.queues as usize],
            class_of: (0..host.queues).map(class_of).collect(),
            classes: Default::default(),
            weights,
            left: weights,
            burst,
        }))
    }

    /// Adds a command of a process.
    pub(super) fn push(&mut self, process: u32, id: u32) {
        let queue = process % self.queues.len() as u32;
        let commands = &mut self.queues[queue as usize];
        if commands.is_empty() {
            let class = self.class_of[queue as usize];
            self.classes[class].ready.push_back(queue);
        }
        commands.push_back(id);
    }

    /// Returns true if no command waits.
    pub(super) fn is_empty(&self) -> bool {
        self.classes.iter().all(|class| class.ready.is_empty())
    }

    /// Takes the next command.
    pub(super) fn pick(&mut self) -> Option<u32> {
        let class = self.next_class()?;
        self.left[class] = self.left[class].saturating_sub(1);
        let Class { ready, taken } = &mut self.classes[class];
        let &queue = ready.front()?;
        let commands = &mut self.queues[queue as usize];
        let id = commands.pop_front();
        *taken += 1;
        if commands.is_empty() {
            ready.pop_front();
            *taken = 0;
        } else if *taken >= self.burst {
            ready.rotate_left(1);
            *taken = 0;
        }
        id
    }

    /// Returns the class of the next command.
    fn next_class(&mut self) -> Option<usize> {
        let ready = |class: &usize| !self.classes[*class].ready.is_empty();
        if ready(&URGENT) {
            return Some(URGENT);
        }
        let first = (1..4).find(ready)?;
        let has_left = |class: &usize| ready(class) && self.left[*class] > 0;
        let next = (1..4).find(has_left);
        if next.is_none() {
            self.left = self.weights;
        }
        Some(next.unwrap_or(first))
    }

    /// Forgets all commands.
    pub(super) fn clear(&mut self) {
        self.queues.iter_mut().for_each(VecDeque::clear);
        self.classes = Default::default();
        self.left = self.weights;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::spec::{MappingKind, small::small};

    /// Takes commands from queues that are never empty. Returns the queue of each.
    fn saturated(host: &Host, commands: usize) -> Vec<u32> {
        let mut queues = Queues::new(host).unwrap();
        (0..host.queues).for_each(|queue| {
            queues.push(queue, queue);
            queues.push(queue, queue);
        });
        let picks = (0..commands).map(|_| {
            let queue = queues.pick().unwrap();
            queues.push(queue, queue);
            queue
        });
        picks.collect()
    }

    fn host(queues: u32) -> Host {
        Host {
            queues,
            ..small(MappingKind::Page).host
        }
    }

    #[test]
    fn round_robin_takes_a_burst_of_each_queue_in_turn() {
        assert!(Queues::new(&host(1)).is_none());
        for (burst, want) in [
            (1, [0, 1, 2, 0, 1, 2, 0, 1, 2]),
            (2, [0, 0, 1, 1, 2, 2, 0, 0, 1]),
            (4, [0, 0, 0, 0, 1, 1, 1, 1, 2]),
            (0, [0; 9]),
        ] {
            let host = Host {
                arbitration_burst: burst,
                ..host(3)
            };
            assert_eq!(saturated(&host, 9), want, "burst {burst}");
        }
    }

    #[test]
    fn weights_divide_a_round_and_urgent_commands_come_first() {
        let mut host = Host {
            queue_arbitration: QueueArbitration::Weighted,
            queue_priorities: vec![
                Priority::Low,
                Priority::High,
                Priority::Medium,
                Priority::High,
            ],
            queue_weights: vec![3, 2, 1],
            ..host(4)
        };
        // Three of the two high queues in turn, two of the medium, one of the low one.
        let want = [1, 3, 1, 2, 2, 0, 3, 1, 3, 2, 2, 0];
        assert_eq!(saturated(&host, 12), want);
        host.queue_priorities[0] = Priority::Urgent;
        assert_eq!(saturated(&host, 12), [0; 12]);
    }

    #[test]
    fn a_priority_without_commands_leaves_its_share_to_the_others() {
        let host = Host {
            queue_arbitration: QueueArbitration::Weighted,
            queue_priorities: vec![Priority::High, Priority::Low],
            queue_weights: vec![3, 1, 1],
            ..host(2)
        };
        let mut queues = Queues::new(&host).unwrap();
        (0..4).for_each(|n| queues.push(1, 10 + n));
        assert_eq!(queues.pick(), Some(10));
        assert_eq!(queues.pick(), Some(11));
        // The high queue comes in the middle of a round in which the low one has had its command. The round ends after
        // three high commands; the next one begins with the fourth.
        (0..4).for_each(|n| queues.push(0, 20 + n));
        let rest: Vec<u32> = std::iter::from_fn(|| queues.pick()).collect();
        assert_eq!(rest, [20, 21, 22, 23, 12, 13]);
        assert!(queues.is_empty());
        queues.push(7, 5);
        assert!(!queues.is_empty());
        queues.clear();
        assert!(queues.is_empty() && queues.pick().is_none());
    }
}
