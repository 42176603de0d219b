//! Quantiles and tail probabilities of distributions, from `statrs`, in the forms that the tests of this crate need.

use statrs::distribution::{Binomial, ChiSquared, ContinuousCDF, DiscreteCDF, Normal, StudentsT};

/// Returns the standard normal quantile of `p` in (0, 1), clamped to +-8.3, beyond which `f64` does not resolve it.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    Normal::standard()
        .inverse_cdf(p.clamp(1e-16, 1.0 - 1e-16))
        .clamp(-8.3, 8.3)
}

/// Returns the probability that a standard normal variable exceeds `z`.
pub(crate) fn normal_tail(z: f64) -> f64 {
    Normal::standard().sf(z)
}

/// Returns the 97.5 % quantile of Student's t, the end of a 95 % interval; `None` below one degree of freedom.
pub(crate) fn student_t(freedom: f64) -> Option<f64> {
    let law = (freedom >= 1.0).then(|| StudentsT::new(0.0, 1.0, freedom).ok());
    Some(law??.inverse_cdf(0.975))
}

/// Returns the probability that a chi-square variable exceeds `value`; `None` if `freedom` is not positive.
pub(crate) fn chi_square_tail(freedom: f64, value: f64) -> Option<f64> {
    Some(ChiSquared::new(freedom).ok()?.sf(value))
}

/// Returns the probability that more than `more_than` of `count` trials succeed, each with probability `p`; `None` if `p` is
/// not a probability.
pub fn binomial_tail(p: f64, count: u64, more_than: u64) -> Option<f64> {
    Some(Binomial::new(p, count).ok()?.sf(more_than))
}
