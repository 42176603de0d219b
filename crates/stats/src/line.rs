//! A line through points whose errors are proportional to their values, with intervals.
//!
//! Weighted least squares (Draper and Smith, "Applied Regression Analysis", 3rd edition, 9.2): the weights are 1/y², so the
//! relative deviations are minimised, and a small value counts as much as a large one. The intervals are those of Student's
//! t with two degrees of freedom less than there are points. They cover the scatter of the points around the line, whether
//! it comes from noise or from a relation that is no line.
//!
//! Values that are not finite or not positive are ignored. One outlier moves the line, so give it medians.

use crate::law::student_t;

/// A coefficient with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coefficient {
    /// The value.
    pub value: f64,
    /// Half of the length of its interval; `None` with two points.
    pub half: Option<f64>,
}

/// A line `y = at_zero + slope * x`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// The value at zero.
    pub at_zero: Coefficient,
    /// The slope.
    pub slope: Coefficient,
}

impl Line {
    /// Returns the value of the line.
    pub fn at(&self, x: f64) -> f64 {
        self.at_zero.value + self.slope.value * x
    }
}

/// Fits a line to points (x, y) by their relative deviations; `None` with fewer than two different x.
pub fn fit(points: &[(f64, f64)]) -> Option<Line> {
    let usable = |(x, y): &&(f64, f64)| x.is_finite() && y.is_finite() && *y > 0.0;
    let points: Vec<(f64, f64)> = points.iter().filter(usable).copied().collect();
    let weight = |y: f64| 1.0 / (y * y);
    let sum = |of: &dyn Fn(f64, f64) -> f64| {
        points
            .iter()
            .map(|&(x, y)| weight(y) * of(x, y))
            .sum::<f64>()
    };
    let total = sum(&|_, _| 1.0);
    let (mean_x, mean_y) = (sum(&|x, _| x) / total, sum(&|_, y| y) / total);
    let spread = sum(&|x, _| (x - mean_x).powi(2));
    // Equal x leave a rounding error as their spread.
    if points.len() < 2 || spread <= f64::EPSILON * total * mean_x * mean_x {
        return None;
    }
    let slope = sum(&|x, y| (x - mean_x) * (y - mean_y)) / spread;
    let at_zero = mean_y - slope * mean_x;
    let freedom = points.len() as f64 - 2.0;
    let scatter = sum(&|x, y| (y - at_zero - slope * x).powi(2)) / freedom;
    let half = |variance: f64| student_t(freedom).map(|t| t * (scatter * variance).sqrt());
    Some(Line {
        at_zero: Coefficient {
            value: at_zero,
            half: half(1.0 / total + mean_x * mean_x / spread),
        },
        slope: Coefficient {
            value: slope,
            half: half(1.0 / spread),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Rng;

    #[test]
    fn the_line_and_its_intervals_by_hand() {
        // Divided by y the model is 1 = a u + b v with (u, v) = (1, 1), (1/2, 1), (1/2, 3/2). The normal equations give
        // a = 10/21 and b = 4/7, the squares of the residuals sum to 1/21, and the inverse matrix has the diagonal
        // 4.25/1.3125 and 1.5/1.3125. Student's t with one degree of freedom is 12.7062.
        let line = fit(&[(1.0, 1.0), (2.0, 2.0), (3.0, 2.0)]).unwrap();
        assert!((line.at_zero.value - 10.0 / 21.0).abs() < 1e-12);
        assert!((line.slope.value - 4.0 / 7.0).abs() < 1e-12);
        let half = |diagonal: f64| 12.7062 * (diagonal / 1.3125 / 21.0).sqrt();
        assert!((line.at_zero.half.unwrap() - half(4.25)).abs() < 1e-4);
        assert!((line.slope.half.unwrap() - half(1.5)).abs() < 1e-4);
        assert!((line.at(3.0) - (10.0 / 21.0 + 12.0 / 7.0)).abs() < 1e-12);
    }

    #[test]
    fn an_exact_line_is_found_over_many_magnitudes() {
        let points: Vec<(f64, f64)> = (0..20)
            .map(|i| f64::from(1 << i))
            .map(|x| (x, 7e6 + 120.0 * x))
            .collect();
        let line = fit(&points).unwrap();
        assert!((line.at_zero.value / 7e6 - 1.0).abs() < 1e-9, "{line:?}");
        assert!((line.slope.value / 120.0 - 1.0).abs() < 1e-9, "{line:?}");
        assert!(line.slope.half.unwrap() < 1e-3);
    }

    #[test]
    fn the_intervals_hold_the_truth_in_95_of_100_cases() {
        let mut rng = Rng::new(3, 0);
        let (mut zero, mut slope) = (0, 0);
        for _ in 0..2000 {
            let points: Vec<(f64, f64)> = (0..10)
                .map(|i| f64::from(1 << i))
                .map(|x| (x, (50.0 + 2.0 * x) * (1.0 + 0.05 * rng.normal())))
                .collect();
            let line = fit(&points).unwrap();
            let holds =
                |c: Coefficient, truth: f64| u32::from((c.value - truth).abs() <= c.half.unwrap());
            zero += holds(line.at_zero, 50.0);
            slope += holds(line.slope, 2.0);
        }
        assert!((1860..=1940).contains(&zero), "{zero}");
        assert!((1860..=1940).contains(&slope), "{slope}");
    }

    #[test]
    fn one_place_is_no_line_and_two_have_no_interval() {
        assert_eq!(fit(&[]), None);
        assert_eq!(
            fit(&[(1.0, 2.0), (1.0, 3.0), (f64::NAN, 1.0), (2.0, 0.0)]),
            None
        );
        let two = fit(&[(1.0, 3.0), (2.0, 5.0)]).unwrap();
        assert!((two.at_zero.value - 1.0).abs() < 1e-12 && two.at_zero.half.is_none());
    }
}
