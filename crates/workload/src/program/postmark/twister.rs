//! PostMark's random numbers: the Mersenne Twister MT19937 with the seeding that its authors published in 1999.

const WORDS: usize = 624;
const MIDDLE: usize = 397;

/// The generator.
#[derive(Clone, Debug)]
pub(super) struct Twister {
    words: [u32; WORDS],
    next: usize,
}

impl Twister {
    /// Seeds every word from the upper halves of two numbers of a linear congruential generator.
    pub(super) fn new(mut seed: u32) -> Self {
        let mut upper = || {
            let half = seed >> 16;
            seed = seed.wrapping_mul(69_069).wrapping_add(1);
            half
        };
        Self {
            words: std::array::from_fn(|_| upper() << 16 | upper()),
            next: WORDS,
        }
    }

    fn twist(&mut self) {
        for at in 0..WORDS {
            let joined =
                (self.words[at] & 0x8000_0000) | (self.words[(at + 1) % WORDS] & 0x7fff_ffff);
            let odd = if joined & 1 == 1 { 0x9908_b0df } else { 0 };
            self.words[at] = self.words[(at + MIDDLE) % WORDS] ^ (joined >> 1) ^ odd;
        }
        self.next = 0;
    }

    fn draw(&mut self) -> u32 {
        if self.next == WORDS {
            self.twist();
        }
        let mut y = self.words[self.next];
        self.next += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c_5680;
        y ^= (y << 15) & 0xefc6_0000;
        y ^ (y >> 18)
    }

    /// Draws a number below `bound`; 0 without a draw if `bound` is 0 (`RND`).
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        match bound {
            0 => 0,
            _ => u64::from(self.draw()) % bound,
        }
    }

    /// Passes over numbers.
    pub(super) fn skip(&mut self, numbers: u64) {
        for _ in 0..numbers {
            self.draw();
        }
    }
}
