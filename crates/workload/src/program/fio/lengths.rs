//! How long accesses are: shares of given lengths, or any multiple of the smallest within a range.

use fathom_base::Rng;

/// A length of `bssplit` and how many of a hundred accesses have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// In bytes, above 0.
    pub bytes: u64,
    /// In 0..=100.
    pub percent: u32,
}

/// `bsrange`: the multiples of `least` up to `most`, which is one, all alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// The shortest, in bytes; 0 where an operation has none, and `bs` stands.
    pub least: u64,
    /// The longest, in bytes.
    pub most: u64,
}

/// The lengths of one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// With their shares, which add up to 100.
    Shares(Vec<Split>),
    /// As `bsrange` says.
    Range(Range),
}

impl Default for Lengths {
    fn default() -> Self {
        Self::Shares(Vec::new())
    }
}

impl Lengths {
    /// One length.
    pub(super) fn one(bytes: u64) -> Self {
        Self::Shares(vec![Split {
            bytes,
            percent: 100,
        }])
    }

    /// The shortest, in bytes, whether or not it has a share.
    pub fn shortest(&self) -> u64 {
        match self {
            Self::Shares(splits) => splits.iter().map(|split| split.bytes).min().unwrap_or(1),
            Self::Range(range) => range.least,
        }
    }

    /// The longest that has a share, in bytes.
    pub fn longest(&self) -> u64 {
        match self {
            Self::Shares(splits) => {
                let used = splits.iter().filter(|split| split.percent > 0);
                used.map(|split| split.bytes).max().unwrap_or(1)
            }
            Self::Range(range) => range.most,
        }
    }

    /// A length that is no multiple of `unit`, if any is.
    pub fn odd(&self, unit: u64) -> Option<u64> {
        let odd = |bytes: &u64| !bytes.is_multiple_of(unit.max(1));
        match self {
            Self::Shares(splits) => splits.iter().map(|split| split.bytes).find(odd),
            Self::Range(range) => [range.least, range.most].into_iter().find(odd),
        }
    }

    /// The same without those that have no share.
    pub(super) fn used(self) -> Self {
        match self {
            Self::Shares(mut splits) => {
                splits.retain(|split| split.percent > 0);
                Self::Shares(splits)
            }
            range => range,
        }
    }

    /// Whether all are `unit` long.
    pub(super) fn are_all(&self, unit: u64) -> bool {
        match self {
            Self::Shares(splits) => splits.iter().all(|split| split.bytes == unit),
            Self::Range(range) => (range.least, range.most) == (unit, unit),
        }
    }

    /// A length that fits into `room`, by its share among those that do. fio draws until one fits, which is the same.
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
