//! The offsets and lengths of a process's accesses.
//!
//! Sequential jobs continue after the last access of the same operation. Random jobs cover every block once before they
//! repeat one. If all lengths are equal, this uses a bijection in constant memory. Otherwise it uses a map of the
//! covered blocks, as in fio, and an access ends early at a covered block. Without a random map, offsets are drawn
//! independently.

use super::choices::{Distribution, Each};
use super::job::Job;
use super::lengths::Lengths;
use super::map::Map;
use super::region::Region;
use super::steer::{Steer, Turn};
use crate::generate::{Permutation, Ranks, Zipf};
use fathom_base::Rng;
use fathom_block::Op;

/// Memory limit of the random map of a process, and of all maps of a run together, in bytes.
pub(super) const MAP_BYTES_MAX: u64 = 1 << 29;

/// How offsets are found.
#[derive(Clone, Debug)]
enum Way {
    /// The start of the next access of each operation, relative to the start of the region.
    Sequential(Each<u64>),
    /// One cover for all operations, or one for each; `of` is the index of the cover of an operation.
    Covered { covers: Vec<Cover>, of: Each<usize> },
    /// Independent draws, for each operation of the job.
    Drawn(Box<Each<Option<Draw>>>),
}

/// Visits every unit of a region once.
#[derive(Clone, Debug)]
enum Cover {
    /// All accesses are one unit long.
    Dealt {
        order: Permutation,
        next: u64,
        units: u64,
        unit: u64,
    },
    Mapped {
        map: Map,
        unit: u64,
    },
}

/// Offsets that are drawn independently.
#[derive(Clone, Copy, Debug)]
struct Draw {
    align: u64,
    places: u64,
    ranks: Ranks,
    /// Spreads the ranks over the region, so that frequent places are not adjacent.
    scatter: Permutation,
}

/// The offsets and lengths of a process.
#[derive(Clone, Debug)]
pub(super) struct Places {
    region: Region,
    sizes: Each<Lengths>,
    way: Way,
    /// Set for random jobs of which some accesses are sequential or repeated.
    steer: Option<Steer>,
    /// Bytes that a sequential job skips between two accesses.
    skip: u64,
    keys: Rng,
    place: Rng,
    size: Rng,
}

impl Cover {
    fn new(unit: u64, alike: bool, size: u64, keys: &mut Rng) -> Result<Self, String> {
        let units = size / unit;
        if alike {
            let order = Permutation::new(units, keys);
            return Ok(Self::Dealt {
                order,
                next: 0,
                units,
                unit,
            });
        }
        if units / 8 > MAP_BYTES_MAX {
            return Err(format!(
                "a random map of {units} blocks of {unit} bytes would take more than half a gibibyte: set \
                 `norandommap`, or make `size` smaller"
            ));
        }
        let map = Map::new(units);
        Ok(Self::Mapped { map, unit })
    }

    fn reset(&mut self, keys: &mut Rng) {
        match self {
            Cover::Dealt {
                order, next, units, ..
            } => {
                *order = Permutation::new(*units, keys);
                *next = 0;
            }
            Cover::Mapped { map, .. } => map.clear(),
        }
    }

    /// Returns the offset and length of the next access, or `None` if everything is covered.
    fn next(&mut self, sizes: &Lengths, place: &mut Rng, size: &mut Rng) -> Option<(u64, u64)> {
        match self {
            Cover::Dealt {
                order,
                next,
                units,
                unit,
            } => {
                let rank = (*next < *units).then_some(*next)?;
                *next += 1;
                Some((order.of(rank) * *unit, *unit))
            }
            Cover::Mapped { map, unit } => {
                let first = map.next_free(place.below(map.units()))?;
                let room = (map.units() - first) * *unit;
                // If every length is too long for the end of the region, one shorter access covers the end.
                let len = sizes.fitting(room, size).unwrap_or(room);
                let mut taken = 0;
                while taken < len / *unit && map.is_free(first + taken) {
                    map.take(first + taken);
                    taken += 1;
                }
                Some((first * *unit, taken * *unit))
            }
        }
    }
}

impl Draw {
    fn new(job: &Job, op: Op, sizes: &Lengths, size: u64, keys: &mut Rng) -> Self {
        let align = job.align(op);
        let shortest = sizes.shortest();
        let places = size.saturating_sub(shortest) / align + 1;
        let ranks = match job.order.random_distribution {
            Distribution::Random => Ranks::Uniform,
            Distribution::Zipf(theta) => Ranks::Zipf(Zipf::new(places, theta)),
            Distribution::Pareto(h) => Ranks::pareto(h),
        };
        Self {
            align,
            places,
            ranks,
            scatter: Permutation::new(places, keys),
        }
    }

    fn place(&self, rng: &mut Rng) -> u64 {
        let rank = self.ranks.draw(self.places, rng);
        match self.ranks {
            Ranks::Uniform => rank * self.align,
            _ => self.scatter.of(rank) * self.align,
        }
    }
}

/// The random streams, one per purpose.
#[derive(Clone, Copy)]
pub(super) enum Stream {
    Mix = 0,
    Size = 1,
    Place = 2,
    Keys = 3,
    Content = 4,
    Steer = 5,
    Pace = 6,
}

impl Stream {
    /// Returns the random stream of a process for this purpose.
    pub(super) fn rng(self, seed: u64, process: usize) -> Rng {
        Rng::new(seed, process as u64 * 8 + self as u64)
    }
}

