//! Numbers of few digits at the start of some text.

/// The powers of ten of up to as many digits as [`leading_number`] reads.
pub(super) const POWERS: [u64; FEW_DIGITS] = {
    let mut powers = [1; FEW_DIGITS];
    let mut i = 1;
    while i < FEW_DIGITS {
        powers[i] = powers[i - 1] * 10;
        i += 1;
    }
    powers
};

/// Every number of so many digits fits into 64 bits.
const FEW_DIGITS: usize = 19;

/// Returns the number at the start of some text, and its digits: none if there is none. A number of more than [`FEW_DIGITS`]
/// digits is cut off there.
#[inline]
pub(super) fn leading_number(text: &[u8]) -> (u64, usize) {
    match text.first_chunk() {
        Some(first) => match leading_eight(*first) {
            (value, 8) => more_digits(text, value, 8),
            shorter => shorter,
        },
        None => more_digits(text, 0, 0),
    }
}

/// Continues the number at the start of some text behind its first digits.
fn more_digits(text: &[u8], first: u64, digits: usize) -> (u64, usize) {
    let (mut value, mut digits) = (first, digits);
    while digits < FEW_DIGITS
        && let Some(digit) = text.get(digits).map(|byte| byte.wrapping_sub(b'0'))
        && digit <= 9
    {
        value = value * 10 + u64::from(digit);
        digits += 1;
    }
    (value, digits)
}

/// Returns the number at the start of eight bytes, and its digits. The digits are added in pairs, then in fours, then all: digit by
/// digit a line of DiskSim's format took some 100 instructions more.
#[inline]
fn leading_eight(text: [u8; 8]) -> (u64, usize) {
    /// The byte in all bytes of a word.
    const fn all(byte: u8) -> u64 {
        u64::from_le_bytes([byte; 8])
    }
    let values = u64::from_le_bytes(text) ^ all(b'0');
    // The upper bit of a byte is set if it is more than 9. A carry comes from such a byte, and reaches only those behind it.
    let others = (values.wrapping_add(all(0x7f - 9)) | values) & all(0x80);
    let digits = others.trailing_zeros() / 8;
    // As many zeros before the digits as make eight; none of the bytes behind them.
    let values = values.checked_shl(64 - 8 * digits).unwrap_or(0);
    let pairs = (values & all(0x0f)).wrapping_mul(10 * (1 << 8) + 1) >> 8;
    let fours = (pairs & 0x00ff_00ff_00ff_00ff).wrapping_mul(100 * (1 << 16) + 1) >> 16;
    let value = (fours & 0x0000_ffff_0000_ffff).wrapping_mul(10_000 * (1 << 32) + 1) >> 32;
    (value, digits as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_bytes_are_read_as_their_digits_one_by_one() {
        for (digits, behind) in (0..8).flat_map(|digits| (0..=255).map(move |byte| (digits, byte)))
        {
            for rest in [*b"90817263", *b"00000000", [0xff; 8], *b"99999999"] {
                let mut text = rest;
                text[..digits].copy_from_slice(&b"98012345"[..digits]);
                text[digits] = behind;
                assert_eq!(leading_eight(text), more_digits(&text, 0, 0), "{text:?}");
            }
        }
    }
}
