//! Offsets of accesses: drawn from a pattern, continued from the end of a recent access, or repeated from a recent start.

use super::{Load, Pattern, Permutation, Zipf};
use fathom_base::Rng;

/// The ranks of a distribution, from 0.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ranks {
    Uniform,
    Zipf(Zipf),
    HotCold { hot: u64, share: f64 },
    Pareto { power: f64 },
}

impl Ranks {
    /// Makes the self-similar ranks where a share `h` of them receives `1 - h` of the draws.
    pub(crate) fn pareto(h: f64) -> Self {
        let power = h.ln() / (1.0 - h).ln();
        Self::Pareto { power }
    }

    /// Draws one of `places` ranks.
    #[inline]
    pub(crate) fn draw(&self, places: u64, rng: &mut Rng) -> u64 {
        match self {
            Ranks::Uniform => rng.below(places),
            Ranks::Zipf(zipf) => zipf.draw(rng) - 1,
            &Ranks::HotCold { hot, share } => {
                if rng.chance(share) {
                    rng.below(hot)
                } else {
                    hot + rng.below(places - hot)
                }
            }
            Ranks::Pareto { power } => {
                let rank = places as f64 * rng.uniform().powf(*power);
                (rank as u64).min(places - 1)
            }
        }
    }
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
    /// The start of the next access, if accesses follow each other.
    next: Option<u64>,
}

impl Places {
    /// Makes the places of a valid load ([`Load::check`]).
    pub(super) fn new(load: &Load, keys: &mut Rng) -> Self {
        let places = load.places();
        let (ranks, scatter) = match load.pattern {
            Pattern::Uniform | Pattern::Sequential => (Ranks::Uniform, false),
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
            } => (Ranks::pareto(space_percent / 100.0), scatter),
        };
        Self {
            start: load.range.start.0,
            end: load.range.start.0 + load.range.len.0,
            align: load.align.0,
            places,
            ranks,
            scatter: scatter.then(|| Permutation::new(places, keys)),
            next: (load.pattern == Pattern::Sequential).then_some(load.range.start.0),
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
    #[inline(always)]
    pub(super) fn draw(&mut self, len: u64, rng: &mut Rng) -> u64 {
        if let Some(at) = self.next {
            return self.go_on(at, len);
        }
        let rank = self.ranks.draw(self.places, rng);
        let place = self
            .scatter
            .as_ref()
            .map_or(rank, |scatter| scatter.of(rank));
        self.start + place * self.align
    }

    fn go_on(&mut self, at: u64, len: u64) -> u64 {
        let at = if self.fits(at, len) { at } else { self.start };
        self.next = Some(self.aligned(at.saturating_add(len)));
        at
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

/// The starts that can be repeated: a ring buffer of the last `depth`.
#[derive(Clone, Debug)]
pub(super) struct Starts {
    starts: Vec<u64>,
    depth: usize,
    /// Index of the slot that is overwritten next.
    next: usize,
}

impl Starts {
    pub(super) fn new(depth: u32) -> Self {
        Self {
            starts: Vec::new(),
            depth: depth as usize,
            next: 0,
        }
    }

    #[inline]
    pub(super) fn push(&mut self, start: u64) {
        match self.starts.get_mut(self.next) {
            Some(slot) => *slot = start,
            None => self.starts.push(start),
        }
        self.next = (self.next + 1) % self.depth;
    }

    /// Picks a start at a log-uniform distance: half of the distances are below the square root of the depth.
    pub(super) fn pick(&self, rng: &mut Rng) -> Option<u64> {
        let back = ((self.depth as f64 + 1.0).ln() * rng.uniform()).exp();
        let back = (back as usize).clamp(1, self.depth);
        let held = self.starts.len();
        let index = (self.next + held).checked_sub(back)?.checked_rem(held)?;
        self.starts.get(index).copied().filter(|_| back <= held)
    }
}
