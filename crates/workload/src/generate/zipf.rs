//! Exact sampling of Zipf's law in constant time and memory.
//!
//! Rejection-inversion after W. Hörmann and G. Derflinger, "Rejection-inversion to generate variates from monotone
//! discrete distributions", ACM Transactions on Modeling and Computer Simulation 6(3), 1996: a point is drawn under
//! the continuous density `x^-theta` by inversion, rounded to an integer, and rejected where the continuous area
//! over that integer exceeds its probability. It needs no table, and 1.1 to 1.2 draws on average. `theta` may be any
//! number of at least 0, including 1; there the powers become logarithms, and the functions below are continuous at that
//! point.

use fathom_base::Rng;

/// The Zipf distribution over the ranks `1..=n`: rank `k` has a probability proportional to `k^-theta`.
#[derive(Clone, Copy, Debug)]
pub struct Zipf {
    ranks: f64,
    theta: f64,
    /// Lower end of the drawing interval: the integral of the density from 1 to 3/2, minus the weight of rank 1.
    low: f64,
    /// Upper end of the drawing interval: the integral up to `n + 1/2`.
    high: f64,
    /// A point that lies less than this below its integer is always accepted.
    sure: f64,
}

/// Computes `(e^x - 1) / x`, continued through 0.
fn expm1_over(x: f64) -> f64 {
    if x.abs() > 1e-8 {
        x.exp_m1() / x
    } else {
        1.0 + x * 0.5
    }
}

/// Computes `ln(1 + x) / x`, continued through 0.
fn ln_1p_over(x: f64) -> f64 {
    if x.abs() > 1e-8 {
        x.ln_1p() / x
    } else {
        1.0 - x * 0.5
    }
}

impl Zipf {
    /// Makes a distribution over `ranks` ranks (at least 1, where 0 is taken as 1; at most 2^53), with a finite `theta`
    /// of at least 0.
    pub fn new(ranks: u64, theta: f64) -> Self {
        let mut zipf = Self {
            ranks: ranks.max(1) as f64,
            theta,
            low: 0.0,
            high: 0.0,
            sure: 0.0,
        };
        zipf.low = zipf.integral(1.5) - 1.0;
        zipf.high = zipf.integral(zipf.ranks + 0.5);
        zipf.sure = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.weight(2.0));
        zipf
    }

    /// Returns `x^-theta`.
    fn weight(&self, x: f64) -> f64 {
        (-self.theta * x.ln()).exp()
    }

    /// Returns the integral of the weight from 1 to `x`.
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        expm1_over((1.0 - self.theta) * log) * log
    }

    /// Returns the `x` up to which the integral is `area`.
    fn inverse(&self, area: f64) -> f64 {
        let grown = (area * (1.0 - self.theta)).max(-1.0);
        (ln_1p_over(grown) * area).exp()
    }

    /// Draws a rank.
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        loop {
            let area = self.high + rng.uniform() * (self.low - self.high);
            let x = self.inverse(area);
            let rank = x.round().clamp(1.0, self.ranks);
            if rank - x <= self.sure || area >= self.integral(rank + 0.5) - self.weight(rank) {
                return rank as u64;
            }
        }
    }
}
