//! Reads little-endian numbers from the bytes that a drive returned. A field outside of the bytes is `None`.

/// Returns the byte at an offset.
pub(crate) fn u8_at(bytes: &[u8], at: usize) -> Option<u8> {
    bytes.get(at).copied()
}

/// Returns the 16-bit number at an offset.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    number(bytes, at, 2).map(|n| n as u16)
}

/// Returns the 32-bit number at an offset.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    number(bytes, at, 4).map(|n| n as u32)
}

/// Returns the 48-bit number at an offset.
pub(crate) fn u48_at(bytes: &[u8], at: usize) -> Option<u64> {
    number(bytes, at, 6).map(|n| n as u64)
}

/// Returns the 128-bit number at an offset.
pub(crate) fn u128_at(bytes: &[u8], at: usize) -> Option<u128> {
    number(bytes, at, 16)
}

fn number(bytes: &[u8], at: usize, len: usize) -> Option<u128> {
    let field = bytes.get(at..at.checked_add(len)?)?;
    let place = |sum: u128, &byte: &u8| (sum << 8) | u128::from(byte);
    Some(field.iter().rev().fold(0, place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_little_endian_and_end_with_the_bytes() {
        let bytes: Vec<u8> = (1..=16).collect();
        assert_eq!(u8_at(&bytes, 15), Some(16));
        assert_eq!(u16_at(&bytes, 0), Some(0x0201));
        assert_eq!(u32_at(&bytes, 1), Some(0x0504_0302));
        assert_eq!(u48_at(&bytes, 10), Some(0x100f_0e0d_0c0b));
        let all = u128::from_le_bytes(bytes.clone().try_into().unwrap());
        assert_eq!(u128_at(&bytes, 0), Some(all));
        assert_eq!((u16_at(&bytes, 15), u128_at(&bytes, 1)), (None, None));
        assert_eq!(u8_at(&bytes, usize::MAX), None);
        assert_eq!(u32_at(&bytes, usize::MAX), None);
    }
}
