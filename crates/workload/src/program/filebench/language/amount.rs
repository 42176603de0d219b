//! Amounts: a number, or a random variable (`cvar`).

use fathom_base::Rng;

/// A number, or a variable that is drawn anew for each use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// A number.
    Fixed(u64),
    /// A random variable.
    Random(Distribution),
}

/// A random variable: `cvar(type=...,parameters=...,min=...,max=...,round=...)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distribution {
    /// The distribution.
    pub shape: Shape,
    /// Smallest value; smaller ones become this.
    pub min: u64,
    /// Largest value; larger ones become this.
    pub max: u64,
    /// Values become the nearest multiple of this; 0 for none.
    pub round: u64,
}

/// A distribution with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// `cvar-gamma`: mean above 0, and the shape parameter `gamma` above 0.
    Gamma {
        /// The mean.
        mean: f64,
        /// The shape parameter.
        gamma: f64,
    },
    /// `cvar-uniform`: from `lower` to `upper`.
    Uniform {
        /// The lower bound.
        lower: f64,
        /// The upper bound, at least the lower one.
        upper: f64,
    },
    /// `cvar-exponential`.
    Exponential {
        /// The mean, at least 0.
        mean: f64,
    },
    /// `cvar-normal`. Negative values become 0.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation, at least 0.
        sigma: f64,
    },
}

impl Amount {
    /// Draws a value.
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        match self {
            Self::Fixed(number) => *number,
            Self::Random(distribution) => distribution.draw(rng),
        }
    }

    /// The number, if it is one.
    pub fn fixed(&self) -> Option<u64> {
        match self {
            Self::Fixed(number) => Some(*number),
            Self::Random(_) => None,
        }
    }
}

impl Distribution {
    /// Draws a value: rounds it, then moves it into the range.
    fn draw(&self, rng: &mut Rng) -> u64 {
        let value = match self.shape {
            Shape::Gamma { mean, gamma } => mean / gamma * standard_gamma(gamma, rng),
            Shape::Uniform { lower, upper } => lower + (upper - lower) * rng.uniform(),
            Shape::Exponential { mean } => rng.exponential(mean),
            Shape::Normal { mean, sigma } => mean + sigma * rng.normal(),
        };
        let value = value as u64;
        let rounded = match self.round {
            0 => value,
            round => {
                let over = value % round;
                // Halves go down, as in filebench.
                let up = if over > round - over { round } else { 0 };
                (value - over).saturating_add(up)
            }
        };
        rounded.clamp(self.min, self.max)
    }
}

/// Draws from the gamma distribution of a shape above 0 and scale 1, after G. Marsaglia and W. W. Tsang, "A simple method
/// for generating gamma variables", ACM Transactions on Mathematical Software 26(3), 2000; shapes below 1 by their
/// section 6.
fn standard_gamma(shape: f64, rng: &mut Rng) -> f64 {
    if shape < 1.0 {
        let u = 1.0 - rng.uniform();
        return standard_gamma(shape + 1.0, rng) * u.powf(1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = rng.normal();
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && (1.0 - rng.uniform()).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: Distribution = Distribution {
        shape: Shape::Exponential { mean: 1.0 },
        min: 0,
        max: u64::MAX,
        round: 0,
    };

    #[test]
    fn gamma_has_its_mean_and_variance() {
        let mut rng = Rng::new(3, 0);
        let n = 100_000;
        for shape in [0.5, 1.5] {
            let draws: Vec<f64> = (0..n).map(|_| standard_gamma(shape, &mut rng)).collect();
            let mean = draws.iter().sum::<f64>() / f64::from(n);
            let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
            // Mean and variance are both the shape. The fourth central moment is 3 s^2 + 6 s, so both tolerances are
            // above five standard errors.
            assert!((mean - shape).abs() < 0.02, "{shape}: {mean}");
            assert!((variance - shape).abs() < 0.06, "{shape}: {variance}");
            assert!(draws.iter().all(|&x| x >= 0.0));
        }
    }

    #[test]
    fn values_are_rounded_and_kept_in_their_range() {
        let drawn = |value: f64, round, min, max| {
            let (lower, upper) = (value, value);
            let shape = Shape::Uniform { lower, upper };
            let of = Distribution {
                shape,
                min,
                max,
                round,
            };
            of.draw(&mut Rng::new(1, 1))
        };
        assert_eq!(drawn(6_143.0, 4_096, 0, u64::MAX), 4_096);
        assert_eq!(drawn(6_144.0, 4_096, 0, u64::MAX), 4_096);
        assert_eq!(drawn(6_145.0, 4_096, 0, u64::MAX), 8_192);
        assert_eq!(drawn(5.0, 0, 10, 20), 10);
        assert_eq!(drawn(50.0, 0, 10, 20), 20);
        assert_eq!(drawn(-5.0, 0, 0, 20), 0);
        // 2^64 - 1 is 3 above a multiple of 4, and the next one is too large.
        assert_eq!(drawn(1e300, 4, 0, u64::MAX), u64::MAX);
    }

    #[test]
    fn the_other_distributions_have_their_means() {
        let mut rng = Rng::new(4, 0);
        for shape in [
            Shape::Exponential { mean: 1_000.0 },
            Shape::Normal {
                mean: 1_000.0,
                sigma: 100.0,
            },
            Shape::Uniform {
                lower: 500.0,
                upper: 1_500.0,
            },
        ] {
            let of = Distribution { shape, ..FREE };
            let sum: u64 = (0..10_000).map(|_| of.draw(&mut rng)).sum();
            // The largest standard error is that of the exponential distribution: 10. Values lose half a unit.
            assert!((sum as f64 / 10_000.0 - 1_000.0).abs() < 50.0, "{shape:?}");
        }
    }
}
