//! Elements: serving their queues, and the time that each operation keeps them busy.

use super::flash::{Flash, Plane};
use super::parts::{Batch, Part};
use super::shape::{Shape, millis_at};
use super::{Cleaning, ELEMENTS, Event, MsSsd, key};

/// Maximum number of requests that an element with several parallel units takes from its queue at once.
const BATCH: usize = 100;

/// Returns the plane for the next write of a page: among the planes whose open position is newer than the page's old
/// copy, the one with the most room. `put(n)` is the number of writes already assigned to plane `n`.
pub(super) fn choose_plane(
    flash: &mut Flash,
    shape: &Shape,
    element: u32,
    old: u32,
    put: impl Fn(u32) -> u32,
) -> u32 {
    let old_slot = old / shape.pages;
    if shape.in_plane {
        return old_slot / shape.blocks;
    }
    let age = (
        flash.sequence_of(shape, element, old_slot),
        old % shape.pages,
    );
    let first = flash.tally[element as usize].next_plane;
    let base = (element * shape.planes) as usize;
    let planes = &flash.planes[base..base + shape.planes as usize];
    let (mut best, mut most) = (first, i64::MIN);
    let mut look = |n: u32, plane: &Plane| {
        let room = i64::from(plane.room(shape)) - i64::from(put(n));
        if room > most && (plane.open.sequence, plane.open.page) > age {
            (best, most) = (n, room);
        }
    };
    let (before, after) = planes.split_at(first as usize);
    (first..).zip(after).for_each(|(n, plane)| look(n, plane));
    (0..).zip(before).for_each(|(n, plane)| look(n, plane));
    let next = best + 1;
    flash.tally[element as usize].next_plane = if next == shape.planes { 0 } else { next };
    best
}

impl MsSsd {
    /// Starts the next work of a gang if it is idle. A gang is one element, unless elements write in step.
    pub(super) fn activate(&mut self, gang: u32) {
        let station = &self.stations[gang as usize];
        let waiting = !station.is_empty();
        if station.at_work > 0 || !(waiting || self.shape.background) {
            return;
        }
        if (self.may_clean(gang) && self.clean(gang)) || !waiting {
            return;
        }
        if self.shape.units == 1 || !self.shape.copy_back {
            self.serve_one(gang);
        } else {
            self.serve_batch(gang);
        }
    }

    /// Returns false if a gang of one element surely needs no cleaning. A quick check.
    #[inline]
    fn may_clean(&self, gang: u32) -> bool {
        self.shape.gang > 1
            || !self.shape.copy_back
            || self.flash.tally[gang as usize].low_planes > 0
    }

    /// Cleans a gang once, if necessary. Returns true if it did. Its members hold the same data and clean at the same
    /// time.
    fn clean(&mut self, gang: u32) -> bool {
        let mut longest = 0.0;
        for element in gang * self.shape.gang..(gang + 1) * self.shape.gang {
            let (flash, now) = (&mut self.flash, self.millis);
            let Some(pass) = self.cleaner.pass(flash, &self.shape, element, now) else {
                continue;
            };
            longest = f64::max(longest, pass.cost);
            self.counters.cleanings += pass.blocks;
            self.counters.pages_moved += pass.moved;
            self.note_cleaning(Cleaning {
                start_ms: millis_at(self.epoch) + self.millis,
                element,
                cost_ms: pass.cost,
            });
        }
        if longest == 0.0 {
            return false;
        }
        self.stations[gang as usize].at_work = 1;
        self.work(self.millis + longest, Event::Cleaned(gang));
        true
    }

    /// Occupies an element until a time in milliseconds.
    fn work(&mut self, until: f64, event: Event) {
        self.events.push(key(until), event);
    }

    /// Like [`MsSsd::work`], for operations with the most common durations: they end in the order in which they start.
    fn work_as_most(&mut self, until: f64, index: u32) {
        self.events
            .push_in_order(ELEMENTS, key(until), Event::Done(index));
    }

    fn serve_one(&mut self, gang: u32) {
        let station = &mut self.stations[gang as usize];
        let Some(index) = station.pop(&mut self.parts) else {
            return;
        };
        station.at_work = 1;
        let part = self.parts.get(index);
        self.counters.pages_written += u64::from(part.write);
        let cost = match (part.write, self.shape.in_gangs) {
            (false, _) => self.costs.read_page,
            (true, false) => self.write(part, None),
            (true, true) => self.write_gang(part),
        };
        self.busy_ms += cost;
        let until = self.millis + cost;
        if cost == self.costs.write_page(false) || cost == self.costs.read_page {
            self.work_as_most(until, index);
        } else {
            self.work(until, Event::Done(index));
        }
    }

