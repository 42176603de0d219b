//! Ground truth of the indirection unit: the mapping unit of a page-mapped drive.
//!
//! A write that covers a part of a unit makes the drive read the rest first ([`super::mapping_unit`]). Where blocks are
//! merged the same holds, but a merge takes many times as long as the read and comes at the same places, so that no more
//! than a faint difference is left.

use super::clustered_page::mapping_unit;
use super::right::{Sight, Truth};
use fathom_ssd::Spec;

pub(super) fn truth(spec: &Spec) -> Truth {
    let truth = mapping_unit(spec);
    match truth.sight == Sight::Identifiable && !spec.mapping.kind.is_paged() {
        true => Truth::new(
            Sight::Faint,
            truth.right,
            "merges take far longer than what completes a unit",
        ),
        false => truth,
    }
}
