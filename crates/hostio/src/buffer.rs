//! Aligned memory for `O_DIRECT`, and incompressible data for writes.

#![allow(unsafe_code)] // Views aligned pages as bytes; nothing else.

use fathom_base::Rng;
use rustix::io::Errno;
use std::slice;

/// Alignment of every buffer, in bytes. No block device requires more.
pub(crate) const ALIGN_BYTES: usize = 4096;

/// Maximum length of a buffer, in bytes: the largest number of whole pages that the 32-bit length of an io_uring entry can
/// hold.
pub(crate) const BYTES_MAX: u64 = u32::MAX as u64 - u32::MAX as u64 % ALIGN_BYTES as u64;

#[derive(Clone)]
#[repr(C, align(4096))]
struct Page([u8; ALIGN_BYTES]);

/// A byte buffer aligned to [`ALIGN_BYTES`]. Moving the value does not move the memory.
pub(crate) struct AlignedBuffer(Vec<Page>);

impl AlignedBuffer {
    /// Returns at least `bytes` zero bytes. Touches the pages now, so that no page fault disturbs a measurement.
    ///
    /// # Errors
    /// EINVAL above [`BYTES_MAX`]; ENOMEM if the memory cannot be allocated.
    pub(crate) fn new(bytes: u64) -> Result<Self, Errno> {
        if bytes > BYTES_MAX {
            return Err(Errno::INVAL);
        }
        let pages = (bytes as usize).div_ceil(ALIGN_BYTES).max(1);
        let mut held = Vec::new();
        held.try_reserve_exact(pages).map_err(|_| Errno::NOMEM)?;
        held.resize(pages, Page([0; ALIGN_BYTES]));
        Ok(Self(held))
    }

    /// Returns the whole buffer.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the vector owns `len` pages of ALIGN_BYTES initialised bytes each, without padding, and `&self`
        // keeps them alive and unchanged.
        unsafe { slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len() * ALIGN_BYTES) }
    }

    /// Returns the whole buffer for writing.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `&mut self` makes the view the only one.
        unsafe { slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len() * ALIGN_BYTES) }
    }
}

/// Size of the word list. It must stay in the processor's cache beside the data written: fetching it from memory took longer
/// than everything else that a write costs.
const NOISE_WORDS: usize = 1 << 13;
const WORD_BYTES: usize = size_of::<u64>();

/// Generates the data of writes that carry none: seeded, incompressible and never repeated.
///
/// Each 4 KiB piece is read from a random position in a list of random words and XORed with a key of its own. A piece
/// therefore does not compress, and no two pieces (nor any two sectors at the same position in them) are equal, whatever
/// unit a drive deduplicates by. Costs about one copy of the data, before the request's latency starts to count.
pub(crate) struct Noise {
    words: Vec<u64>,
    keys: Rng,
}

impl Noise {
    /// Creates the generator. `seed` determines the sequence of all fills.
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed, 0x006e_6f69_7365);
        Self {
            words: (0..NOISE_WORDS).map(|_| rng.next_u64()).collect(),
            keys: rng,
        }
    }

    /// Fills `bytes` with the same piece of [`ALIGN_BYTES`] incompressible bytes again and again.
    pub(crate) fn repeat(&self, bytes: &mut [u8]) {
        for piece in bytes.chunks_mut(ALIGN_BYTES) {
            let (words, _rest) = piece.as_chunks_mut::<WORD_BYTES>();
            for (out, word) in words.iter_mut().zip(&self.words) {
                *out = word.to_ne_bytes();
            }
        }
    }

    /// Fills `bytes`. A remainder shorter than a word keeps its content; lengths are whole blocks.
    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        for piece in bytes.chunks_mut(ALIGN_BYTES) {
            let key = self.keys.next_u64();
            let (words, _rest) = piece.as_chunks_mut::<WORD_BYTES>();
            let start = self.keys.below((NOISE_WORDS - words.len()) as u64) as usize;
            for (out, word) in words.iter_mut().zip(&self.words[start..]) {
                *out = (word ^ key).to_ne_bytes();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn every_buffer_is_aligned_and_long_enough(bytes in 0u64..3 << 20) {
            let mut buffer = AlignedBuffer::new(bytes).unwrap();
            prop_assert!(buffer.bytes().len() as u64 >= bytes);
            prop_assert_eq!(buffer.bytes().as_ptr() as usize % ALIGN_BYTES, 0);
            let before = buffer.bytes().as_ptr();
            buffer.bytes_mut().fill(0xa5);
            let moved = Box::new(buffer);
            prop_assert_eq!(moved.bytes().as_ptr(), before);
            prop_assert!(moved.bytes().iter().all(|&b| b == 0xa5));
        }
    }

    #[test]
    fn a_buffer_whose_length_an_entry_cannot_say_is_refused() {
        for bytes in [BYTES_MAX + 1, 1 << 32, u64::MAX] {
            assert_eq!(AlignedBuffer::new(bytes).err(), Some(Errno::INVAL));
        }
    }

    #[test]
    fn noise_has_no_equal_sectors_and_all_byte_values_equally_often() {
        let mut noise = Noise::new(1);
        let mut data = vec![0u8; 4 << 20];
        for request in data.chunks_mut(1 << 17) {
            noise.fill(request);
        }
        let sectors: BTreeSet<&[u8]> = data.chunks(512).collect();
        assert_eq!(sectors.len(), data.len() / 512);
        let mut counts = [0u32; 256];
        data.iter().for_each(|&b| counts[usize::from(b)] += 1);
        // 16384 of each expected, standard deviation 128; the keys correlate pieces, so the bounds are wide.
        assert!(
            counts.iter().all(|c| (15_000..18_000).contains(c)),
            "{counts:?}"
        );
    }

    #[test]
    fn noise_is_a_function_of_the_seed() {
        let draw = |seed| {
            let mut bytes = vec![0u8; 8192];
            Noise::new(seed).fill(&mut bytes);
            bytes
        };
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
    }
}
