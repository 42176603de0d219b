//! Seeded random numbers: a run is a function of (spec, seed).
//!
//! PCG-64 (O'Neill 2014) from `rand_pcg`, whose output is fixed by its specification. The derived distributions (bounded
//! integers, uniform, exponential, normal) are implemented here, so that no update of a dependency can change a run.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng as _;

/// A stream of random numbers, determined by `(seed, stream)`.
#[derive(Clone, Debug)]
pub struct Rng(Pcg64);

impl Rng {
    /// Creates stream `stream` of `seed`; two streams of one seed are independent.
    pub fn new(seed: u64, stream: u64) -> Self {
        let state = (u128::from(seed) << 64) | u128::from(seed ^ 0x9e37_79b9_7f4a_7c15);
        let mut pcg = Pcg64::new(state, u128::from(stream));
        // Nearby seeds give nearby initial states; a few steps separate them.
        for _ in 0..4 {
            pcg.next_u64();
        }
        Self(pcg)
    }

    /// Returns 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a uniform integer in `0..bound`, without bias (Lemire 2019); 0 if `bound` is 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        let mut wide = u128::from(self.next_u64()) * u128::from(bound);
        if (wide as u64) < bound {
            let reject = bound.wrapping_neg() % bound;
            while (wide as u64) < reject {
                wide = u128::from(self.next_u64()) * u128::from(bound);
            }
        }
        (wide >> 64) as u64
    }

    /// Returns a uniform number in `[0, 1)` with 53 bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Returns true with probability `p`.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// Returns an exponentially distributed number with the given mean.
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.uniform()).ln()
    }

    /// Returns a standard normal number (Box-Muller, one of the pair).
    #[inline]
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Returns a uniformly chosen item; `None` if there are no items.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len() as u64) as usize)
    }

    /// Shuffles the items in place (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seed_and_stream_repeat_and_others_differ() {
        let draw = |seed, stream| {
            let mut rng = Rng::new(seed, stream);
            (0..8).map(|_| rng.next_u64()).collect::<Vec<_>>()
        };
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(1, 3));
        assert_ne!(draw(1, 2), draw(2, 2));
    }

    #[test]
    fn bounded_draws_are_uniform() {
        let mut rng = Rng::new(7, 0);
        let mut counts = [0u32; 10];
        for _ in 0..100_000 {
            counts[rng.below(10) as usize] += 1;
        }
        // 5 sigma of a binomial(100000, 0.1)
        assert!(
            counts.iter().all(|&c| (9526..=10474).contains(&c)),
            "{counts:?}"
        );
        assert_eq!(rng.below(0), 0);
    }

    #[test]
    fn normal_and_exponential_have_their_moments() {
        let mut rng = Rng::new(9, 0);
        let n = 200_000;
        let mean = (0..n).map(|_| rng.exponential(3.0)).sum::<f64>() / f64::from(n);
        assert!((mean - 3.0).abs() < 0.04, "{mean}");
        let var = (0..n).map(|_| rng.normal().powi(2)).sum::<f64>() / f64::from(n);
        assert!((var - 1.0).abs() < 0.02, "{var}");
    }
}
