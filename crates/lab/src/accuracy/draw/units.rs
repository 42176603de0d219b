//! Units of size, in bytes.

pub(in crate::accuracy) const KIB: u64 = 1 << 10;
pub(in crate::accuracy) const MIB: u64 = 1 << 20;
