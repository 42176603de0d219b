//! The blocks of a journal as bytes: super block, descriptors, revoke records, commit.
//!
//! All numbers are big-endian. After `include/linux/jbd2.h`, and for the check sums `fs/jbd2/commit.c`, `recovery.c` and
//! `revoke.c` of Linux 6.18. Which blocks a transaction has, and where, is the business of the log.

use crate::crc::checksum;
use crate::disk::BLOCK;
use crate::meta::Block;

/// The first bytes of every block of the journal, and of no copy of another block there.
const MAGIC: [u8; 4] = [0xc0, 0x3b, 0x39, 0x98];
const DESCRIPTOR: u32 = 1;
const COMMIT: u32 = 2;
const SUPER_V2: u32 = 4;
const REVOKE: u32 = 5;

/// `JBD2_FEATURE_INCOMPAT_REVOKE`.
const HAS_REVOKE: u32 = 0x1;
/// `JBD2_FEATURE_INCOMPAT_64BIT`.
const WIDE: u32 = 0x2;
/// `JBD2_FEATURE_INCOMPAT_CSUM_V3`.
const CHECKSUMS: u32 = 0x10;
/// `JBD2_CRC32C_CHKSUM`.
const CRC32C: u8 = 4;

/// The first bytes of the block were those of a block of the journal, and are zero in the copy.
const ESCAPED: u32 = 1;
/// The identity does not follow.
const SAME_IDENTITY: u32 = 2;
/// The last tag of a descriptor.
const LAST: u32 = 8;

/// Bytes of the header of each block.
const HEADER: usize = 12;
/// Bytes of the header of a revoke block.
const REVOKE_HEADER: usize = 16;
/// Bytes of the check sum at the end of a descriptor.
const TAIL: usize = 4;
/// Bytes of the identity behind the first tag.
const IDENTITY: usize = 16;

fn put(block: &mut [u8], at: usize, value: u32) {
    block[at..at + 4].copy_from_slice(&value.to_be_bytes());
}

fn get(block: &[u8], at: usize) -> u32 {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&block[at..at + 4]);
    u32::from_be_bytes(bytes)
}

/// The super block of a journal.
#[derive(Clone, Debug)]
pub(crate) struct JournalSuper {
    block: Block,
}

impl JournalSuper {
    /// Takes the first block of a journal; `None` if it is none of version 2 for blocks of 4 KiB.
    pub(crate) fn new(block: Block) -> Option<Self> {
        let fits =
            block[..4] == MAGIC && get(&block, 4) == SUPER_V2 && get(&block, 12) == BLOCK as u32;
        fits.then_some(Self { block })
    }

    /// Number of blocks, the super block included.
    pub(crate) fn blocks(&self) -> u32 {
        get(&self.block, 16)
    }

    /// The first block of the log.
    pub(crate) fn first(&self) -> u32 {
        get(&self.block, 20)
    }

    /// The number of the first transaction of the log.
    pub(crate) fn sequence(&self) -> u32 {
        get(&self.block, 24)
    }

    /// Where the log begins; 0 for an empty one.
    pub(crate) fn start(&self) -> u32 {
        get(&self.block, 28)
    }

    /// Features that a reader must know, without those that this crate writes.
    pub(crate) fn unknown_features(&self) -> u32 {
        get(&self.block, 40) & !(HAS_REVOKE | WIDE | CHECKSUMS)
    }

    /// Sets the features for an empty log, as Linux does when it mounts: revoke records, 64-bit numbers, check sums.
    pub(crate) fn set_features(&mut self, wide: bool, checksums: bool) {
        let features =
            HAS_REVOKE | if wide { WIDE } else { 0 } | if checksums { CHECKSUMS } else { 0 };
        put(&mut self.block, 40, features);
        self.block[80] = if checksums { CRC32C } else { 0 };
    }

    /// The format of the blocks of the log.
    pub(crate) fn format(&self) -> Format {
        let features = get(&self.block, 40);
        let mut identity = [0; IDENTITY];
        identity.copy_from_slice(&self.block[48..48 + IDENTITY]);
        Format {
            wide: features & WIDE != 0,
            seed: (features & CHECKSUMS != 0).then(|| checksum(u32::MAX, &identity)),
            identity,
        }
    }

    /// The block with another beginning of the log; a `start` of 0 for an empty one.
    pub(crate) fn with_tail(&mut self, start: u32, sequence: u32) -> &Block {
        put(&mut self.block, 24, sequence);
        put(&mut self.block, 28, start);
        put(&mut self.block, 252, 0);
        if get(&self.block, 40) & CHECKSUMS != 0 {
            let sum = checksum(u32::MAX, &self.block[..1024]);
            put(&mut self.block, 252, sum);
        }
        &self.block
    }
}

/// The format of the blocks of a log.
#[derive(Clone, Debug)]
pub(crate) struct Format {
    /// Numbers of blocks have 64 bits.
    wide: bool,
    /// What check sums begin with, if there are any.
    seed: Option<u32>,
    identity: [u8; IDENTITY],
}

impl Format {
    fn tag_bytes(&self) -> usize {
        match (self.seed, self.wide) {
            (Some(_), _) => 16,
            (None, true) => 12,
            (None, false) => 8,
        }
    }

    fn tail(&self) -> usize {
        if self.seed.is_some() { TAIL } else { 0 }
    }

