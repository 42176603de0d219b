//! Offsets of accesses: drawn from a pattern, continued from the end of a recent access, or repeated from a recent start.

use super::{Load, Pattern, Permutation, Zipf};
use fathom_base::Rng;

/// The state of a pattern; ranks count from 0.
#[derive(Clone, Debug)]
enum Ranks {
    Uniform,
    Sequential { next: u64 },
    Zipf(Zipf),
    HotCold { hot: u64, share: f64 },
    Pareto { power: f64 },
}

/// A pattern over the places of a range.
#[derive(Clone, Debug)]
pub(super) struct Places {
    start: u64,
    end: u64,
    align: u64,
    places: u64,
    ranks: Ranks,
    scatter: Option<Permutation>,
}

impl Places {
    /// Makes the places of a valid load ([`Load::check`]).
    pub(super) fn new(load: &Load, keys: &mut Rng) -> Self {
        let places = load.places();
        let (ranks, scatter) = match load.pattern {
            Pattern::Uniform => (Ranks::Uniform, false),
            Pattern::Sequential => {
                let next = load.range.start.0;
                (Ranks::Sequential { next }, false)
            }
            Pattern::Zipf { theta, scatter } => (Ranks::Zipf(Zipf::new(places, theta)), scatter),
            Pattern::HotCold {
                accesses_percent,
                space_percent,
                scatter,
            } => {
                let hot = (places as f64 * space_percent / 100.0).round() as u64;
                let hot = hot.clamp(1, places);
                // If everything is hot there are no cold places.
                let share = if hot == places {
                    1.0
                } else {
                    accesses_percent / 100.0
                };
                (Ranks::HotCold { hot, share }, scatter)
            }
            Pattern::Pareto {
                space_percent,
                scatter,
            } => {
                let h = space_percent / 100.0;
                let power = h.ln() / (1.0 - h).ln();
                (Ranks::Pareto { power }, scatter)
            }
        };
        Self {
            start: load.range.start.0,
            end: load.range.start.0 + load.range.len.0,
            align: load.align.0,
            places,
            ranks,
            scatter: scatter.then(|| Permutation::new(places, keys)),
        }
    }

    /// Returns true if the access lies in the range.
    #[inline]
    pub(super) fn fits(&self, offset: u64, len: u64) -> bool {
        offset
            .checked_add(len)
            .is_some_and(|access_end| access_end <= self.end)
    }

    /// Rounds `offset` up to a multiple of `align`.
    #[inline]
    pub(super) fn aligned(&self, offset: u64) -> u64 {
        offset
            .checked_next_multiple_of(self.align)
            .unwrap_or(u64::MAX)
    }

    /// Draws an offset from the pattern, for an access of `len` bytes.
    #[inline]
    pub(super) fn draw(&mut self, len: u64, rng: &mut Rng) -> u64 {
        let rank = match &mut self.ranks {
            Ranks::Uniform => rng.below(self.places),
            Ranks::Sequential { next } => {
                let at = *next;
                return self.go_on(at, len);
            }
            Ranks::Zipf(zipf) => zipf.draw(rng) - 1,
            &mut Ranks::HotCold { hot, share } => {
                if rng.chance(share) {
                    rng.below(hot)
                } else {
                    hot + rng.below(self.places - hot)
                }
            }
            Ranks::Pareto { power } => {
                let rank = self.places as f64 * rng.uniform().powf(*power);
                (rank as u64).min(self.places - 1)
            }
        };
        let place = self
            .scatter
            .as_ref()
            .map_or(rank, |scatter| scatter.of(rank));
        self.start + place * self.align
    }

    fn go_on(&mut self, at: u64, len: u64) -> u64 {
        let at = if self.fits(at, len) { at } else { self.start };
        self.ranks = Ranks::Sequential {
            next: self.aligned(at.saturating_add(len)),
        };
        at
    }
}

/// A ring buffer of the last `depth` items.
#[derive(Clone, Debug)]
struct Ring {
    items: Vec<u64>,
    depth: usize,
    /// Index of the slot that is overwritten next.
    next: usize,
}

impl Ring {
    fn new(depth: u32) -> Self {
        Self {
            items: Vec::new(),
            depth: depth as usize,
            next: 0,
        }
    }

    #[inline]
    fn push(&mut self, item: u64) {
        match self.items.get_mut(self.next) {
            Some(slot) => *slot = item,
            None => self.items.push(item),
        }
        self.next = (self.next + 1) % self.depth;
    }

    /// Returns the item pushed `back` pushes ago; 1 is the last one.
    fn back(&self, back: usize) -> Option<u64> {
        if back == 0 || back > self.items.len() {
            return None;
        }
        let index = (self.next + self.items.len() - back) % self.items.len();
        self.items.get(index).copied()
    }
}

/// The ends of the last accesses of a side that no access has continued yet.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    /// One slot for each of the last accesses; the oldest is overwritten first.
    slots: Vec<Option<u64>>,
    next: usize,
    open: u64,
}

impl Ends {
    pub(super) fn new(depth: u32) -> Self {
        Self {
            slots: vec![None; depth as usize],
            next: 0,
            open: 0,
        }
    }

    /// Records the end of an access, or `None` if it must not be continued.
    #[inline]
    pub(super) fn push(&mut self, end: Option<u64>) {
        let slot = &mut self.slots[self.next];
        self.open = self.open + u64::from(end.is_some()) - u64::from(slot.is_some());
        *slot = end;
        self.next = (self.next + 1) % self.slots.len();
    }

    /// Takes an end: the first at or after a random slot.
    pub(super) fn take(&mut self, rng: &mut Rng) -> Option<u64> {
        if self.open == 0 {
            return None;
        }
        let first = rng.below(self.slots.len() as u64) as usize;
        let (behind, from) = self.slots.split_at_mut(first);
        self.open -= 1;
        from.iter_mut().chain(behind).find_map(Option::take)
    }
}

/// The starts that can be repeated.
#[derive(Clone, Debug)]
pub(super) struct Starts(Ring);

impl Starts {
    pub(super) fn new(depth: u32) -> Self {
        Self(Ring::new(depth))
    }

    #[inline]
    pub(super) fn push(&mut self, start: u64) {
        self.0.push(start);
    }

    /// Picks a start at a log-uniform distance: half of the distances are below the square root of the depth.
    pub(super) fn pick(&self, rng: &mut Rng) -> Option<u64> {
        let back = ((self.0.depth as f64 + 1.0).ln() * rng.uniform()).exp();
        self.0.back((back as usize).clamp(1, self.0.depth))
    }
}
