//! A batch of lines that leave the buffer for the flash array together.

use super::ticket::NOBODY;
use crate::buffer::lines::{LineView, Out};
use crate::nand::job::Place;
use fathom_base::Lpn;

/// Lines on their way to the translation layer, and the mapped units to program for them.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    /// The line that is being added.
    pub(super) line: LineView,
    /// The lines that leave the buffer with the batch.
    pub(super) outs: Vec<Out>,
    /// Runs of consecutive units (first unit, count), in the order in which they will be programmed.
    pub(super) runs: Vec<(Lpn, u32)>,
    /// Total number of units.
    pub(super) units: u32,
    /// Total number of dirty sectors.
    pub(super) dirty: u32,
    /// Units that are recorded as constant and not programmed.
    pub(super) constant: Vec<Lpn>,
    /// Old data that must be read first.
    pub(super) reads: Vec<Place>,
    /// The unbuffered write that waits for the batch, or [`NOBODY`].
    pub(super) owner: u32,
    accepted: Accepted,
}

/// Lengths of the lists of a batch up to the line that was accepted last.
#[derive(Clone, Copy, Debug, Default)]
struct Accepted {
    runs: usize,
    units: u32,
    reads: usize,
    constant: usize,
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            line: LineView::default(),
            outs: Vec::new(),
            runs: Vec::new(),
            units: 0,
            dirty: 0,
            constant: Vec::new(),
            reads: Vec::new(),
            owner: NOBODY,
            accepted: Accepted::default(),
        }
    }
}

impl Batch {
    pub(super) fn clear(&mut self) {
        self.outs.clear();
        self.runs.clear();
        self.reads.clear();
        self.constant.clear();
        (self.units, self.dirty, self.accepted) = (0, 0, Accepted::default());
        self.owner = NOBODY;
    }

    /// Returns true if the batch already has units of the clustered page of the line that is being added.
    pub(super) fn has_page(&self, units_per_cpage: u32) -> bool {
        let page = self.line.cline;
        let runs = self.runs.iter().map(|(lpn, _)| lpn);
        runs.chain(&self.constant)
            .any(|lpn| lpn.0 / units_per_cpage == page)
    }

    /// Adds units. They extend the last run if they follow it and it belongs to the same line.
    pub(super) fn push(&mut self, lpn: Lpn, units: u32) {
        self.units += units;
        if self.runs.len() > self.accepted.runs
            && let Some((first, n)) = self.runs.last_mut()
            && first.0 + *n == lpn.0
        {
            *n += units;
            return;
        }
        self.runs.push((lpn, units));
    }

    /// Adds a read of old data. Where pages are padded, adjacent places become one read.
    pub(super) fn read(&mut self, place: Place) {
        if self.line.whole
            && self.reads.len() > self.accepted.reads
            && let Some(last) = self.reads.last_mut()
            && last.cpage == place.cpage
            && last.first + last.sectors == place.first
        {
            last.sectors += place.sectors;
            return;
        }
        self.reads.push(place);
    }

    /// Iterates over all units in programming order.
    pub(super) fn all_units(&self) -> impl Iterator<Item = Lpn> + '_ {
        let units = self.runs.iter().flat_map(|&(lpn, n)| lpn.0..lpn.0 + n);
        units.map(Lpn)
    }

    /// Returns true if the units are consecutive.
    pub(super) fn is_one_run(&self) -> bool {
        self.runs
            .windows(2)
            .all(|pair| pair[0].0.0 + pair[0].1 == pair[1].0.0)
    }

    /// Returns the unit that was added last.
    pub(super) fn last_unit(&self) -> Lpn {
        self.runs
            .last()
            .map_or(Lpn(0), |(first, n)| Lpn(first.0 + n - 1))
    }

    /// Returns true if a line leaves with the batch.
    pub(super) fn has_line(&self, id: u32) -> bool {
        self.outs.iter().any(|out| out.is(id))
    }

    /// Accepts the line that is being added.
    pub(super) fn accept(&mut self, out: Out) {
        self.outs.push(out);
        self.dirty += self.line.dirty;
        self.owner = self.line.owner;
        self.accepted = Accepted {
            runs: self.runs.len(),
            units: self.units,
            reads: self.reads.len(),
            constant: self.constant.len(),
        };
    }

    /// Removes the line that is being added, which does not fit.
    pub(super) fn undo(&mut self) {
        self.runs.truncate(self.accepted.runs);
        self.units = self.accepted.units;
        self.reads.truncate(self.accepted.reads);
        self.constant.truncate(self.accepted.constant);
    }
}
