//! The candidate curves of [`super::comb`] and their fits: a smooth base, a staircase, a comb.
//!
//! Everything is in shares: sizes of the largest size, latencies of their median. Each curve is fitted to the
//! logarithm of the latency ([`super::regression`], `Link::Log`), one value per size.

use super::comb::{Point, Shape};
use super::regression::{Design, Fit, Link, Problem, fit};
use super::robust;
use std::collections::BTreeMap;

/// One value per size.
pub(super) struct Data {
    pub(super) x_bytes: Vec<u64>,
    /// `ln(y / typical)`: the Hodges-Lehmann location of the logarithms of the size's repetitions.
    ln_y: Vec<f64>,
    /// Repetitions of the size over the mean number of repetitions.
    weights: Vec<f64>,
    /// The median over the sizes, in nanoseconds.
    pub(super) typical_ns: f64,
}

impl Data {
    /// Gathers repetitions. Points that are not positive and finite are left out; `None` if nothing is left.
    pub(super) fn gather(points: &[Point]) -> Option<Self> {
        let mut sizes: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for p in points
            .iter()
            .filter(|p| p.y_ns.is_finite() && p.y_ns > 0.0 && p.x_bytes > 0)
        {
            sizes.entry(p.x_bytes).or_default().push(p.y_ns.ln());
        }
        let logs: Vec<f64> = sizes
            .values()
            .filter_map(|v| robust::hodges_lehmann(v))
            .collect();
        let center = robust::median(&logs)?;
        let per_size = sizes.values().map(Vec::len).sum::<usize>() as f64 / sizes.len() as f64;
        Some(Self {
            x_bytes: sizes.keys().copied().collect(),
            ln_y: logs.iter().map(|l| l - center).collect(),
            weights: sizes.values().map(|v| v.len() as f64 / per_size).collect(),
            typical_ns: center.exp(),
        })
    }

    pub(super) fn len(&self) -> usize {
        self.x_bytes.len()
    }

    /// How many sizes are multiples of `period`; none are of 0.
    pub(super) fn multiples(&self, period: u64) -> usize {
        let of = |x: &&u64| period > 0 && x.is_multiple_of(period);
        self.x_bytes.iter().filter(of).count()
    }

    fn share_of_max(&self) -> impl ExactSizeIterator<Item = f64> {
        let max = self.x_bytes.last().copied().unwrap_or(1) as f64;
        self.x_bytes.iter().map(move |&x| x as f64 / max)
    }

    fn fit(&self, design: &Design, scale_min: f64, start: Option<&[f64]>) -> Option<Fit> {
        let problem = Problem {
            design,
            y: &self.ln_y,
            weights: &self.weights,
            link: Link::Log,
            scale_min,
        };
        fit(&problem, start)
    }
}

/// The smooth part of every curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Base {
    /// `a + b t`.
    Line,
    /// `a + b t + q t^2`.
    Curve,
    /// `a + b t + q max(0, t - knot)`.
    Bend(f64),
}

impl Base {
    fn design(self, data: &Data) -> Design {
        let line = Design::ones(data.len()).with(data.share_of_max());
        match self {
            Base::Line => line,
            Base::Curve => line.with(data.share_of_max().map(|t| t * t)),
            Base::Bend(knot) => line.with(data.share_of_max().map(|t| (t - knot).max(0.0))),
        }
    }
}

pub(super) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The share of the penalty that a size pays.
pub(super) fn tooth(shape: Shape, x: u64, period: u64) -> f64 {
    match shape {
        Shape::Divisor => 1.0 - gcd(x, period) as f64 / period as f64,
        Shape::Indicator => f64::from(u8::from(!x.is_multiple_of(period))),
    }
}

/// What stands on the base.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Terms {
    pub(super) stair: Option<u64>,
    /// A second staircase, where there is a first.
    pub(super) wider: Option<u64>,
    pub(super) comb: Option<(Shape, u64)>,
}

/// A fitted curve.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    pub(super) terms: Terms,
    design: Design,
    fit: Fit,
    /// -2 ln likelihood + parameters ln n + 2 ln(candidates) per period (extended BIC, Chen & Chen 2008).
    pub(super) bic: f64,
}

impl Curve {
    /// The comb's penalty and its standard error, as shares of the typical latency. The comb is the last column.
    pub(super) fn penalty(&self) -> (f64, f64) {
        let last = self.design.columns() - 1;
        (self.fit.coefficients[last], self.fit.standard_errors[last])
    }

