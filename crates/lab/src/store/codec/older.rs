//! Checks records of formats before the fourth: a single checksum in the metadata, over the whole file except its own
//! digits.
//!
//! The second and third formats have a CRC-32C under `fathom.crc32c`. The first has `fathom.checksum`, which misses some
//! changes of two bits; it is still read, with a note. These formats are no longer written.

use crate::store::error::StoreError;
use std::ops::Range;
use std::path::Path;

/// The bytes before the digits: the key, and the Thrift header of a string of 8 bytes.
const MARK: &[u8] = b"fathom.crc32c\x18\x08";
const DIGITS: usize = 8;
/// The same for the first format, with 16 digits.
const MARK_1: &[u8] = b"fathom.checksum\x18\x10";
const DIGITS_1: usize = 16;

/// A record of an older format whose checksum matches.
pub(super) struct Older {
    /// A note on a weak checksum.
    pub(super) note: Option<String>,
}

/// Checks a record of an older format against its checksum; `None` for any other file.
pub(super) fn check(path: &Path, bytes: &[u8]) -> Result<Option<Older>, StoreError> {
    let (same, note) = if let Some(digits) = digits_of(bytes, MARK, DIGITS) {
        (checksum(bytes, &digits).as_bytes() == &bytes[digits], None)
    } else if let Some(digits) = digits_of(bytes, MARK_1, DIGITS_1) {
        let note = format!(
            "{} is of an older version, whose checksum does not notice every damage",
            path.display()
        );
        let same = checksum_1(bytes, &digits).as_bytes() == &bytes[digits];
        (same, Some(note))
    } else {
        return Ok(None);
    };
    match same {
        true => Ok(Some(Older { note })),
        false => Err(StoreError::Damaged {
            path: path.to_owned(),
            detail: "its contents do not match its checksum".into(),
        }),
    }
}

/// Finds the digits of the checksum: after the last mark, because the metadata are at the end of the file.
fn digits_of(bytes: &[u8], mark: &[u8], len: usize) -> Option<Range<usize>> {
    let at = bytes.windows(mark.len()).rposition(|w| w == mark)? + mark.len();
    (at + len <= bytes.len()).then_some(at..at + len)
}

/// Returns the CRC-32C over everything but the digits, in hexadecimal.
fn checksum(bytes: &[u8], digits: &Range<usize>) -> String {
    let sum = crc32c::crc32c(&bytes[..digits.start]);
    let sum = crc32c::crc32c_append(sum, &bytes[digits.end..]);
    format!("{sum:08x}")
}

/// Returns the checksum of the first format: FNV-1a (Fowler, Noll, Vo) over 64-bit words. The highest bit of a word affects
/// no other bit, so a change of two such bits is not detected.
fn checksum_1(bytes: &[u8], digits: &Range<usize>) -> String {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    for part in [&bytes[..digits.start], &bytes[digits.end..]] {
        for chunk in part.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    format!("{sum:016x}")
}
