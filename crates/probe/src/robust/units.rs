//! What clustered pages are like, and how writes keep to them.

use crate::{Estimate, Parameter, Session};

/// Clustered pages have no other prime factors: a power of two, over some planes and dies.
pub(crate) const PAGE_FACTORS: [u64; 3] = [2, 3, 5];

/// All that a size has of the factors of clustered pages. Where it is a whole number of them, this is, too.
pub(crate) fn page_part(size: u64) -> u64 {
    let (mut part, mut left) = (1, size.max(1));
    for factor in PAGE_FACTORS {
        while left.is_multiple_of(factor) {
            (part, left) = (part * factor, left / factor);
        }
    }
    part
}

/// The unit that writes should come in: the clustered page if an earlier probe knows it, else 16 KiB.
pub(crate) fn write_unit(session: &Session<'_>) -> u64 {
    let known = session
        .known(Parameter::ClusteredPage)
        .and_then(Estimate::bytes);
    session.space().round_up(known.unwrap_or(16 << 10))
}
