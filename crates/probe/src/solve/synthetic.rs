//! Drives that are a formula: latencies over request size for the tests of the detectors.

use super::comb::Point;
use fathom_base::Rng;

pub(super) const KIB: u64 = 1024;

/// How a latency grows with the size, in nanoseconds.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    Line,
    Bent,
    Staircase {
        period: u64,
        share: f64,
    },
    /// Units touched by consecutive offsets, by the greatest common divisor.
    Comb {
        period: u64,
        share: f64,
    },
    /// A penalty wherever the size is no multiple.
    Flat {
        period: u64,
        share: f64,
    },
    /// A comb on a staircase of another width.
    Both {
        comb: u64,
        share: f64,
        stair: u64,
    },
    /// Two staircases, one on the other.
    Stairs {
        narrow: u64,
        wide: u64,
    },
}

/// Measurement errors: lognormal, and spikes of 5 to 50 times.
#[derive(Clone, Copy)]
pub(super) struct Noise {
    pub(super) sigma: f64,
    pub(super) spikes: f64,
}

impl Noise {
    pub(super) fn of(sigma: f64) -> Self {
        Self {
            sigma,
            spikes: 0.03,
        }
    }

    pub(super) fn factor(self, rng: &mut Rng) -> f64 {
        let spike = if rng.chance(self.spikes) {
            5.0 + 45.0 * rng.uniform()
        } else {
            1.0
        };
        spike * (self.sigma * rng.normal()).exp()
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Written out anew here, so that the detector's own formulas are not their own witness.
pub(super) fn latency_ns(shape: Shape, x: u64, x_max: u64) -> f64 {
    let t = x as f64 / x_max as f64;
    let line = 100_000.0 + 900_000.0 * t;
    // `share` is of the latency at half of the largest size.
    let typical = 550_000.0;
    match shape {
        Shape::Line => line,
        Shape::Bent => line + 250_000.0 * (t - 0.6).max(0.0),
        Shape::Staircase { period, share } => {
            100_000.0 + 300_000.0 * t + share * typical * x.div_ceil(period) as f64
        }
        Shape::Comb { period, share } => {
            line + share * typical * (1.0 - gcd(x, period) as f64 / period as f64)
        }
        Shape::Flat { period, share } => {
            line + share * typical * f64::from(u8::from(!x.is_multiple_of(period)))
        }
        Shape::Stairs { narrow, wide } => {
            let reached = |width: u64| x.div_ceil(width) as f64 * width as f64 / x_max as f64;
            100_000.0 + 400_000.0 * reached(narrow) + 500_000.0 * reached(wide)
        }
        Shape::Both { comb, share, stair } => {
            let steps = x.div_ceil(stair) as f64 * stair as f64 / x_max as f64;
            100_000.0
                + 900_000.0 * steps
                + share * typical * (1.0 - gcd(x, comb) as f64 / comb as f64)
        }
    }
}

/// `reps` points at each of `count` sizes `step`, 2 `step`, ...
pub(super) fn sweep(
    shape: Shape,
    step: u64,
    (count, reps): (u64, u32),
    noise: Noise,
    rng: &mut Rng,
) -> Vec<Point> {
    let mut points = Vec::new();
    for i in 1..=count {
        let typical = latency_ns(shape, i * step, count * step);
        points.extend((0..reps).map(|_| Point {
            x_bytes: i * step,
            y_ns: typical * noise.factor(rng),
        }));
    }
    points
}
