//! The forms of a journal: how many blocks describe what a commit logs, and how long a transaction may become.

use crate::block::BLOCK_BYTES;

/// Bytes of a descriptor or revoke block that are not tags or records: a header of 12 and a check sum of 4.
const HEADER_BYTES: u64 = 16;
/// Bytes of the identity that follows the first tag of a descriptor.
const UUID_BYTES: u64 = 16;
/// Share of the log that a transaction may take before it is committed (`j_max_transaction_buffers`).
pub(crate) const LARGEST_SHARE: u64 = 4;
/// Blocks that a transaction of ReiserFS may have before it is committed (`JOURNAL_MAX_BATCH_DEFAULT`); 1,024 at most.
const LARGEST_REISER: u64 = 900;

/// The forms of tags and records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tags {
    /// Tags of 8 bytes, revoke records of 4: ext3.
    Short,
    /// Tags of 16 bytes, records of 8: 64-bit block numbers and check sums, the default of ext4.
    Long,
    /// ReiserFS: numbers of 4 bytes in one description block and in the commit block, no revoke records.
    Reiser,
}

impl Tags {
    /// Number of tags of a descriptor block.
    pub(crate) fn per_descriptor(self) -> u64 {
        let bytes = match self {
            Tags::Short => 8,
            Tags::Long => 16,
            Tags::Reiser => return u64::MAX,
        };
        (BLOCK_BYTES - HEADER_BYTES - UUID_BYTES) / bytes
    }

    /// Number of blocks for revoke records.
    pub(crate) fn revoke_blocks(self, records: u64) -> u64 {
        let bytes = match self {
            Tags::Short => 4,
            Tags::Long => 8,
            Tags::Reiser => return 0,
        };
        records.div_ceil((BLOCK_BYTES - HEADER_BYTES) / bytes)
    }

    /// The largest transaction of a log of `blocks` blocks.
    pub(crate) fn largest(self, blocks: u64) -> u64 {
        match self {
            Tags::Short | Tags::Long => blocks / LARGEST_SHARE,
            Tags::Reiser => LARGEST_REISER.min(blocks / LARGEST_SHARE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_tags_need_more_descriptors() {
        assert_eq!(
            (Tags::Short.per_descriptor(), Tags::Long.per_descriptor()),
            (508, 254)
        );
        assert_eq!(Tags::Short.revoke_blocks(1020), 1);
        assert_eq!(Tags::Long.revoke_blocks(1020), 2);
        assert_eq!(Tags::Long.revoke_blocks(1021), 3);
        assert_eq!(Tags::Reiser.revoke_blocks(1021), 0);
    }
}
