//! What was chosen to leave and waits for an erase, aside, so that something else can be chosen meanwhile.
//!
//! A line that is set aside has left the order of the policy, not that of age, and can still be read and written. It
//! leaves in its newest version.

use super::WriteLines;
use super::parts::{Out, Waiting};
use crate::buffer::links::NONE;
use crate::buffer::policy::How;

impl WriteLines {
    /// Whether something waits aside.
    pub(crate) fn has_parked(&self) -> bool {
        self.parked.waiting > 0
    }

    /// Dirty sectors that wait aside.
    pub(crate) fn parked_sectors(&self) -> u64 {
        self.parked.sectors
    }

    /// The next of those that were chosen and need not wait; what has to wait is set aside. `place` tells for a clustered
    /// page the number of what it may wait for, and whether it does.
    pub(crate) fn first_chosen(&mut self, place: impl Fn(u32) -> (usize, bool)) -> Option<Out> {
        let aside = self.first_parked(|cline| place(cline).1);
        if aside.is_some() || !self.is_leaving() {
            return aside;
        }
        let mut next = self.chosen(self.together.left);
        while let Some(out) = next
            && place(out.cline).1
        {
            // A whole block leaves in the order of its pages.
            next = self.next_out(out).filter(|_| !out.whole);
        }
        if next.is_none() {
            self.park(|cline| place(cline).0);
        }
        next
    }

    /// Sets aside all that is left of those that leave together.
    fn park(&mut self, queue_of: impl Fn(u32) -> usize) {
        let alone = self.together.leaving.how != How::Runs;
        while let Some(out) = self.chosen(self.together.left) {
            self.together.left = out.place as usize;
            if let Some(id) = out.line() {
                self.set_aside(id);
            }
            let (cline, whole) = (out.cline, out.whole);
            let waiting = Waiting {
                cline,
                whole,
                alone,
            };
            self.parked.push(queue_of(cline), waiting);
        }
    }

    /// A line leaves the policy's order.
    fn set_aside(&mut self, id: u32) {
        let line = &mut self.lines[id as usize];
        // A whole block takes lines that wait already, where a page that it has written is here again.
        if std::mem::replace(&mut line.parked, true) {
            return;
        }
        self.parked.lines += 1;
        self.parked.sectors += u64::from(line.dirty);
        if let Some(policy) = &mut self.policy {
            policy.remove(id);
        }
    }

    /// The first that waits no longer.
    fn first_parked(&mut self, waits: impl Fn(u32) -> bool) -> Option<Out> {
        if !self.has_parked() {
            return None;
        }
        for queue in 0..self.parked.queues.len() {
            while let Some(&first) = self.parked.queues[queue].front()
                && !waits(first.cline)
            {
                if let Some(out) = self.parked_out(queue, 0) {
                    return Some(out);
                }
                self.parked.pop(queue);
            }
        }
        None
    }

    /// What waits in a queue, from a position on, that is not gone already.
    pub(super) fn parked_out(&self, queue: usize, from: usize) -> Option<Out> {
        let mut waiting = self.parked.queues[queue].iter().enumerate().skip(from);
        waiting.find_map(|(position, waiting)| {
            let id = self.by_cline.get(&waiting.cline).copied();
            let id = id.filter(|&id| self.lines[id as usize].parked);
            (id.is_some() || waiting.whole).then_some(Out {
                id: id.unwrap_or(NONE),
                cline: waiting.cline,
                whole: waiting.whole,
                alone: waiting.alone,
                place: position as u32 + 1,
                queue: queue as u32,
            })
        })
    }

    /// It has been handed on, and so has all before it.
    pub(super) fn unpark(&mut self, out: Out) {
        while let Some(first) = self.parked.pop(out.queue as usize)
            && first.cline != out.cline
        {}
    }
}
