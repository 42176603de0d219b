//! Lines that were chosen to leave but wait for an erase. They are set aside, so that the policy can choose other lines
//! meanwhile.
//!
//! A line that is set aside has left the order of the policy, but not the order of age. It can still be read and
//! written, and leaves with its newest data.

use super::WriteLines;
use super::parts::{Out, Waiting};
use crate::buffer::policy::How;
use fathom_base::links::NONE;

impl WriteLines {
    /// Returns true if lines or padding pages are set aside.
    pub(crate) fn has_parked(&self) -> bool {
        self.parked.waiting > 0
    }

    /// Returns the number of dirty sectors that are set aside.
    pub(crate) fn parked_sectors(&self) -> u64 {
        self.parked.sectors
    }

    /// Returns the next chosen line that need not wait; lines that were set aside come first. Sets the batch aside if all of
    /// it has to wait, or, for a padded block, if its next page has to. For a clustered page, `place` returns the index of
    /// the queue that it may wait in and whether it has to wait.
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

    /// Sets aside the rest of the current batch.
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

    /// Removes a line from the order of the policy and marks it as set aside.
    fn set_aside(&mut self, id: u32) {
        let line = &mut self.lines[id as usize];
        // A padded block includes lines that are set aside already, if one of its pages was written again since.
        if std::mem::replace(&mut line.parked, true) {
            return;
        }
        self.parked.lines += 1;
        self.parked.sectors += u64::from(line.dirty);
        if let Some(policy) = &mut self.policy {
            policy.remove(id);
        }
    }

    /// Returns the first entry that no longer has to wait.
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

    /// Returns the first entry of a queue, from position `from` on, that is not gone already.
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

    /// Removes an entry that was handed on, and all entries before it in its queue.
    pub(super) fn unpark(&mut self, out: Out) {
        while let Some(first) = self.parked.pop(out.queue as usize)
            && first.cline != out.cline
        {}
    }
}
