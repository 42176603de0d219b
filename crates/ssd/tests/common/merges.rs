//! A group of 16 data blocks of eight pages, written page by page: merges can be counted by hand.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use super::{base, run};
use fathom_base::Bytes;
use fathom_block::{Op, Request};
use fathom_ssd::spec::MappingKind;
use fathom_ssd::{MergeCounts, Spec, Ssd};

pub(crate) const PAGES: u64 = 8;
pub(crate) const PAGE: u64 = 4096;

/// One group of 16 data blocks and `log_blocks` log blocks.
pub(crate) fn spec(kind: MappingKind, log_blocks: u32) -> Spec {
    let mut spec = base();
    (spec.mapping.kind, spec.mapping.log_blocks) = (kind, log_blocks);
    spec.capacity = Bytes(spec.flash.clustered_block.0 * 16);
    assert_eq!(spec.flash.clustered_page.0, PAGE);
    assert_eq!(spec.flash.clustered_block.0, PAGES * PAGE);
    spec
}

/// Writes pages, given as (data block, page), one after another.
pub(crate) fn write(drive: &mut Ssd, pages: impl IntoIterator<Item = (u64, u64)>) -> MergeCounts {
    let requests = pages
        .into_iter()
        .map(|(b, p)| Request::new(1, Op::Write, (b * PAGES + p) * PAGE, PAGE));
    run(drive, 1, requests);
    drive.check().unwrap();
    drive.merges()
}

/// The pages of a data block, in order.
pub(crate) fn whole(b: u64) -> impl DoubleEndedIterator<Item = (u64, u64)> {
    (0..PAGES).map(move |p| (b, p))
}