    /// Writes a page across a gang whose members write in step: reads the parts that the request does not contain, then
    /// writes the whole at the next place of every member. Returns the duration in milliseconds.
    fn write_gang(&mut self, part: Part) -> f64 {
        let members = self.shape.gang;
        let first = part.element / members * members;
        for element in first..first + members {
            self.write(Part { element, ..part }, None);
        }
        let costs = &self.costs;
        2.0 * (costs.read + f64::from(members) * costs.transfer + costs.program)
    }

    /// Writes a part. Returns the duration of the transfer and the programs, in milliseconds.
    fn write(&mut self, part: Part, plane: Option<u32>) -> f64 {
        let Part { element, page, .. } = part;
        let (flash, shape) = (&mut self.flash, &self.shape);
        let old = flash.place_of(shape, element, page);
        let plane = match plane {
            None if shape.copy_back => Some(choose_plane(flash, shape, element, old, |_| 0)),
            plane => plane,
        };
        let Some(last) = flash.append(shape, element, plane, page) else {
            self.fail(part.parent);
            return 0.0;
        };
        flash.invalidate(shape, element, old);
        self.costs.write_page(last)
    }

    /// Takes up to [`BATCH`] parts from the queue and executes them: first all reads, then the writes, one part per
    /// parallel unit at a time.
    fn serve_batch(&mut self, element: u32) {
        let mut batch = std::mem::take(&mut self.batch);
        batch.reads.clear();
        batch.writes.clear();
        while batch.reads.len() < BATCH && batch.writes.len() < BATCH {
            let station = &mut self.stations[element as usize];
            let Some(index) = station.pop(&mut self.parts) else {
                break;
            };
            station.at_work += 1;
            let part = self.parts.get(index);
            let same = if part.write {
                &mut batch.writes
            } else {
                &mut batch.reads
            };
            let twice = same.iter().any(|&i| self.parts.get(i).page == part.page);
            if twice {
                self.counters.pages_written += u64::from(part.write);
                self.work(self.millis, Event::Done(index));
            } else {
                same.push(index);
            }
        }
        self.place_reads(&mut batch, element);
        let reads = self.rounds(&mut batch, 0.0, false);
        self.place_writes(&mut batch, element);
        self.rounds(&mut batch, reads, true);
        self.batch = batch;
    }

    fn place_reads(&mut self, batch: &mut Batch, element: u32) {
        batch.placed.clear();
        for &index in &batch.reads {
            let page = self.parts.get(index).page;
            let place = self.flash.place_of(&self.shape, element, page);
            let plane = place / self.shape.pages / self.shape.blocks;
            batch.placed.push((plane, index));
        }
    }

    fn place_writes(&mut self, batch: &mut Batch, element: u32) {
        batch.placed.clear();
        batch.put.clear();
        batch.put.resize(self.shape.planes as usize, 0);
        for &index in &batch.writes {
            let page = self.parts.get(index).page;
            let old = self.flash.place_of(&self.shape, element, page);
            let plane = choose_plane(&mut self.flash, &self.shape, element, old, |n| {
                batch.put[n as usize]
            });
            batch.put[plane as usize] += 1;
            batch.placed.push((plane, index));
        }
    }

    /// Executes the placed parts, one per parallel unit at a time, starting `after` milliseconds from now. Returns the
    /// total duration in milliseconds.
    fn rounds(&mut self, batch: &mut Batch, after: f64, write: bool) -> f64 {
        let per_unit = self.shape.planes / self.shape.units;
        let start = self.millis + after;
        let mut base = 0.0;
        while !batch.placed.is_empty() {
            let (mut before, mut end) = (0.0, base);
            for unit in 0..self.shape.units {
                let of_unit = |&(plane, _): &(u32, u32)| plane / per_unit == unit;
                let Some(at) = batch.placed.iter().position(of_unit) else {
                    continue;
                };
                let (plane, index) = batch.placed.remove(at);
                // Transfers share the pins one after another; operations in the array overlap.
                self.counters.pages_written += u64::from(write);
                let cost = if write {
                    self.write(self.parts.get(index), Some(plane))
                } else {
                    self.costs.read_page
                };
                let done = base + before * self.costs.transfer + cost;
                before += 1.0;
                self.work(start + done, Event::Done(index));
                end = f64::max(end, done);
            }
            self.busy_ms += end - base;
            base = end;
        }
        base
    }
}
