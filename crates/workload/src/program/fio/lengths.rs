//! Lengths of accesses: given lengths with percentages, or any multiple of the smallest length in a range.

use fathom_base::Rng;

/// A length of `bssplit` with its percentage of the accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// The length in bytes, above 0.
    pub bytes: u64,
    /// The percentage, in 0..=100.
    pub percent: u32,
}

/// `bsrange`: the multiples of `least` up to `most`, all equally likely; `most` is one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// The shortest length, in bytes; 0 if the operation has no range and `bs` applies.
    pub least: u64,
    /// The longest length, in bytes.
    pub most: u64,
}

/// The lengths of one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// Lengths with percentages that add up to 100.
    Shares(Vec<Split>),
    /// Lengths of a `bsrange`.
    Range(Range),
}

impl Default for Lengths {
    fn default() -> Self {
        Self::Shares(Vec::new())
    }
}

impl Lengths {
    /// Makes a single length.
    pub(super) fn one(bytes: u64) -> Self {
        Self::Shares(vec![Split {
            bytes,
            percent: 100,
        }])
    }

    /// Returns the shortest length in bytes, even if its percentage is zero.
    pub fn shortest(&self) -> u64 {
        match self {
            Self::Shares(splits) => splits.iter().map(|split| split.bytes).min().unwrap_or(1),
            Self::Range(range) => range.least,
        }
    }

    /// Returns the longest length with a percentage above zero, in bytes.
    pub fn longest(&self) -> u64 {
        match self {
            Self::Shares(splits) => {
                let used = splits.iter().filter(|split| split.percent > 0);
                used.map(|split| split.bytes).max().unwrap_or(1)
            }
            Self::Range(range) => range.most,
        }
    }

    /// Returns a length that is not a multiple of `unit`, if there is one.
    pub fn odd(&self, unit: u64) -> Option<u64> {
        let odd = |bytes: &u64| !bytes.is_multiple_of(unit.max(1));
        match self {
            Self::Shares(splits) => splits.iter().map(|split| split.bytes).find(odd),
            Self::Range(range) => [range.least, range.most].into_iter().find(odd),
        }
    }

    /// Removes the lengths whose percentage is zero.
    pub(super) fn used(self) -> Self {
        match self {
            Self::Shares(mut splits) => {
                splits.retain(|split| split.percent > 0);
                Self::Shares(splits)
            }
            range => range,
        }
    }

    /// Returns true if all lengths are `unit`.
    pub(super) fn are_all(&self, unit: u64) -> bool {
        match self {
            Self::Shares(splits) => splits.iter().all(|split| split.bytes == unit),
            Self::Range(range) => (range.least, range.most) == (unit, unit),
        }
    }

    /// Draws a length that fits in `room`, by the percentages of those that do. fio redraws until one fits, which gives
    /// the same distribution.
    pub(super) fn fitting(&self, room: u64, rng: &mut Rng) -> Option<u64> {
        let splits = match self {
            Self::Shares(splits) => splits,
            Self::Range(range) => {
                let multiples = range.most.min(room) / range.least.max(1);
                return (multiples > 0).then(|| (1 + rng.below(multiples)) * range.least);
            }
        };
        let fits = |split: &&Split| split.bytes <= room;
        let total = splits
            .iter()
            .filter(fits)
            .map(|s| u64::from(s.percent))
            .sum();
        let mut drawn = rng.below(total);
        for split in splits.iter().filter(fits) {
            match drawn.checked_sub(u64::from(split.percent)) {
                Some(left) => drawn = left,
                None => return Some(split.bytes),
            }
        }
        None
    }
}
