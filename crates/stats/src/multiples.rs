//! The unit behind accesses at multiples of several sizes, of which only those at multiples of the unit take longer.
//!
//! Of the multiples of a size `s`, a share of `gcd(s, u) / u` are multiples of the unit `u`, and the accesses take longer by that
//! share of what one takes. For every candidate that is fitted to all sizes by least squares. No source has this.

/// Accesses at multiples of one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// In bytes.
    pub size: u64,
    /// How much longer they take than others, of those; 0 where they do not.
    pub longer: f64,
    /// Its standard error.
    pub error: f64,
}

/// A candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// In bytes.
    pub size: u64,
    /// How much longer an access at a multiple of it takes.
    pub longer: f64,
    /// The sum of squared deviations over their errors.
    pub misfit: f64,
}

impl Fit {
    /// What it says of accesses at multiples of a size.
    #[must_use]
    pub fn at(&self, size: u64) -> f64 {
        self.longer * share(size, self.size)
    }
}

/// The share of the multiples of a size that are multiples of a unit.
fn share(size: u64, unit: u64) -> f64 {
    gcd(size, unit) as f64 / unit.max(1) as f64
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// How badly it fits that there is no unit: compare with [`Fit::misfit`].
pub fn misfit_of_none(seen: &[Seen]) -> f64 {
    seen.iter().map(|s| (s.longer / s.error).powi(2)).sum()
}

/// All candidates, the best one first. `most` bounds [`Fit::longer`].
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
        // Multiples of 8 are multiples of 12 every third time, those of 24 always.
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
