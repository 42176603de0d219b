//! The agenda of the run loop: the actors to ask next, because they got an answer, their time has come, or they watch.
//! No other actors are asked, so the cost of a completion does not depend on the number of actors.

use fathom_base::Time;
use std::collections::BTreeSet;

/// The actors that are due, and the times that the others wait for.
pub(super) struct Agenda {
    /// Actors to be asked next, in any order; an actor may occur twice.
    due: Vec<usize>,
    /// Actors that are asked whenever anything happens.
    watching: BTreeSet<usize>,
    /// Actors that wait for a time, in order of time.
    timers: BTreeSet<(Time, usize)>,
    /// The wait of each actor.
    waits: Vec<Wait>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Wait {
    until: Time,
    watches: bool,
}

impl Agenda {
    /// Creates an agenda on which all actors are due.
    pub(super) fn new(actors: usize) -> Self {
        let nothing = Wait {
            until: Time::MAX,
            watches: false,
        };
        Self {
            due: (0..actors).collect(),
            watching: BTreeSet::new(),
            timers: BTreeSet::new(),
            waits: vec![nothing; actors],
        }
    }

    /// Makes an actor due, whatever it waits for.
    #[inline]
    pub(super) fn wake(&mut self, actor: usize) {
        // Several accesses of an actor often complete at once.
        if self.due.last() != Some(&actor) {
            self.due.push(actor);
        }
    }

    /// Makes an actor wait until a time on the device's clock, and also for any event if it watches.
    #[inline]
    pub(super) fn wait(&mut self, actor: usize, until: Time, watches: bool) {
        let new = Wait { until, watches };
        let old = std::mem::replace(&mut self.waits[actor], new);
        if old == new {
            return;
        }
        if old.until != until {
            self.timers.remove(&(old.until, actor));
            if until != Time::MAX {
                self.timers.insert((until, actor));
            }
        }
        match (old.watches, watches) {
            (false, true) => {
                self.watching.insert(actor);
            }
            (true, false) => {
                self.watching.remove(&actor);
            }
            _ => {}
        }
    }

    /// Makes an actor wait until the device accepts its request, when it is woken.
    pub(super) fn block(&mut self, actor: usize) {
        self.wait(actor, Time::MAX, false);
    }

    /// Returns the only actor to be asked now, if there is only one and the time does not matter: nearly always so in a program
    /// of one actor.
    #[inline]
    pub(super) fn take_only(&mut self) -> Option<usize> {
        match self.due[..] {
            [actor] if self.watching.is_empty() && self.timers.is_empty() => {
                self.due.clear();
                Some(actor)
            }
            _ => None,
        }
    }

    /// Puts the actors to be asked now into `who`, each once and in order of their numbers.
    pub(super) fn take(&mut self, now: Time, who: &mut Vec<usize>) {
        who.clear();
        who.append(&mut self.due);
        who.extend(&self.watching);
        let come = self.timers.iter().take_while(|(until, _)| *until <= now);
        who.extend(come.map(|(_, actor)| actor));
        who.sort_unstable();
        who.dedup();
    }

    /// The earliest time that an actor waits for; [`Time::MAX`] if none does.
    #[inline]
    pub(super) fn next(&self) -> Time {
        self.timers.first().map_or(Time::MAX, |(until, _)| *until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(agenda: &mut Agenda, now: u64) -> Vec<usize> {
        let mut who = vec![99];
        agenda.take(Time(now), &mut who);
        who
    }

    #[test]
    fn those_whose_time_has_come_or_who_were_woken_are_due_once_and_in_order() {
        let mut agenda = Agenda::new(3);
        assert_eq!(taken(&mut agenda, 0), [0, 1, 2]);
        agenda.wait(2, Time(5), false);
        agenda.wait(0, Time(9), false);
        agenda.wait(1, Time::MAX, false);
        assert_eq!(agenda.next(), Time(5));
        assert!(taken(&mut agenda, 4).is_empty());
        agenda.wake(1);
        assert_eq!(agenda.take_only(), None, "two actors wait for a time");
        agenda.wake(0);
        agenda.wake(1);
        assert_eq!(taken(&mut agenda, 5), [0, 1, 2]);
        // It was asked and waits for another time.
        agenda.wait(2, Time(7), false);
        assert_eq!(agenda.next(), Time(7));
        agenda.block(2);
        assert_eq!(agenda.next(), Time(9));
    }

    #[test]
    fn only_one_is_due_if_nobody_waits_for_a_time_or_watches() {
        let mut agenda = Agenda::new(2);
        assert_eq!(agenda.take_only(), None, "two are due");
        taken(&mut agenda, 0);
        agenda.wake(1);
        agenda.wake(1);
        assert_eq!(agenda.take_only(), Some(1));
        assert_eq!(agenda.take_only(), None, "it is no longer due");
        for (until, watches) in [(Time(5), false), (Time::MAX, true)] {
            agenda.wait(0, until, watches);
            agenda.wake(1);
            assert_eq!(agenda.take_only(), None);
            taken(&mut agenda, 0);
        }
    }

    #[test]
    fn who_watches_is_asked_every_time() {
        let mut agenda = Agenda::new(4);
        taken(&mut agenda, 0);
        agenda.wait(3, Time::MAX, true);
        agenda.wait(1, Time(8), true);
        agenda.wake(2);
        assert_eq!(taken(&mut agenda, 1), [1, 2, 3]);
        assert_eq!(taken(&mut agenda, 1), [1, 3]);
        agenda.wait(1, Time(8), false);
        assert_eq!(taken(&mut agenda, 1), [3]);
        assert_eq!(taken(&mut agenda, 8), [1, 3]);
    }
}
