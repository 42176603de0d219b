//! A bijection of `0..n` onto itself, derived from a key, in constant memory.
//!
//! A Feistel network over the bits of `n - 1`. If `n` is not a power of two it uses cycle walking: a result of `n` or more
//! is fed through the network again until it is below `n` (J. Black and P. Rogaway, "Ciphers with arbitrary finite
//! domains", CT-RSA 2002). This takes fewer than two passes on average. The bijection spreads ranks over a range so that
//! neighbours are separated; it is not a secure cipher.

use fathom_base::Rng;

/// Passes of the network over both halves, of two rounds each. After one pass, the difference of two items with the same
/// upper half is still visible in the lower half. After two it is visible more often than by chance, because two lower
/// halves that are mixed alike cancel out. After three it is not (a test checks this).
const PASSES: usize = 3;

/// A bijection of `0..n` onto itself.
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    items: u64,
    low_bits: u32,
    low_mask: u64,
    high_mask: u64,
    keys: [[u64; 2]; PASSES],
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): every output bit depends on every input bit.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Permutation {
    /// Makes a bijection of `items` items (at least 1; 0 is taken as 1), with keys from `rng`.
    pub fn new(items: u64, rng: &mut Rng) -> Self {
        let items = items.max(1);
        let bits = (u64::BITS - (items - 1).leading_zeros()).max(2);
        let low_bits = bits / 2;
        Self {
            items,
            low_bits,
            low_mask: (1 << low_bits) - 1,
            high_mask: (1 << (bits - low_bits)) - 1,
            keys: std::array::from_fn(|_| [rng.next_u64(), rng.next_u64()]),
        }
    }

    fn pass(&self, x: u64) -> u64 {
        let (mut low, mut high) = (x & self.low_mask, x >> self.low_bits);
        for [one, other] in self.keys {
            low ^= mix(high ^ one) & self.low_mask;
            high ^= mix(low ^ other) & self.high_mask;
        }
        (high << self.low_bits) | low
    }

    /// Returns the image of `item`, which should be below `items`; larger values are taken modulo `items`.
    pub fn of(&self, item: u64) -> u64 {
        let mut x = item % self.items;
        loop {
            x = self.pass(x);
            if x < self.items {
                return x;
            }
        }
    }
}
