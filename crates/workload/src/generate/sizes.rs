//! Lengths of accesses. They are drawn by weight in constant time with the alias method (M. D. Vose, "A linear
//! algorithm for generating random numbers with a given distribution", IEEE Transactions on Software Engineering
//! 17(9), 1991).

use fathom_base::{Bytes, Rng};
use serde::{Deserialize, Serialize};

/// A length and its weight.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// The length of an access, at least one byte.
    pub bytes: Bytes,
    /// Its share of the accesses, relative to the other weights; finite and not negative.
    pub weight: f64,
}

/// Lengths of accesses: one (`"4KiB"`), or several with weights (`[{ bytes = "4KiB", weight = 9 }, ...]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "lengths are one, such as \"4KiB\", or a list of { bytes = \"4KiB\", weight = 9 }"
)]
pub enum Sizes {
    /// A single length.
    One(Bytes),
    /// Several lengths, drawn by weight.
    Weighted(Vec<Size>),
}

impl Sizes {
    /// Makes sizes from lengths in bytes and their weights.
    pub fn weighted(sizes: &[(u64, f64)]) -> Self {
        let size = |&(bytes, weight)| Size {
            bytes: Bytes(bytes),
            weight,
        };
        Self::Weighted(sizes.iter().map(size).collect())
    }

    /// Returns the lengths with their weights.
    pub fn list(&self) -> Vec<Size> {
        match self {
            &Self::One(bytes) => vec![Size { bytes, weight: 1.0 }],
            Self::Weighted(sizes) => sizes.clone(),
        }
    }

    /// Returns the weighted mean length in bytes.
    pub fn mean(&self) -> f64 {
        let sizes = self.list();
        let total: f64 = sizes.iter().map(|size| size.weight).sum();
        let bytes = |size: &Size| size.bytes.0 as f64 * size.weight;
        sizes.iter().map(bytes).sum::<f64>() / total
    }

    /// Returns the longest length, in bytes.
    pub(super) fn longest(&self) -> u64 {
        let sizes = self.list();
        sizes.iter().map(|size| size.bytes.0).max().unwrap_or(0)
    }

    pub(super) fn check(&self) -> Result<(), &'static str> {
        let sizes = self.list();
        if sizes.iter().any(|size| size.bytes.0 == 0) {
            return Err("a length is zero: give at least one sector, such as 512B");
        }
        let usable = |size: &Size| size.weight.is_finite() && size.weight >= 0.0;
        let total: f64 = sizes.iter().map(|size| size.weight).sum();
        if !(sizes.iter().all(usable) && total > 0.0 && total.is_finite()) {
            return Err("weights of lengths must be finite, not negative, and not all zero");
        }
        if u32::try_from(sizes.len()).is_err() {
            return Err("too many lengths");
        }
        Ok(())
    }
}

/// A column of the alias table: its own length with probability `own`, otherwise the other length.
#[derive(Clone, Copy, Debug)]
struct Column {
    bytes: u64,
    own: f64,
    other: u64,
}

/// The alias table of a set of lengths.
#[derive(Clone, Debug)]
pub(super) struct SizeTable(Vec<Column>);

impl SizeTable {
    /// Builds the table from valid lengths ([`super::Load::check`]).
    pub(super) fn new(sizes: &Sizes) -> Self {
        let mut sizes = sizes.list();
        sizes.retain(|size| size.weight > 0.0);
        let mean = sizes.iter().map(|size| size.weight).sum::<f64>() / sizes.len() as f64;
        let mut shares: Vec<f64> = sizes.iter().map(|size| size.weight / mean).collect();
        let mut columns: Vec<Column> = sizes
            .iter()
            .map(|size| Column {
                bytes: size.bytes.0,
                own: 1.0,
                other: size.bytes.0,
            })
            .collect();
        let (mut short, mut tall): (Vec<usize>, Vec<usize>) =
            (0..shares.len()).partition(|&index| shares[index] < 1.0);
        // Columns left over at the end, because of rounding, keep their own length.
        while let (Some(&low), Some(&high)) = (short.last(), tall.last()) {
            short.pop();
            columns[low].own = shares[low];
            columns[low].other = columns[high].bytes;
            shares[high] -= 1.0 - shares[low];
            if shares[high] < 1.0 {
                tall.pop();
                short.push(high);
            }
        }
        Self(columns)
    }

    /// Draws a length in bytes.
    #[inline]
    pub(super) fn draw(&self, rng: &mut Rng) -> u64 {
        match &self.0[..] {
            [] => 0,
            [only] => only.bytes,
            columns => {
                let column = columns[rng.below(columns.len() as u64) as usize];
                if rng.chance(column.own) {
                    column.bytes
                } else {
                    column.other
                }
            }
        }
    }
}
