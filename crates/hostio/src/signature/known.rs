//! A known kind of contents.

use std::borrow::Cow;
use std::fmt;

/// A known kind of contents, and where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// What it is: `ext2/3/4`, `LUKS`, `GPT`.
    pub name: Cow<'static, str>,
    /// Where its magic number is, in bytes from the start; `None` where another program found it and did not say.
    pub offset: Option<u64>,
}

/// Formats of two bytes of magic: one random device in a few thousand has one of them somewhere.
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
    /// Whether it may be there by chance, so that another look at the whole format is wanted.
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