    /// Number of tags of a descriptor.
    pub(crate) fn tags(&self) -> usize {
        (BLOCK - HEADER - IDENTITY - self.tail()) / self.tag_bytes()
    }

    fn record_bytes(&self) -> usize {
        if self.wide { 8 } else { 4 }
    }

    /// Number of records of a revoke block.
    pub(crate) fn records(&self) -> usize {
        (BLOCK - REVOKE_HEADER - self.tail()) / self.record_bytes()
    }

    fn header(kind: u32, sequence: u32) -> Block {
        let mut block = [0; BLOCK];
        block[..4].copy_from_slice(&MAGIC);
        put(&mut block, 4, kind);
        put(&mut block, 8, sequence);
        block
    }

    /// Puts the check sum of a descriptor or revoke block at its end.
    fn seal(&self, block: &mut Block) {
        if let Some(seed) = self.seed {
            let sum = checksum(seed, block);
            put(block, BLOCK - TAIL, sum);
        }
    }

    /// A revoke block for at most [`Format::records`] blocks.
    pub(crate) fn revoke(&self, sequence: u32, blocks: &[u64]) -> Block {
        let mut block = Self::header(REVOKE, sequence);
        let mut at = REVOKE_HEADER;
        for &number in blocks {
            if self.wide {
                block[at..at + 8].copy_from_slice(&number.to_be_bytes());
            } else {
                put(&mut block, at, number as u32);
            }
            at += self.record_bytes();
        }
        put(&mut block, HEADER, at as u32);
        self.seal(&mut block);
        block
    }

    /// Appends a descriptor for at most [`Format::tags`] blocks, and the copies of these.
    pub(crate) fn describe(&self, sequence: u32, blocks: &[(u64, &Block)], log: &mut Vec<u8>) {
        let mut descriptor = Self::header(DESCRIPTOR, sequence);
        let place = log.len();
        log.extend_from_slice(&descriptor);
        let mut at = HEADER;
        for (index, &(number, data)) in blocks.iter().enumerate() {
            let mut flags = if index > 0 { SAME_IDENTITY } else { 0 };
            if index + 1 == blocks.len() {
                flags |= LAST;
            }
            let start = log.len();
            log.extend_from_slice(data);
            if data[..4] == MAGIC {
                flags |= ESCAPED;
                log[start..start + 4].fill(0);
            }
            let tag = &mut descriptor[at..at + self.tag_bytes()];
            put(tag, 0, number as u32);
            match self.seed {
                Some(seed) => {
                    let sum = checksum(checksum(seed, &sequence.to_be_bytes()), &log[start..]);
                    put(tag, 4, flags);
                    put(tag, 8, (number >> 32) as u32);
                    put(tag, 12, sum);
                }
                // Two bytes of a check sum that is not used, then the flags.
                None => put(tag, 4, flags),
            }
            if self.seed.is_none() && self.wide {
                put(tag, 8, (number >> 32) as u32);
            }
            at += self.tag_bytes();
            if index == 0 {
                descriptor[at..at + IDENTITY].copy_from_slice(&self.identity);
                at += IDENTITY;
            }
        }
        self.seal(&mut descriptor);
        log[place..place + BLOCK].copy_from_slice(&descriptor);
    }

    /// A commit block. `now` is in seconds since 1970.
    pub(crate) fn commit(&self, sequence: u32, now: i64) -> Block {
        let mut block = Self::header(COMMIT, sequence);
        block[48..56].copy_from_slice(&now.to_be_bytes());
        if let Some(seed) = self.seed {
            let sum = checksum(seed, &block);
            put(&mut block, 16, sum);
        }
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(seed: Option<u32>, wide: bool) -> Format {
        let identity = [7; IDENTITY];
        Format {
            wide,
            seed,
            identity,
        }
    }

    #[test]
    fn as_many_tags_and_records_fit_as_in_linux() {
        // (4096 - 12 - 16) / 8, (4096 - 12 - 16 - 4) / 16; (4096 - 16) / 4, (4096 - 16 - 4) / 8.
        let (short, long) = (format(None, false), format(Some(1), true));
        assert_eq!([short.tags(), long.tags()], [508, 254]);
        assert_eq!([short.records(), long.records()], [1020, 509]);
    }

    #[test]
    fn a_copy_that_looks_like_a_journal_block_is_escaped() {
        let mut data = [1; BLOCK];
        data[..4].copy_from_slice(&MAGIC);
        let plain = [2; BLOCK];
        let mut log = Vec::new();
        format(None, false).describe(9, &[(0x1234, &data), (5, &plain)], &mut log);
        assert_eq!(log.len(), 3 * BLOCK);
        assert_eq!(log[BLOCK..BLOCK + 5], [0, 0, 0, 0, 1]);
        assert_eq!(&log[2 * BLOCK..], plain.as_slice());
        // Sequence 9; block 0x1234, escaped; the identity; block 5, the same identity and the last.
        assert_eq!(log[8..12], [0, 0, 0, 9]);
        assert_eq!(log[12..20], [0, 0, 0x12, 0x34, 0, 0, 0, 1]);
        assert_eq!(log[20..36], [7; 16]);
        assert_eq!(log[36..44], [0, 0, 0, 5, 0, 0, 0, 10]);
    }
}
