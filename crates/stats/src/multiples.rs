//! Finds a unit from accesses at multiples of several sizes, if only those at multiples of the unit take longer.
//!
//! Of the multiples of a size `s`, a share of `gcd(s, u) / u` are multiples of the unit `u`. On average the accesses take
//! longer by this share of the extra time of one access. This model is fitted to all sizes by least squares, for every
//! candidate unit. It has no published source.

/// Accesses at multiples of one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// The size in bytes.
    pub size: u64,
    /// How much longer they take than other accesses, as a ratio less 1; 0 if they take equally long.
    pub longer: f64,
    /// The standard error of `longer`.
    pub error: f64,
}

/// A candidate unit, fitted to all sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// The unit in bytes.
    pub size: u64,
    /// How much longer an access at a multiple of it takes than others, as a ratio less 1.
    pub longer: f64,
    /// The sum of the squares of deviation over standard error.
    pub misfit: f64,
}

impl Fit {
    /// Returns the prediction for accesses at multiples of a size: how much longer they take.
    #[must_use]
    pub fn at(&self, size: u64) -> f64 {
        self.longer * share(size, self.size)
    }
}

/// Returns the share of the multiples of a size that are multiples of a unit.
fn share(size: u64, unit: u64) -> f64 {
    gcd(size, unit) as f64 / unit.max(1) as f64
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Returns the misfit of the assumption that there is no unit, to compare with [`Fit::misfit`].
pub fn misfit_of_none(seen: &[Seen]) -> f64 {
    seen.iter().map(|s| (s.longer / s.error).powi(2)).sum()
}

/// Returns the fits of all candidates, best first. `most` is the upper limit of [`Fit::longer`].
pub fn fits(seen: &[Seen], candidates: &[u64], most: f64) -> Vec<Fit> {
    let fits = candidates.iter().filter_map(|&u| fit(seen, u, most));
    let mut fits: Vec<Fit> = fits.collect();
    fits.sort_by(|a, b| a.misfit.total_cmp(&b.misfit));
    fits
}

fn fit(seen: &[Seen], size: u64, most: f64) -> Option<Fit> {
    let weighted =
        |of: &dyn Fn(&Seen) -> f64| -> f64 { seen.iter().map(|s| of(s) / s.error.powi(2)).sum() };
    let shares = weighted(&|s| share(s.size, size).powi(2));
    if shares <= 0.0 {
        return None;
    }
    let longer = weighted(&|s| share(s.size, size) * s.longer) / shares;
    let fit = Fit {
        size,
        longer: longer.clamp(0.0, most),
        misfit: 0.0,
    };
    let misfit = weighted(&|s| (s.longer - fit.at(s.size)).powi(2));
    Some(Fit { misfit, ..fit })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(size: u64, longer: f64) -> Seen {
        Seen {
            size,
            longer,
            error: 0.1,
        }
    }

    #[test]
    fn shares_by_hand() {
        // Every third multiple of 8 is a multiple of 12, and every multiple of 24.
        let fit = Fit {
            size: 12,
            longer: 0.9,
            misfit: 0.0,
        };
        assert!((fit.at(8) - 0.3).abs() < 1e-12);
        assert!((fit.at(24) - 0.9).abs() < 1e-12);
    }

    #[test]
    fn the_unit_fits_best_and_exactly() {
        let all = [seen(8, 0.3), seen(24, 0.9), seen(4, 0.3), seen(6, 0.45)];
        let fits = fits(&all, &[2, 4, 6, 8, 12, 24], 1.0);
        assert_eq!(fits[0].size, 12);
        assert!(fits[0].misfit < 1e-12 && (fits[0].longer - 0.9).abs() < 1e-12);
        // (0.3² + 0.9² + 0.3² + 0.45²) / 0.1².
        assert!((misfit_of_none(&all) - 119.25).abs() < 1e-9);
    }

    #[test]
    fn what_takes_less_time_is_no_unit() {
        let fits = fits(&[seen(8, -0.5)], &[8], 1.0);
        assert_eq!(fits[0].longer, 0.0);
        assert!((fits[0].misfit - 25.0).abs() < 1e-9);
    }

    #[test]
    fn more_than_can_be_is_not_fitted() {
        let fits = fits(&[seen(8, 2.0)], &[8], 1.5);
        assert_eq!(fits[0].longer, 1.5);
        assert!((fits[0].misfit - 25.0).abs() < 1e-9);
    }
}