    /// Whether the latency falls from the size before a multiple of `period` to the multiple: the curve, on average,
    /// and what was measured by at least half as much. No staircase and no sum of staircases falls, whether or not
    /// one of the curves here has its widths.
    pub(super) fn falls_at(&self, data: &Data, period: u64) -> bool {
        let value = |i: usize| self.design.value(i, &self.fit.coefficients).ln();
        let teeth = || (1..data.len()).filter(|&i| data.x_bytes[i].is_multiple_of(period));
        let expected: f64 = teeth().map(|i| value(i - 1) - value(i)).sum();
        let expected = expected / teeth().count().max(1) as f64;
        let seen: Vec<f64> = teeth().map(|i| data.ln_y[i - 1] - data.ln_y[i]).collect();
        expected > 0.0 && robust::hodges_lehmann(&seen).is_some_and(|s| s >= 0.5 * expected)
    }
}

/// Fits curves to one set of data.
pub(super) struct Fitter<'a> {
    pub(super) data: &'a Data,
    pub(super) base: Base,
    scale_min: f64,
    ln_candidates: f64,
    start: Vec<f64>,
}

impl<'a> Fitter<'a> {
    /// Chooses the base by BIC; a line unless another is better by `margin`.
    pub(super) fn new(
        data: &'a Data,
        candidates: usize,
        scale_min: f64,
        margin: f64,
    ) -> Option<(Self, Curve)> {
        let mut fitter = Self {
            data,
            base: Base::Line,
            scale_min,
            ln_candidates: (candidates.max(1) as f64).ln(),
            start: Vec::new(),
        };
        let mut best = fitter.curve(Terms::default())?;
        let bends = (1..8).map(|k| Base::Bend(f64::from(k) / 8.0));
        let line_bic = best.bic;
        for base in std::iter::once(Base::Curve).chain(bends) {
            let trial = Self {
                base,
                start: Vec::new(),
                ..fitter
            };
            if let Some(curve) = trial.curve(Terms::default())
                && curve.bic < best.bic.min(line_bic - margin)
            {
                (fitter, best) = (trial, curve);
            }
        }
        fitter.start.clone_from(&best.fit.coefficients);
        Some((fitter, best))
    }

    /// The best fit of one curve. `None` where it cannot be told from a simpler one (collinear), where the comb
    /// would have to lower the latency, or where a staircase without a comb would have to fall.
    pub(super) fn curve(&self, terms: Terms) -> Option<Curve> {
        let curve = self.fit(self.base.design(self.data), terms, Some(&self.start))?;
        if terms.comb.is_some() {
            return (curve.penalty().0 > 0.0).then_some(curve);
        }
        if terms.stair.is_none() || self.base_grows(&curve) {
            return Some(curve).filter(|c| terms.stair.is_none() || c.penalty().0 > 0.0);
        }
        self.fit(Design::ones(self.data.len()), terms, None)
    }

    fn base_grows(&self, curve: &Curve) -> bool {
        let c = &curve.fit.coefficients;
        let end = match self.base {
            Base::Line => c[1],
            Base::Curve => c[1] + 2.0 * c[2],
            Base::Bend(_) => c[1] + c[2],
        };
        c[1] >= 0.0 && end >= 0.0
    }

    fn fit(&self, base: Design, terms: Terms, start: Option<&[f64]>) -> Option<Curve> {
        let data = self.data;
        let sizes = || data.x_bytes.iter();
        let mut design = base;
        let mut periods = 0.0;
        if let Some(width) = terms.stair {
            let all = sizes().next_back()?.div_ceil(width) as f64;
            design = design.with(sizes().map(|x| x.div_ceil(width) as f64 / all));
            periods += 1.0;
        }
        if let Some(width) = terms.wider {
            let all = sizes().next_back()?.div_ceil(width) as f64;
            design = design.with(sizes().map(|x| x.div_ceil(width) as f64 / all));
            periods += 1.0;
        }
        if let Some((shape, period)) = terms.comb {
            design = design.with(sizes().map(|&x| tooth(shape, x, period)));
            periods += f64::from(u8::from(terms.stair != Some(period)));
        }
        let start = start.filter(|s| !s.is_empty());
        let fit = data.fit(&design, self.scale_min, start)?;
        // Coefficients, the scale, and each period.
        let parameters = design.columns() as f64 + 1.0 + periods;
        let bic = -2.0 * fit.log_likelihood
            + parameters * (data.len() as f64).ln()
            + 2.0 * periods * self.ln_candidates;
        Some(Curve {
            terms,
            design,
            fit,
            bic,
        })
    }
}
