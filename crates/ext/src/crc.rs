//! The check sum of ext4 and JBD2.

/// CRC32c without the inversions at begin and end, as the kernel computes it.
pub(crate) fn checksum(seed: u32, bytes: &[u8]) -> u32 {
    !crc32c::crc32c_append(!seed, bytes)
}

#[cfg(test)]
mod tests {
    /// The check value of CRC-32C ("123456789" gives e3069283), without the last inversion.
    #[test]
    fn a_check_sum_is_crc32c_without_the_last_inversion() {
        assert_eq!(super::checksum(u32::MAX, b"123456789"), !0xe306_9283);
    }
}
