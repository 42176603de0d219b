//! ReiserFS's hash functions: one spreads directories over groups, the other orders the names of a directory.
//!
//! After `fs/reiserfs/hashes.c`, `bitmap.c` (`bmap_hash_id`) and `namei.c` (`get_third_component`) of Linux 6.1.

/// Key of the hash, as eight and eight words are mixed with it.
const KEY: [u32; 2] = [0x9464_a485, 0x542e_1a94];
const DELTA: u32 = 0x9e37_79b9;
const ROUNDS: u32 = 10;
/// Four times the length of the message, one byte each: the message has 4 bytes.
const PAD: u32 = 0x0404_0404;

/// The keyed hash (TEA in Davies-Meyer form) of a number of 4 bytes.
fn keyed(message: u32) -> u32 {
    // The bytes of the message are signed: a byte above 127 fills the higher ones.
    let bytes = message.to_le_bytes();
    let part = |index: usize| (i32::from(bytes[index] as i8) as u32) << (8 * index);
    let first = part(0) | part(1) | part(2) | part(3);
    let [mut low, mut high] = KEY;
    let mut sum = 0_u32;
    let mix = |half: u32, sum: u32, left: u32| {
        (half << 4).wrapping_add(left) ^ half.wrapping_add(sum) ^ (half >> 5).wrapping_add(PAD)
    };
    for _ in 0..ROUNDS {
        sum = sum.wrapping_add(DELTA);
        low = low.wrapping_add(mix(high, sum, first));
        high = high.wrapping_add(mix(low, sum, PAD));
    }
    KEY[0].wrapping_add(low) ^ KEY[1].wrapping_add(high)
}

/// The group of the blocks of a packing locality, of `groups` groups. The first group is never chosen if there is another.
pub(crate) fn group_of(packing: u32, groups: u64) -> u64 {
    let group = match packing {
        0..=2 => 1,
        _ => (u64::from(keyed(packing)) % groups.max(1)).max(1),
    };
    if group < groups { group } else { 0 }
}

/// The place of a name in its directory (the r5 hash), without the number that tells equal hashes apart.
pub(super) fn place_of(name: &[u8]) -> u32 {
    let hash = name.iter().fold(0_u32, |hash, &byte| {
        let byte = i32::from(byte as i8);
        let mixed = hash.wrapping_add((byte << 4) as u32);
        mixed.wrapping_add((byte >> 4) as u32).wrapping_mul(11)
    });
    // Bit 31 is not used, the lowest seven hold the number. Places 0 to 127 are those of `.` and `..`.
    (hash & 0x7fff_ff80).max(128)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The groups whose bitmaps the recorded run of CVFS-Large read (Linux 6.1, 32 groups): its 50 directories have the object
    /// numbers from 4 on, and the root is in group 1. Group 13 was read too, last of all: what had no room in 12 went there.
    #[test]
    fn directories_go_to_the_groups_that_were_recorded() {
        let groups: Vec<u64> = (4..54).map(|id| group_of(id, 32)).collect();
        let recorded = [
            1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 14, 16, 17, 18, 20, 21, 22, 23, 24, 25, 26, 27, 28,
            29, 30,
        ];
        let of_directories: BTreeSet<u64> = groups.into_iter().chain([1]).collect();
        assert_eq!(of_directories, BTreeSet::from(recorded));
        assert_eq!((group_of(2, 32), group_of(7, 1)), (1, 0));
    }

    #[test]
    fn a_name_has_its_place() {
        // By hand: '1' is 49: (49 * 16 + 3) * 11 = 8657, rounded down to a multiple of 128.
        assert_eq!(place_of(b"1"), 8576);
        assert_eq!(place_of(b""), 128);
    }
}
