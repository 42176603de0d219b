//! The places that the procedures use, and how the procedures are scaled down to a drive smaller than the papers'.
//!
//! The papers' drives hold 32 GB and more, and their offsets reach 17 GB. Only here the procedures differ from print:
//! - totals are at most the region (`TSW = min(8 GiB, region)`), and growing offsets wrap around in it;
//! - the largest request of a throughput curve is an eighth of the total, so that every size has more than one request;
//! - reads are as printed if there are 17 GiB; otherwise the read places are slots in the lower half and the garbage slots
//!   are in the upper half, each of 16 MiB or half the region;
//! - writes: the 16 MB of garbage are in the second slot of 16 MiB, or of a quarter of the region;
//! - sizes are multiples of the logical block, and none is larger than its slot;
//! - `thin` multiplies the increments and divides repetitions and totals, for quick comparisons; 1 is as printed.

use crate::space::Space;
use std::ops::Range;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
/// The papers' 16 MB, larger than any buffer they assume.
const SLOT_BYTES: u64 = 16 * MIB;
/// Number of read places: `R % 63`.
const TARGET_SLOTS: u64 = 63;
/// Number of garbage slots: `R % 1,024`.
const GARBAGE_SLOTS: u64 = 1_024;

/// Slots for reads (Procedures 3 and 4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadPlaces {
    pub(crate) slot_bytes: u64,
    pub(crate) target_start: u64,
    pub(crate) target_slots: u64,
    pub(crate) garbage_start: u64,
    pub(crate) garbage_slots: u64,
}

impl Space {
    fn whole_blocks(&self, bytes: u64) -> u64 {
        (bytes / self.block_bytes * self.block_bytes).max(self.block_bytes)
    }

    /// `TSW` of a throughput curve, in bytes, scaled.
    pub(crate) fn total(&self, printed: u64) -> u64 {
        self.whole_blocks(printed.min(self.bytes()) / u64::from(self.thin))
    }

    /// `NI`, scaled.
    pub(crate) fn repetitions(&self, printed: u32) -> u32 {
        (printed / self.thin).max(1)
    }

    /// Returns the sizes of `while S <= TS: S = S + IS`, which end one increment above the total, as printed; none is above
    /// `limit`.
    pub(crate) fn sizes(&self, total: u64, increment: u64, limit: u64) -> Vec<u64> {
        let thinned = increment.saturating_mul(u64::from(self.thin));
        let increment = thinned.next_multiple_of(self.block_bytes).max(1);
        let steps = 1..=total / increment + 1;
        let sizes = steps.map(|n| n * increment);
        sizes.take_while(|size| *size <= limit).collect()
    }

    /// Returns the sizes of a throughput curve: doubling from `first` to `largest`.
    pub(crate) fn doubling(&self, first: u64, largest: u64, total: u64) -> Vec<u64> {
        let first = first.max(self.block_bytes);
        let largest = largest.min(total / 8);
        let sizes = std::iter::successors(Some(first), |size| size.checked_mul(2));
        sizes.take_while(|size| *size <= largest).collect()
    }

    /// Returns the offset of the `index`-th of consecutive requests of `len` bytes, wrapping around in the region.
    pub(crate) fn consecutive(&self, index: u64, len: u64) -> u64 {
        let places = (self.bytes() / len.max(1)).max(1);
        self.region.start + index % places * len
    }

    /// Returns the slots for reads.
    pub(crate) fn read_places(&self) -> ReadPlaces {
        let start = self.region.start;
        if self.bytes() >= GIB + GARBAGE_SLOTS * SLOT_BYTES {
            return ReadPlaces {
                slot_bytes: SLOT_BYTES,
                target_start: start,
                target_slots: TARGET_SLOTS,
                garbage_start: start + GIB,
                garbage_slots: GARBAGE_SLOTS,
            };
        }
        let half = self.whole_blocks(self.bytes() / 2);
        let slot_bytes = half.min(SLOT_BYTES);
        ReadPlaces {
            slot_bytes,
            target_start: start,
            target_slots: TARGET_SLOTS.min(half / slot_bytes),
            garbage_start: start + half,
            garbage_slots: GARBAGE_SLOTS.min(half / slot_bytes),
        }
    }

    /// Returns slot `index` (0 to 3) for writes: slot 0 takes the measured writes, slot 1 the garbage (Procedure 6).
    pub(crate) fn write_slot(&self, index: u64) -> Range<u64> {
        let slot_bytes = self.whole_blocks(self.bytes() / 4).min(SLOT_BYTES);
        let start = self.region.start + index * slot_bytes;
        start..start + slot_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(bytes: u64, thin: u32) -> Space {
        Space {
            region: 0..bytes,
            block_bytes: 512,
            thin,
            level: crate::record::Level::Full,
        }
    }

    #[test]
    fn a_drive_of_the_papers_size_is_used_as_printed() {
        let drive = space(32 * GIB, 1);
        let places = drive.read_places();
        assert_eq!(places.garbage_start, 1024 * 1024 * 1024);
        assert_eq!((places.target_slots, places.garbage_slots), (63, 1024));
        assert_eq!(drive.write_slot(1), 16 << 20..32 << 20);
        assert_eq!(drive.total(8 * GIB), 8 * 1024 * 1024 * 1024);
        let sizes = drive.sizes(1024 << 10, 2 << 10, u64::MAX);
        // SW = 2, 4, ..., and one more size after the test `SW <= TSW` held for 1,024.
        assert_eq!((sizes[0], sizes.len()), (2048, 513));
        assert_eq!(drive.repetitions(64), 64);
    }

    #[test]
    fn small_drives_and_thin_grids_stay_inside() {
        for bytes in [8 << 10, 1 << 20, 40 << 20, 3 * GIB] {
            for thin in [1, 4] {
                let drive = space(bytes, thin);
                let places = drive.read_places();
                let last = places.garbage_start + places.garbage_slots * places.slot_bytes;
                assert!(
                    last <= bytes && places.garbage_slots > 0,
                    "{bytes}: {places:?}"
                );
                let targets = places.target_slots * places.slot_bytes;
                assert!(targets <= places.garbage_start, "{bytes}: {places:?}");
                assert!(drive.write_slot(3).end <= bytes, "{bytes}");
                assert!(drive.total(8 * GIB) <= bytes);
                for index in [0, 1, 1000] {
                    assert!(drive.consecutive(index, 3 << 10) + (3 << 10) <= bytes);
                }
            }
        }
        assert_eq!(space(GIB, 4).sizes(16 << 10, 1 << 10, u64::MAX)[0], 4096);
        assert_eq!(space(GIB, 4).repetitions(3), 1);
    }
}
