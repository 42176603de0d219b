//! Quantiles and tails of distributions, from `statrs`, as the tests need them.

use statrs::distribution::{Binomial, ChiSquared, ContinuousCDF, DiscreteCDF, Normal};

/// Standard normal quantile of `p` in (0, 1); clamped to +-8.3 outside of what `f64` resolves.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    Normal::standard()
        .inverse_cdf(p.clamp(1e-16, 1.0 - 1e-16))
        .clamp(-8.3, 8.3)
}

/// The probability that a standard normal variable exceeds `z`.
pub(crate) fn normal_tail(z: f64) -> f64 {
    Normal::standard().sf(z)
}

/// The probability that a chi-square variable exceeds `value`; `None` without a degree of freedom.
pub(crate) fn chi_square_tail(freedom: f64, value: f64) -> Option<f64> {
    Some(ChiSquared::new(freedom).ok()?.sf(value))
}

/// The probability that of `count` trials more than `more_than` succeed, each with the probability `p`; `None` where `p` is none.
pub fn binomial_tail(p: f64, count: u64, more_than: u64) -> Option<f64> {
    Some(Binomial::new(p, count).ok()?.sf(more_than))
}
