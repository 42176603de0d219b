//! A bijection of `0..n` onto itself, made from a key, in constant memory.
//!
//! A Feistel network over the bits of `n - 1`, with cycle walking where `n` is no power of two: what comes out at
//! or above `n` is sent through again until it does not (J. Black and P. Rogaway, "Ciphers with arbitrary finite
//! domains", CT-RSA 2002). On average fewer than two passes. It deals ranks over a range so that neighbours part;
//! it is no cipher.

use fathom_base::Rng;

/// Passes of the network over both halves, two rounds each. After one, the difference of two items that share their
/// upper half is still there in the lower. After two it is there oftener than by chance, because two lower halves that
/// are mixed alike cancel out. After three it is not (a test looks at it).
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

/// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): every bit of the result hangs on every bit.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Permutation {
    /// Of `items` of at least 1 (0 is taken as 1), with keys from `rng`.
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

    /// Where `item`, below `items`, goes. Anything else is taken modulo `items`.
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
