//! Parses IDENTIFY DEVICE of an ATA drive (ACS-4, 7.13, Table 45): words of 16 bits.

use crate::fields::u16_at;
use serde::{Deserialize, Serialize};

/// What an ATA drive says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AtaReported {
    /// Logical sector in bytes (words 106, 117 and 118).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logical_block_bytes: Option<u64>,
    /// Physical sector in bytes (word 106).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub physical_block_bytes: Option<u64>,
    /// Offset of the first logical sector in its physical sector, in bytes (word 209).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alignment_offset_bytes: Option<u64>,
    /// Rotations a minute; 0 if nothing rotates (word 217).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotations_per_minute: Option<u16>,
    /// TRIM is supported (word 169).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<bool>,
    /// A trimmed sector reads the same at each read (word 69, bit 14).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim_deterministic: Option<bool>,
    /// A trimmed sector reads as zeros (word 69, bits 14 and 5).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim_zeroes: Option<bool>,
    /// The volatile write cache is switched on (words 82 and 85, bit 5).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<bool>,
}

/// Parses the data of IDENTIFY DEVICE; `None` if it is too short.
pub(crate) fn parse(data: &[u8]) -> Option<AtaReported> {
    let word = |number: usize| u16_at(data, number * 2).unwrap_or(0);
    u16_at(data, 255 * 2)?;
    // Words with a mark are valid if their upper bits are 01b.
    let marked = |number: usize| Some(word(number)).filter(|word| word >> 14 == 1);
    let sizes = marked(106);
    let long = sizes.is_some_and(|word| word & 1 << 12 != 0);
    let words = u64::from(word(117)) | u64::from(word(118)) << 16;
    let logical = if long { words * 2 } else { 512 };
    let exponent = sizes
        .filter(|word| word & 1 << 13 != 0)
        .map_or(0, |w| w & 15);
    let deterministic = word(69) & 1 << 14 != 0;
    Some(AtaReported {
        logical_block_bytes: Some(logical),
        physical_block_bytes: sizes.map(|_| logical << exponent),
        alignment_offset_bytes: marked(209).map(|word| u64::from(word & 0x3fff) * logical),
        rotations_per_minute: match word(217) {
            1 => Some(0),
            rate @ 0x0401..=0xfffe => Some(rate),
            _ => None,
        },
        trim: Some(word(169) & 1 != 0),
        trim_deterministic: Some(deterministic),
        trim_zeroes: Some(deterministic && word(69) & 1 << 5 != 0),
        write_cache: (word(82) & 1 << 5 != 0).then_some(word(85) & 1 << 5 != 0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn identify(words: &[(usize, u16)]) -> Vec<u8> {
        let mut data = vec![0; 512];
        for (number, word) in words {
            data[number * 2..number * 2 + 2].copy_from_slice(&word.to_le_bytes());
        }
        data
    }

    /// 6003h in word 106 is the value of drives with 512-byte logical and 4096-byte physical sectors (512e).
    #[test]
    fn words_are_valid_only_with_their_mark() {
        let disk = identify(&[
            (106, 0x6003),
            (209, 0x4007),
            (217, 7200),
            (82, 0x20),
            (85, 0x20),
        ]);
        let disk = parse(&disk).unwrap();
        assert_eq!(disk.logical_block_bytes, Some(512));
        assert_eq!(disk.physical_block_bytes, Some(4096));
        assert_eq!(disk.alignment_offset_bytes, Some(7 * 512));
        assert_eq!(disk.rotations_per_minute, Some(7200));
        assert_eq!((disk.write_cache, disk.trim), (Some(true), Some(false)));
        let old = parse(&identify(&[(106, 0xffff), (209, 0xffff)])).unwrap();
        assert_eq!(
            (old.physical_block_bytes, old.alignment_offset_bytes),
            (None, None)
        );
        let native = identify(&[(106, 0x5000), (117, 2048), (217, 1), (169, 1), (69, 0x4020)]);
        let native = parse(&native).unwrap();
        assert_eq!(native.logical_block_bytes, Some(4096));
        assert_eq!(native.physical_block_bytes, Some(4096));
        assert_eq!(
            (native.rotations_per_minute, native.trim_zeroes),
            (Some(0), Some(true))
        );
        assert_eq!(parse(&[0; 511]), None);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            let _parsed = parse(&bytes);
        }
    }
}
