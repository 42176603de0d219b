//! What leaves the buffer for the flash array in one go.

use super::ticket::NOBODY;
use crate::buffer::lines::{LineView, Out};
use crate::nand::job::Place;
use fathom_base::Lpn;

/// Lines on their way to the translation layer, and the units they make.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    /// What is being added.
    pub(super) line: LineView,
    /// What leaves the buffer with it.
    pub(super) outs: Vec<Out>,
    /// Runs of units, one after another as they will be programmed.
    pub(super) runs: Vec<(Lpn, u32)>,
    /// Units in all.
    pub(super) units: u32,
    /// Dirty sectors in all.
    pub(super) dirty: u32,
    /// Old data to read first.
    pub(super) reads: Vec<Place>,
    /// The unbuffered write that waits for it.
    pub(super) owner: u32,
    accepted: (usize, u32, usize),
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            line: LineView::default(),
            outs: Vec::new(),
            runs: Vec::new(),
            units: 0,
            dirty: 0,
            reads: Vec::new(),
            owner: NOBODY,
            accepted: (0, 0, 0),
        }
    }
}

impl Batch {
    pub(super) fn clear(&mut self) {
        self.outs.clear();
        self.runs.clear();
        self.reads.clear();
        (self.units, self.dirty, self.accepted) = (0, 0, (0, 0, 0));
        self.owner = NOBODY;
    }

    /// Whether the page of the line that is being added has units in the batch already.
    pub(super) fn has_page(&self, units_per_cpage: u32) -> bool {
        let page = self.line.cline;
        self.runs
            .iter()
            .any(|(lpn, _)| lpn.0 / units_per_cpage == page)
    }

    /// Adds units, joined to the last run of the same line where they continue it.
    pub(super) fn push(&mut self, lpn: Lpn, units: u32) {
        self.units += units;
        if self.runs.len() > self.accepted.0
            && let Some((first, n)) = self.runs.last_mut()
            && first.0 + *n == lpn.0
        {
            *n += units;
            return;
        }
        self.runs.push((lpn, units));
    }

    /// Old data to read; where pages are padded, in one read as far as it lies together.
    pub(super) fn read(&mut self, place: Place) {
        if self.line.whole
            && self.reads.len() > self.accepted.2
            && let Some(last) = self.reads.last_mut()
            && last.cpage == place.cpage
            && last.first + last.sectors == place.first
        {
            last.sectors += place.sectors;
            return;
        }
        self.reads.push(place);
    }

    /// All units, one after another.
    pub(super) fn all_units(&self) -> impl Iterator<Item = Lpn> + '_ {
        let units = self.runs.iter().flat_map(|&(lpn, n)| lpn.0..lpn.0 + n);
        units.map(Lpn)
    }

    /// Whether the units follow one another without a gap.
    pub(super) fn is_one_run(&self) -> bool {
        self.runs
            .windows(2)
            .all(|pair| pair[0].0.0 + pair[0].1 == pair[1].0.0)
    }

    /// The unit that was added last.
    pub(super) fn last_unit(&self) -> Lpn {
        self.runs
            .last()
            .map_or(Lpn(0), |(first, n)| Lpn(first.0 + n - 1))
    }

    /// Whether a line leaves with it.
    pub(super) fn has_line(&self, id: u32) -> bool {
        self.outs.iter().any(|out| out.is(id))
    }

    /// What was added belongs to the batch.
    pub(super) fn accept(&mut self, out: Out) {
        self.outs.push(out);
        self.dirty += self.line.dirty;
        self.owner = self.line.owner;
        self.accepted = (self.runs.len(), self.units, self.reads.len());
    }

    /// It does not fit: takes back what was added.
    pub(super) fn undo(&mut self) {
        self.runs.truncate(self.accepted.0);
        self.units = self.accepted.1;
        self.reads.truncate(self.accepted.2);
    }
}
