//! The content of the blocks that a verifying job writes: a header that identifies the block, then random bytes. The
//! header contains a checksum of both.
//!
//! The header, little-endian: magic (8 bytes), offset (8), generation (8), seed (8), length (4), CRC-32C of all other
//! bytes of the block (4). The format is Fathom's own; fio cannot read it.

use fathom_base::Rng;

/// Length of the header, in bytes.
pub(super) const HEADER_BYTES: usize = 40;
const MAGIC: [u8; 8] = *b"fathomjb";
const CRC: std::ops::Range<usize> = 36..40;

/// The identity of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Its offset, in bytes.
    pub(super) offset: u64,
    /// Its length in bytes, at least [`HEADER_BYTES`].
    pub(super) len: u64,
    /// Number of the write within its process, from 1.
    pub(super) generation: u64,
    /// The seed of its process's content.
    pub(super) seed: u64,
}

/// What was read in place of the expected block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Found {
    /// Data of a different length, in bytes.
    #[error("{0} bytes came back")]
    Length(u64),
    /// Data that is not a block of a verifying job: its first bytes.
    #[error("it begins with {:#018x}, not with the magic number of a block", u64::from_be_bytes(*.0))]
    Magic([u8; 8]),
    /// A block with changed bytes.
    #[error("its bytes have the CRC-32C {computed:#010x}, and its header says {stored:#010x}")]
    Checksum {
        /// The checksum in the header.
        stored: u32,
        /// The checksum of the bytes.
        computed: u32,
    },
    /// A different, intact block: from another place, or an older write.
    #[error("it is whole, and it is write {generation} at {offset} under seed {seed}")]
    Other {
        /// Its offset, in bytes.
        offset: u64,
        /// Number of the write within its process.
        generation: u64,
        /// Its seed.
        seed: u64,
    },
}

fn checksum(bytes: &[u8]) -> u32 {
    let (before, after) = (
        bytes.get(..CRC.start).unwrap_or_default(),
        bytes.get(CRC.end..).unwrap_or_default(),
    );
    crc32c::crc32c_append(crc32c::crc32c(before), after)
}

/// Returns the 64-bit number at `index`, counted in units of 8 bytes.
fn word(bytes: &[u8], index: usize) -> u64 {
    let mut word = [0; 8];
    if let Some(found) = bytes.get(index * 8..index * 8 + 8) {
        word.copy_from_slice(found);
    }
    u64::from_le_bytes(word)
}

impl Block {
    /// Returns the content of the block.
    pub(super) fn bytes(&self) -> Box<[u8]> {
        let mut bytes = vec![0; self.len as usize];
        let numbers = [self.offset, self.generation, self.seed].map(u64::to_le_bytes);
        let header = MAGIC
            .into_iter()
            .chain(numbers.into_iter().flatten())
            .chain((self.len as u32).to_le_bytes());
        for (byte, value) in bytes.iter_mut().zip(header) {
            *byte = value;
        }
        let mut rng = Rng::new(self.seed, self.generation);
        for chunk in bytes.chunks_mut(8).skip(HEADER_BYTES / 8) {
            let random = rng.next_u64().to_le_bytes();
            chunk.copy_from_slice(&random[..chunk.len()]);
        }
        let crc = checksum(&bytes);
        if let Some(place) = bytes.get_mut(CRC) {
            place.copy_from_slice(&crc.to_le_bytes());
        }
        bytes.into_boxed_slice()
    }

    /// Checks that `bytes` is the content of this block.
    pub(super) fn check(&self, bytes: &[u8]) -> Result<(), Found> {
        if bytes.len() as u64 != self.len {
            return Err(Found::Length(bytes.len() as u64));
        }
        if !bytes.starts_with(&MAGIC) {
            return Err(Found::Magic(word(bytes, 0).to_le_bytes()));
        }
        let (stored, computed) = ((word(bytes, 4) >> 32) as u32, checksum(bytes));
        if stored != computed {
            return Err(Found::Checksum { stored, computed });
        }
        let [offset, generation, seed] = [1, 2, 3].map(|index| word(bytes, index));
        if (offset, generation, seed) != (self.offset, self.generation, self.seed) {
            return Err(Found::Other {
                offset,
                generation,
                seed,
            });
        }
        Ok(())
    }
}