impl Places {
    /// Makes the places for a region that [`Job::resolve`] returned for the job.
    pub(super) fn new(
        job: &Job,
        region: Region,
        seed: u64,
        process: usize,
    ) -> Result<Self, String> {
        let mut keys = Stream::Keys.rng(seed, process);
        let sizes = Each::from_fn(|op| job.lengths(op).used());
        let way = if !job.rw.is_random() {
            Way::Sequential(Each::all(0))
        } else if job.covers() {
            covers(job, region, &sizes, &mut keys)?
        } else {
            let ops = job.rw.ops();
            let mut draw = |op| Draw::new(job, op, sizes.of(op), region.size, &mut keys);
            let draws = Each::from_fn(|op| ops.contains(&op).then(|| draw(op)));
            Way::Drawn(Box::new(draws))
        };
        Ok(Self {
            region,
            sizes,
            way,
            steer: (job.rw.is_random() && !job.is_drawn_throughout())
                .then(|| Steer::new(job, Stream::Steer.rng(seed, process))),
            skip: job.order.rw_skip,
            keys,
            place: Stream::Place.rng(seed, process),
            size: Stream::Size.rng(seed, process),
        })
    }

    /// Returns true if a place may repeat before all others were visited.
    pub(super) fn is_drawn(&self) -> bool {
        matches!(self.way, Way::Drawn(_))
    }

    /// Returns the memory of the random maps, in bytes.
    pub(super) fn map_bytes(&self) -> u64 {
        let Way::Covered { covers, .. } = &self.way else {
            return 0;
        };
        let bytes = |cover: &Cover| match cover {
            Cover::Dealt { .. } => 0,
            Cover::Mapped { map, .. } => map.units() / 8,
        };
        covers.iter().map(bytes).sum()
    }

    /// Starts a new pass: sequential jobs from the start of the region, random jobs in a new order.
    pub(super) fn reset(&mut self) {
        if let Some(steer) = &mut self.steer {
            steer.reset();
        }
        match &mut self.way {
            Way::Sequential(next) => *next = Each::all(0),
            Way::Covered { covers, .. } => {
                for cover in covers {
                    cover.reset(&mut self.keys);
                }
            }
            Way::Drawn(_) => {}
        }
    }

    /// Returns the offset and length of the next access, or `None` if nothing is left until [`Places::reset`].
    pub(super) fn next(&mut self, op: Op) -> Option<(u64, u64)> {
        let turn = match &mut self.steer {
            Some(steer) => steer.next(op, self.region.size),
            None => Turn::Drawn,
        };
        let (offset, len) = match self.there(op, turn) {
            Some(found) => found,
            None => self.drawn(op)?,
        };
        if let Some(steer) = &mut self.steer {
            steer.went(op, offset, len);
        }
        Some((self.region.offset + offset, len))
    }

    /// Makes a sequential job go on at this offset of the drive.
    pub(super) fn go_on_at(&mut self, op: Op, offset: u64) {
        if let Way::Sequential(next) = &mut self.way {
            *next.of_mut(op) = offset.saturating_sub(self.region.offset);
        }
    }

    /// Returns the offset and length of an access at the turn's offset, if the turn has one and a length fits there.
    fn there(&mut self, op: Op, turn: Turn) -> Option<(u64, u64)> {
        let Turn::At(offset) = turn else {
            return None;
        };
        let room = self.region.size.saturating_sub(offset);
        let len = self.sizes.of(op).fitting(room, &mut self.size)?;
        Some((offset, len))
    }

    /// Returns the offset, relative to the start of the region, and length of the next access, disregarding turns.
    fn drawn(&mut self, op: Op) -> Option<(u64, u64)> {
        let sizes = self.sizes.of(op);
        match &mut self.way {
            Way::Sequential(next) => {
                let next = next.of_mut(op);
                let offset = after_hole(*next, self.skip, self.region);
                let room = self.region.size.saturating_sub(offset);
                let len = sizes.fitting(room, &mut self.size)?;
                *next = offset + len;
                Some((offset, len))
            }
            Way::Covered { covers, of } => {
                let cover = covers.get_mut(*of.of(op))?;
                cover.next(sizes, &mut self.place, &mut self.size)
            }
            Way::Drawn(draws) => {
                let offset = draws.of(op).as_ref()?.place(&mut self.place);
                let len = sizes.fitting(self.region.size - offset, &mut self.size)?;
                Some((offset, len))
            }
        }
    }
}

/// Returns the start of a sequential access that skips `skip` bytes after the last access, which ended at `last`.
/// Beyond the end of the drive it wraps to the start. Beyond the end of a region that is only a part of the drive, or
/// if the last access ended exactly at the end of the region, the pass is over (fio 3.33, io_u.c,
/// `get_next_seq_offset`).
fn after_hole(last: u64, skip: u64, region: Region) -> u64 {
    match last.saturating_add(skip) {
        _ if last == 0 || last >= region.size => last,
        next if next >= region.size && region.whole => 0,
        next => next,
    }
}

/// Makes one cover for all operations if their smallest blocks are equal, otherwise one for each.
fn covers(job: &Job, region: Region, sizes: &Each<Lengths>, keys: &mut Rng) -> Result<Way, String> {
    let ops = job.rw.ops();
    let unit = job.shortest(ops[0]);
    if ops.iter().all(|&op| job.shortest(op) == unit) {
        let alike = ops.iter().all(|&op| sizes.of(op).are_all(unit));
        let cover = Cover::new(unit, alike, region.size, keys)?;
        return Ok(Way::Covered {
            covers: vec![cover],
            of: Each::all(0),
        });
    }
    let covers = ops
        .iter()
        .map(|&op| {
            let unit = job.shortest(op);
            Cover::new(unit, sizes.of(op).are_all(unit), region.size, keys)
        })
        .collect::<Result<Vec<_>, _>>()?;
    let index = |op: Op| ops.iter().position(|own| *own == op).unwrap_or(0);
    Ok(Way::Covered {
        covers,
        of: Each::from_fn(index),
    })
}
