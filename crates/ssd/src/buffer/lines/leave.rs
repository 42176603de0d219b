//! Eviction: which lines leave the write buffer, and in which order.

use super::WriteLines;
use super::parts::{LineView, Out};
use crate::buffer::policy::{How, Leaving};
use fathom_base::links::NONE;

impl WriteLines {
    /// Returns the line to evict next. This is the oldest line if it is due or if lines leave in order of age.
    /// Otherwise it is the next line of the current eviction batch; if none is left, the policy chooses a new batch.
    pub(crate) fn first_out(&mut self, due_mark: u64) -> Option<Out> {
        if self.leave_by_age(due_mark) {
            return self.aged(self.age.oldest);
        }
        if !self.is_leaving() {
            self.choose();
        }
        self.chosen(self.together.left)
    }

    /// Returns true if lines leave in order of age now.
    pub(crate) fn leave_by_age(&self, due_mark: u64) -> bool {
        self.policy.is_none() || self.oldest_is_due(due_mark)
    }

    /// Returns the next candidate after `out`, which may leave together with it.
    pub(crate) fn next_out(&self, out: Out) -> Option<Out> {
        match (out.place, out.queue) {
            (0, _) => self.aged(self.links.newer(out.id)),
            (place, NONE) => self.chosen(place as usize),
            (place, queue) => self.parked_out(queue as usize, place as usize),
        }
    }

    /// Returns true if part of the current eviction batch is still in the buffer.
    pub(crate) fn is_leaving(&mut self) -> bool {
        if self.together.left == self.together.clines.len() {
            return false;
        }
        match self.chosen(self.together.left) {
            Some(out) => self.together.left = out.place as usize - 1,
            None => self.together.left = self.together.clines.len(),
        }
        self.together.left < self.together.clines.len()
    }

    /// Returns the clustered page of an eviction candidate.
    pub(crate) fn cline(&self, out: Out) -> u32 {
        out.cline
    }

    fn aged(&self, id: u32) -> Option<Out> {
        let line = self.lines.get(id as usize)?;
        Some(Out {
            id,
            cline: line.cline,
            whole: false,
            alone: false,
            place: 0,
            queue: NONE,
        })
    }

    /// Returns the first entry of the batch, from position `from` on, that is not gone already.
    pub(super) fn chosen(&self, from: usize) -> Option<Out> {
        let how = self.together.leaving.how;
        let whole = matches!(how, How::Padded { .. });
        let clines = self.together.clines.iter().enumerate().skip(from);
        let mut here = clines.filter_map(|(place, &cline)| {
            let id = self.by_cline.get(&cline).copied().unwrap_or(NONE);
            (id != NONE || whole).then_some(Out {
                id,
                cline,
                whole,
                alone: how != How::Runs,
                place: place as u32 + 1,
                queue: NONE,
            })
        });
        here.next()
    }

    /// Lets the policy choose a new batch from the lines that are not set aside. Returns false if all lines are set
    /// aside.
    pub(crate) fn choose(&mut self) -> bool {
        if self.lines.len() - self.unused.len() == self.parked.lines {
            return false;
        }
        self.name_leaving();
        let together = &mut self.together;
        let Leaving { slots, how } = &together.leaving;
        together.left = 0;
        together.clines.clear();
        match *how {
            How::Padded { first } => {
                let end = first.saturating_add(together.block_pages);
                together
                    .clines
                    .extend(first..end.min(together.clines_of_drive));
            }
            How::Runs | How::Singly => {
                let clines = slots.iter().map(|&id| self.lines[id as usize].cline);
                together.clines.extend(clines);
            }
        }
        true
    }

    /// Stores the choice of the policy in `together.leaving`, in the order in which the lines leave.
    fn name_leaving(&mut self) {
        let leaving = &mut self.together.leaving;
        leaving.slots.clear();
        if let Some(policy) = &mut self.policy {
            policy.choose(leaving);
        }
        if leaving.how != How::Singly {
            let lines = &self.lines;
            leaving
                .slots
                .sort_unstable_by_key(|&id| lines[id as usize].cline);
        }
    }

    /// Evicts a whole batch at once. Appends the page numbers to `pages`, in the order in which they leave.
    pub(in crate::buffer) fn take_together(&mut self, pages: &mut Vec<u32>) -> How {
        self.name_leaving();
        let leaving = std::mem::take(&mut self.together.leaving);
        for &id in &leaving.slots {
            let line = self.lines[id as usize];
            pages.push(line.cline);
            self.remove(id);
            self.release(line.dirty);
        }
        let how = leaving.how;
        self.together.leaving = leaving;
        how
    }

    /// Sets the number of the request that writes all data inserted from now on.
    pub(in crate::buffer) fn begin_request(&mut self, number: u64) {
        self.request = number;
    }

    /// Fills in the view of the line that leaves with `out`.
    pub(crate) fn view(&self, out: Out, into: &mut LineView) {
        (into.id, into.cline, into.whole) = (out.id, out.cline, out.whole);
        match self.lines.get(out.id as usize) {
            Some(line) => {
                (into.dirty, into.owner) = (line.dirty, line.owner);
                self.masks.copy(out.id, &mut into.mask);
            }
            None => {
                (into.dirty, into.owner) = (0, NONE);
                self.masks.range(0, 0, &mut into.mask);
            }
        }
    }

    /// Removes a line that was handed on. Its sectors keep their room until [`WriteLines::release`].
    pub(crate) fn leave(&mut self, out: Out) {
        if out.queue != NONE {
            self.unpark(out);
        } else if out.place > 0 {
            // Other lines of the batch may still wait before this one.
            let first = self.chosen(self.together.left);
            if first.is_some_and(|first| first.place == out.place) {
                self.together.left = out.place as usize;
            }
        }
        if let Some(id) = out.line() {
            self.remove(id);
        }
    }

    /// Takes out all lines, in order of age. Sectors on their way to or from the buffer keep their room.
    pub(crate) fn take_all(&mut self) -> Vec<LineView> {
        let mut all = Vec::new();
        while let Some(out) = self.aged(self.age.oldest) {
            let mut line = LineView::default();
            self.view(out, &mut line);
            self.leave(out);
            self.release(line.dirty);
            all.push(line);
        }
        self.together.left = self.together.clines.len();
        self.parked.clear();
        all
    }

    /// As [`WriteLines::take_all`], and nothing is on its way any more: the lines that a battery saves at a power cut.
    pub(crate) fn drain_all(&mut self) -> Vec<LineView> {
        let all = self.take_all();
        (self.room.used, self.room.reserved) = (0, 0);
        all
    }
}
