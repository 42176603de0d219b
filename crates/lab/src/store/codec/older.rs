//! Records of before the fourth format: one sum in the metadata, over all of the file but its own digits.
//!
//! The second and third formats have a CRC-32C under `fathom.crc32c`. The first has `fathom.checksum`, a sum that does not
//! tell every two bits that changed; it is read, and a note says so. None of them is written any more.

use crate::store::error::StoreError;
use std::ops::Range;
use std::path::Path;

/// What stands before the digits: the key, and the Thrift header of a string of 8 bytes.
const MARK: &[u8] = b"fathom.crc32c\x18\x08";
const DIGITS: usize = 8;
/// The same in the first format, of 16 digits.
const MARK_1: &[u8] = b"fathom.checksum\x18\x10";
const DIGITS_1: usize = 16;

/// A record of such a format, whose sum fits.
pub(super) struct Older {
    /// What to say of its sum, where that is a weak one.
    pub(super) note: Option<String>,
}

/// Holds a record of such a format to its sum; `None` for any other file.
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

/// Where the digits of the checksum stand: after the last mark, since the metadata end the file.
fn digits_of(bytes: &[u8], mark: &[u8], len: usize) -> Option<Range<usize>> {
    let at = bytes.windows(mark.len()).rposition(|w| w == mark)? + mark.len();
    (at + len <= bytes.len()).then_some(at..at + len)
}

/// CRC-32C over all but the digits, as digits.
fn checksum(bytes: &[u8], digits: &Range<usize>) -> String {
    let sum = crc32c::crc32c(&bytes[..digits.start]);
    let sum = crc32c::crc32c_append(sum, &bytes[digits.end..]);
    format!("{sum:08x}")
}

/// That of the first format: FNV-1a (Fowler, Noll, Vo) over 64-bit words. The highest bit of a word reaches no other bit, so
/// that two of them that changed are not told.
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
