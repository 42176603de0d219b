//! Composition of eviction batches: the lines that leave the write memory together, and the old data to read for them.

use super::batch::Batch;
use super::memory::{Gathers, WriteMemory};
use crate::buffer::lines::{Out, Piece};
use crate::ftl::AnyFtl;
use crate::nand::job::Place;
use fathom_base::Lpn;
use std::ops::Range;

/// Maximum number of clustered pages of consecutive units that leave the buffer together.
const NEIGHBOUR_PAGES: u32 = 16;

/// Returns true if the line that was planned last has the placement handle of the earlier ones.
fn is_alike(batch: &Batch, ftl: &AnyFtl) -> bool {
    let first = batch.runs.first().map(|(first, _)| *first);
    first.is_none_or(|first| ftl.placement(first) == ftl.placement(batch.last_unit()))
}

impl WriteMemory {
    /// Takes the next batch, starting with a given line: that line alone, or as many lines as fill a clustered page where
    /// units of different lines can share one. The caller must give the batch back to `self.batch`.
    pub(super) fn take_batch(&mut self, first: Out, ftl: &AnyFtl) -> Batch {
        let mut batch = std::mem::take(&mut self.batch);
        batch.clear();
        let mut next = Some(first);
        while let Some(out) = next {
            let shares = self.gathers.is_some() && self.is_complete(out);
            if !(batch.outs.is_empty() || shares) {
                break;
            }
            self.lines.view(out, &mut batch.line);
            // A second line of the same page is drained after the first has been placed, because it may need its data.
            if batch.has_page(self.g.units_per_cpage) {
                break;
            }
            self.plan(&mut batch, ftl);
            let joins = batch.outs.is_empty() || self.may_share(&batch) && is_alike(&batch, ftl);
            if !joins {
                batch.undo();
                break;
            }
            batch.accept(out);
            let only_constant = batch.units == 0;
            if self.gathers.is_none() || out.alone || only_constant {
                break;
            }
            next = self.lines.next_out(out);
        }
        batch
    }

    /// Takes a piece of an unbuffered write that has no line of its own, as a batch.
    pub(super) fn take_piece(&mut self, piece: Piece, ftl: &AnyFtl) -> Batch {
        let mut batch = std::mem::take(&mut self.batch);
        batch.clear();
        self.lines.view_of(piece, &mut batch.line);
        self.plan(&mut batch, ftl);
        (batch.dirty, batch.owner) = (piece.sectors, piece.owner);
        batch
    }

    /// Returns true if the line that was planned last may be programmed together with the earlier ones.
    fn may_share(&self, batch: &Batch) -> bool {
        match self.gathers {
            Some(Gathers::AnyUnits) => batch.units <= self.g.units_per_cpage,
            Some(Gathers::Neighbours) => {
                let block = |lpn: Lpn| lpn.0 / self.g.units_per_cblock;
                let inside = batch
                    .runs
                    .first()
                    .is_some_and(|(first, _)| block(*first) == block(batch.last_unit()));
                inside
                    && batch.is_one_run()
                    && batch.units <= NEIGHBOUR_PAGES * self.g.units_per_cpage
            }
            None => false,
        }
    }

    /// Adds the units of `batch.line` that hold dirty sectors or pad others, and the reads of old data for units that
    /// also hold clean sectors.
    fn plan(&self, batch: &mut Batch, ftl: &AnyFtl) {
        let per_unit = self.g.sectors_per_unit;
        let base = batch.line.cline * self.g.units_per_cpage;
        if batch.line.dirty == self.g.sectors_per_cpage && !self.shrinking.is_on() {
            batch.push(Lpn(base), self.g.units_per_cpage);
            return;
        }
        for unit in 0..self.g.units_per_cpage {
            let sectors = unit * per_unit..(unit + 1) * per_unit;
            let dirty = sectors.clone().filter(|&s| batch.line.holds(s)).count() as u32;
            if dirty == 0 && !batch.line.whole {
                continue;
            }
            let old = ftl.lookup(Lpn(base + unit));
            if self.is_constant(batch, sectors.clone(), dirty == per_unit || !old.is_some()) {
                batch.constant.push(Lpn(base + unit));
                continue;
            }
            batch.push(Lpn(base + unit), 1);
            if dirty < per_unit && old.is_some() {
                let clean = sectors.clone().find(|&s| !batch.line.holds(s));
                let first = clean.unwrap_or(sectors.start) - sectors.start;
                let count = (per_unit - dirty).min(per_unit - first);
                batch.read(Place::within(&self.g, old, first, count));
            }
        }
    }

    /// Returns true if these sectors of `batch.line`, a unit of which nothing else is stored if it `is_all`, shrink.
    fn is_constant(&self, batch: &Batch, sectors: Range<u32>, is_all: bool) -> bool {
        let line = &batch.line;
        let mut dirty = sectors.filter(|&s| line.holds(s));
        self.shrinking.is_on()
            && is_all
            && !line.whole
            && dirty.all(|s| self.shrinking.holds(line.id, s))
    }
}
