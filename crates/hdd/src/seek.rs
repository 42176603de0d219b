//! The seek curve: seek time as a function of distance.
//!
//! `t(d) = single + r * sqrt(d - 1) + l * (d - 1)` for `d >= 1` cylinders: the three-point curve of Lee and Katz, *An
//! analytic performance model of disk arrays* (SIGMETRICS 1993), which DiskSim also uses. The paper gives `r` and `l` in
//! closed form for a continuous distance. Here both are solved for whole cylinders, with the mean weighted as
//! manufacturers do ("weighted average of all possible seek combinations": each distance `d` of at most `n` counts
//! `n + 1 - d` times), so that the curve reproduces the given single, average and full-stroke times exactly. Inward and
//! outward seeks take equally long.

use fathom_base::Dur;

/// A fitted seek curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeekCurve {
    single_ns: f64,
    root_ns: f64,
    linear_ns: f64,
    /// Distance of the full stroke, in cylinders.
    longest: u32,
    /// Means of `sqrt(d - 1)` and of `d - 1` over all pairs of different cylinders.
    means: (f64, f64),
}

impl SeekCurve {
    /// Fits the curve to the times of a seek over one cylinder, of the average seek and of the full stroke, for a disk of
    /// `cylinders` cylinders. Fewer than ten cylinders do not determine it.
    pub(crate) fn fit(single: Dur, average: Dur, full: Dur, cylinders: u32) -> Self {
        let longest = cylinders.saturating_sub(1);
        let means = means(longest);
        let single_ns = single.0 as f64;
        let average = average.0 as f64 - single_ns;
        let full = full.0 as f64 - single_ns;
        // r * means.0 + l * means.1 = average;  r * reach + l * reach^2 = full
        let reach = f64::from(longest.saturating_sub(1)).sqrt();
        let determinant = means.0 * reach * reach - means.1 * reach;
        let root_ns = (average * reach * reach - full * means.1) / determinant;
        let linear_ns = (full * means.0 - average * reach) / determinant;
        Self {
            single_ns,
            root_ns,
            linear_ns,
            longest,
            means,
        }
    }

    /// Returns the time of a seek over `distance` cylinders, until the head is ready to read; zero for distance 0.
    pub fn time(&self, distance: u32) -> Dur {
        if distance == 0 {
            return Dur::ZERO;
        }
        let beyond = f64::from(distance - 1);
        let ns = self.single_ns + self.root_ns * beyond.sqrt() + self.linear_ns * beyond;
        Dur(ns.round() as u64)
    }

    /// Returns the distance of the full stroke, in cylinders.
    pub fn longest(&self) -> u32 {
        self.longest
    }

    /// Returns the coefficients of `sqrt(d - 1)` and of `d - 1`, in nanoseconds.
    pub fn coefficients_ns(&self) -> (f64, f64) {
        (self.root_ns, self.linear_ns)
    }

    /// Returns true if the seek time never decreases with the distance.
    pub(crate) fn never_falls(&self) -> bool {
        // The slope is monotone in the distance, so it suffices to check the first step and the far end.
        let (r, l) = (self.root_ns, self.linear_ns);
        let reach = f64::from(self.longest.saturating_sub(1)).sqrt();
        let slack = -1e-9;
        r.is_finite() && r + l >= slack && r + 2.0 * l * reach >= slack
    }

    /// Returns the smallest and the largest average seek time for which the curve never decreases, given the other two
    /// times.
    pub(crate) fn averages(&self) -> (Dur, Dur) {
        let reach = f64::from(self.longest.saturating_sub(1)).sqrt();
        let full = self.root_ns * reach + self.linear_ns * reach * reach;
        let mean = |r: f64, l: f64| self.single_ns + r * self.means.0 + l * self.means.1;
        // Flat over the first step: r = -l. Flat at the far end: r = -2l * reach.
        let near = full / (reach * reach - reach);
        let far = -full / (reach * reach);
        let low = mean(-near, near).ceil().max(0.0);
        let high = mean(-2.0 * far * reach, far).floor().max(0.0);
        (Dur(low as u64), Dur(high as u64))
    }
}

/// Returns the means of `sqrt(d - 1)` and of `d - 1` over the distances of all pairs of different cylinders.
fn means(longest: u32) -> (f64, f64) {
    let (mut roots, mut lengths, mut pairs) = (0.0, 0.0, 0.0);
    for distance in 1..=longest {
        let weight = f64::from(longest - distance + 1);
        let beyond = f64::from(distance - 1);
        roots += weight * beyond.sqrt();
        lengths += weight * beyond;
        pairs += weight;
    }
    (roots / pairs, lengths / pairs)
}
