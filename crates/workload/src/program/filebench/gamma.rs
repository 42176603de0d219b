//! The gamma distribution of filebench's file lengths.

use fathom_base::Rng;

/// The shape of the distribution (`sizegamma=1500` of filebench).
pub(super) const SHAPE: f64 = 1.5;

/// Draws from a gamma distribution with a shape of at least 1 and a given mean, after G. Marsaglia and W. W. Tsang, "A
/// simple method for generating gamma variables", ACM Transactions on Mathematical Software 26(3), 2000.
pub(super) fn gamma(shape: f64, mean: f64, rng: &mut Rng) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = rng.normal();
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && (1.0 - rng.uniform()).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v * mean / shape;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_has_its_mean_and_variance() {
        let mut rng = Rng::new(3, 0);
        let n = 100_000;
        let draws: Vec<f64> = (0..n).map(|_| gamma(SHAPE, 10.0, &mut rng)).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(n);
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
        // The variance is mean^2 / shape = 66.7. Both tolerances are five standard errors.
        assert!((mean - 10.0).abs() < 0.13, "{mean}");
        assert!((variance - 200.0 / 3.0).abs() < 2.6, "{variance}");
        assert!(draws.iter().all(|&x| x > 0.0));
    }
}
