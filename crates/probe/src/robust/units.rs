//! The likely sizes of clustered pages, and the unit of writes.

use crate::{Estimate, Parameter, Session};

/// The only prime factors of a clustered page: it is a power of two, times a number of planes and dies.
pub(crate) const PAGE_FACTORS: [u64; 3] = [2, 3, 5];

/// Returns the largest divisor of a size that has only the factors of clustered pages. If the size is a whole number of
/// clustered pages, so is this divisor.
pub(crate) fn page_part(size: u64) -> u64 {
    let (mut part, mut left) = (1, size.max(1));
    for factor in PAGE_FACTORS {
        while left.is_multiple_of(factor) {
            (part, left) = (part * factor, left / factor);
        }
    }
    part
}

/// Returns the unit in which writes should come: the clustered page if an earlier probe found it, else 16 KiB.
pub(crate) fn write_unit(session: &Session<'_>) -> u64 {
    let known = session
        .known(Parameter::ClusteredPage)
        .and_then(Estimate::bytes);
    session.space().round_up(known.unwrap_or(16 << 10))
}
