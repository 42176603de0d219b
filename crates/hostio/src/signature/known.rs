//! A known signature.

use std::borrow::Cow;
use std::fmt;

/// A known signature, and its offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Name of the format: `ext2/3/4`, `LUKS`, `GPT`.
    pub name: Cow<'static, str>,
    /// Offset of the magic number in bytes from the start; `None` if another program found it and reported no offset.
    pub offset: Option<u64>,
}

/// Formats with a two-byte magic number. One in a few thousand devices with random data matches one of them.
const SHORT: [&str; 12] = [
    "minix",
    "HFS",
    "HFS+",
    "HFSX",
    "NILFS2",
    "VIA RAID",
    "JMicron RAID",
    "Sun disk label",
    "Mac partition map",
    "FileVault 2",
    "LVM1 physical volume",
    "MBR or boot sector",
];

impl Signature {
    /// Returns true if the match may be chance, so that the whole format needs a second check.
    pub(crate) fn is_short(&self) -> bool {
        SHORT.contains(&self.name.as_ref())
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            Some(offset) => write!(f, "{} at byte {offset}", self.name),
            None => f.write_str(&self.name),
        }
    }
}
