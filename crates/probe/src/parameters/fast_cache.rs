//! The fast cache: blocks with one bit per cell (SLC mode) that take writes before the others do.

mod curve;
mod measure;
mod robust;

use crate::about::{Figure, Mark, X};
use crate::{About, Look, Series, Unit};

pub(crate) const ABOUT: About = About {
    unit: Unit::Bytes,
    question: "After how many bytes do writes get slower, and when is the drive fast again?",
    page: include_str!("../../../../docs/parameters/fast_cache.md"),
    writes: true,
    looks_at: &[],
    marks: None,
    figures: FIGURES,
    robust: &robust::FastCache,
    rules: &[],
    fits,
};

/// Pieces of a fill in sequence: of an empty drive, and again.
pub(crate) const EMPTY: Series = Series::new("empty");
pub(crate) const AGAIN: Series = Series::new("again");
/// Pieces that follow after a pause of an exhausted cache, by the length of the pause in seconds.
pub(crate) const AFTER: [Series; 4] = [
    Series::new("after_1_s"),
    Series::new("after_10_s"),
    Series::new("after_60_s"),
    Series::new("after_600_s"),
];
/// Pieces from half full and from nearly full on.
pub(crate) const HALF: Series = Series::new("half_full");
pub(crate) const NEARLY: Series = Series::new("nearly_full");
/// Reads of the slow pieces at once, and after a pause.
pub(crate) const READ_HOT: Series = Series::new("read_hot");
pub(crate) const READ_COOL: Series = Series::new("read_cool");

fn fits(look: &Look) -> Result<(), &'static str> {
    match () {
        () if look.read_only => Err("nothing may be written, so no cache can be filled"),
        () if look.rotational == Some(true) => Err("a disk with a head has no flash"),
        () => Ok(()),
    }
}

const FIGURES: &[Figure] = &[
    Figure {
        x: X::WrittenBefore,
        ..Figure::throughput(
            "Throughput of a fill in sequence over the bytes written",
            "Look for a level that drops for good{at}: up to there the fast cache takes the writes.",
            &[
                (EMPTY, "An empty drive"),
                (HALF, "From half full on"),
                (NEARLY, "From nine tenths on"),
            ],
        )
    },
    Figure {
        x: X::WrittenBefore,
        mark: Mark::Nothing,
        ..Figure::throughput(
            "Throughput after a pause of an exhausted cache",
            "The longer a curve stays high, the more of the cache the pause has given back.",
            &[
                (AFTER[0], "After 1 s"),
                (AFTER[1], "After 10 s"),
                (AFTER[2], "After 60 s"),
                (AFTER[3], "After 600 s"),
            ],
        )
    },
];
