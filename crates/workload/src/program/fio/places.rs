//! Where the accesses of a process go, and how long they are there.
//!
//! Sequential jobs go on behind the last access of the same operation. Random jobs cover every block once before they
//! come back to one: where all lengths are the same, by a bijection in constant memory; otherwise with a map of what
//! was taken, as fio has it, at which an access ends early. Without a random map, places are drawn one by one.

use super::job::{Distribution, Each, Job, Split};
use super::map::Map;
use super::region::Region;
use crate::generate::{Permutation, Zipf};
use fathom_base::Rng;
use fathom_block::Op;

/// The most that the maps of a process may take, in bytes, and those of a run.
pub(super) const MAP_BYTES_MAX: u64 = 1 << 29;

/// How places are found.
#[derive(Clone, Debug)]
enum Way {
    /// Where the next access of each operation begins, from the start of the region.
    Sequential(Each<u64>),
    /// One cover for all operations, or one for each.
    Covered { covers: Vec<Cover>, of: Each<usize> },
    /// For the operations of the job.
    Drawn(Box<Each<Option<Draw>>>),
}

/// Every unit of a region once.
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

#[derive(Clone, Copy, Debug)]
enum Ranks {
    Uniform,
    Zipf(Zipf),
    Pareto { power: f64 },
}

/// Places that are independent of each other.
#[derive(Clone, Copy, Debug)]
struct Draw {
    align: u64,
    places: u64,
    ranks: Ranks,
    /// Deals the ranks over the region, so that what is used often does not lie side by side.
    scatter: Permutation,
}

/// The places of a process.
#[derive(Clone, Debug)]
pub(super) struct Places {
    region: Region,
    sizes: Each<Vec<Split>>,
    way: Way,
    keys: Rng,
    place: Rng,
    size: Rng,
}

/// A length that fits into `room`, by its percentage among those that do.
fn fitting(sizes: &[Split], room: u64, rng: &mut Rng) -> Option<u64> {
    let fits = |split: &&Split| split.bytes <= room;
    let total = sizes
        .iter()
        .filter(fits)
        .map(|s| u64::from(s.percent))
        .sum();
    let mut drawn = rng.below(total);
    for split in sizes.iter().filter(fits) {
        match drawn.checked_sub(u64::from(split.percent)) {
            Some(left) => drawn = left,
            None => return Some(split.bytes),
        }
    }
    None
}

impl Cover {
    fn new(unit: u64, sizes: &[Split], size: u64, keys: &mut Rng) -> Result<Self, String> {
        let units = size / unit;
        if sizes.iter().all(|split| split.bytes == unit) {
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

    /// The next place and how long an access there is; `None` once all is covered.
    fn next(&mut self, sizes: &[Split], place: &mut Rng, size: &mut Rng) -> Option<(u64, u64)> {
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
                // Where only longer ones are asked for, the end of the region is covered by what is left.
                let len = fitting(sizes, room, size).unwrap_or(room);
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
    fn new(job: &Job, op: Op, sizes: &[Split], size: u64, keys: &mut Rng) -> Self {
        let align = job.align(op);
        let shortest = sizes.iter().map(|split| split.bytes).min().unwrap_or(1);
        let places = size.saturating_sub(shortest) / align + 1;
        let ranks = match job.random_distribution {
            Distribution::Random => Ranks::Uniform,
            Distribution::Zipf(theta) => Ranks::Zipf(Zipf::new(places, theta)),
            Distribution::Pareto(h) => Ranks::Pareto {
                power: h.ln() / (1.0 - h).ln(),
            },
        };
        Self {
            align,
            places,
            ranks,
            scatter: Permutation::new(places, keys),
        }
    }

    fn place(&self, rng: &mut Rng) -> u64 {
        let rank = match &self.ranks {
            Ranks::Uniform => return rng.below(self.places) * self.align,
            Ranks::Zipf(zipf) => zipf.draw(rng) - 1,
            Ranks::Pareto { power } => {
                let rank = self.places as f64 * rng.uniform().powf(*power);
                (rank as u64).min(self.places - 1)
            }
        };
        self.scatter.of(rank) * self.align
    }
}

/// What each stream of random numbers is for.
#[derive(Clone, Copy)]
pub(super) enum Stream {
    Mix = 0,
    Size = 1,
    Place = 2,
    Keys = 3,
    Content = 4,
}

impl Stream {
    /// The stream of a process.
    pub(super) fn rng(self, seed: u64, process: usize) -> Rng {
        Rng::new(seed, process as u64 * 8 + self as u64)
    }
}

impl Places {
    /// For a region that is right for the job ([`Job::resolve`]).
    pub(super) fn new(
        job: &Job,
        region: Region,
        seed: u64,
        process: usize,
    ) -> Result<Self, String> {
        let mut keys = Stream::Keys.rng(seed, process);
        let used = |op| {
            let sizes = job.sizes(op).into_iter();
            sizes.filter(|split| split.percent > 0).collect::<Vec<_>>()
        };
        let sizes = Each::from_fn(used);
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
            keys,
            place: Stream::Place.rng(seed, process),
            size: Stream::Size.rng(seed, process),
        })
    }

    /// Whether a place may come again before the others have come.
    pub(super) fn is_drawn(&self) -> bool {
        matches!(self.way, Way::Drawn(_))
    }

    /// What its maps take, in bytes.
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

    /// Begins from the start, or with an order of its own.
    pub(super) fn reset(&mut self) {
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

    /// Offset and length of the next access; `None` where nothing is left until [`Places::reset`].
    pub(super) fn next(&mut self, op: Op) -> Option<(u64, u64)> {
        let sizes = self.sizes.of(op);
        let (offset, len) = match &mut self.way {
            Way::Sequential(next) => {
                let next = next.of_mut(op);
                let len = fitting(sizes, self.region.size - *next, &mut self.size)?;
                let offset = *next;
                *next += len;
                (offset, len)
            }
            Way::Covered { covers, of } => {
                let cover = covers.get_mut(*of.of(op))?;
                cover.next(sizes, &mut self.place, &mut self.size)?
            }
            Way::Drawn(draws) => {
                let offset = draws.of(op).as_ref()?.place(&mut self.place);
                (
                    offset,
                    fitting(sizes, self.region.size - offset, &mut self.size)?,
                )
            }
        };
        Some((self.region.offset + offset, len))
    }
}

/// One cover for all operations that have the same smallest block, and otherwise one for each.
fn covers(
    job: &Job,
    region: Region,
    sizes: &Each<Vec<Split>>,
    keys: &mut Rng,
) -> Result<Way, String> {
    let ops = job.rw.ops();
    let unit = job.shortest(ops[0]);
    if ops.iter().all(|&op| job.shortest(op) == unit) {
        let all: Vec<Split> = ops.iter().flat_map(|&op| sizes.of(op).clone()).collect();
        let cover = Cover::new(unit, &all, region.size, keys)?;
        return Ok(Way::Covered {
            covers: vec![cover],
            of: Each::all(0),
        });
    }
    let covers = ops
        .iter()
        .map(|&op| Cover::new(job.shortest(op), sizes.of(op), region.size, keys))
        .collect::<Result<Vec<_>, _>>()?;
    let index = |op: Op| ops.iter().position(|own| *own == op).unwrap_or(0);
    Ok(Way::Covered {
        covers,
        of: Each::from_fn(index),
    })
}
