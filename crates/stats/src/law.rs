//! Quantiles and tails of distributions, from `statrs`, as the tests need them.

use statrs::distribution::{Binomial, ChiSquared, ContinuousCDF, DiscreteCDF, Normal, StudentsT};

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

/// The upper 97.5 % point of Student's t, so that a 95 % interval ends there; `None` below one degree of freedom.
pub(crate) fn student_t(freedom: f64) -> Option<f64> {
    let law = (freedom >= 1.0).then(|| StudentsT::new(0.0, 1.0, freedom).ok());
    Some(law??.inverse_cdf(0.975))
}

/// The probability that a chi-square variable exceeds `value`; `None` without a degree of freedom.
pub(crate) fn chi_square_tail(freedom: f64, value: f64) -> Option<f64> {
    Some(ChiSquared::new(freedom).ok()?.sf(value))
}

/// The probability that of `count` trials more than `more_than` succeed, each with the probability `p`; `None` where `p` is none.
pub fn binomial_tail(p: f64, count: u64, more_than: u64) -> Option<f64> {
    Some(Binomial::new(p, count).ok()?.sf(more_than))
}
