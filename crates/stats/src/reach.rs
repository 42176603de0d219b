//! Finds the reach of caches from the mean times of accesses at random places of spans of growing length.
//!
//! A cache that covers `c` bytes answers a share `c / s` of the accesses to a span of `s` bytes, whatever it replaces, if
//! the places are independent and equally likely. The mean time is then constant up to `c` and approaches the time of a
//! miss as `1 - c / s`. Two caches one behind the other (data, and the map of where data lie) multiply: only a miss of the
//! first asks the second. The levels are fitted by weighted least squares for every reach on a grid of the logarithm.
//!
//! The null models: a constant, and a line over the logarithm of the span, which a seeking head and other gradual costs
//! resemble. Models are compared by their misfit with a penalty for each parameter (Schwarz 1978).

/// The mean time over one span.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spanned {
    /// The span, in bytes.
    pub span: f64,
    /// The mean time.
    pub mean: f64,
    /// Its standard error.
    pub error: f64,
}

/// What explains the times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Explained {
    /// The span makes no difference.
    Constant,
    /// The time grows gradually.
    Gradual,
    /// One cache.
    One(Cached),
    /// A cache behind another one that reaches less far; `before` is the reach of that one.
    Two {
        /// The reach of the first cache, in bytes.
        before: f64,
        /// The time of a hit of the first cache.
        first: f64,
        /// The second cache.
        behind: Cached,
    },
}

/// A cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cached {
    /// How far it reaches, in bytes.
    pub reach: f64,
    /// The interval of the reach, at 95 %.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The time of a hit.
    pub hit: f64,
    /// The extra time of a miss.
    pub miss: f64,
}

/// The candidates for the reach in each octave.
const GRID: usize = 16;
/// The factor between the reaches of two caches that can be told apart.
const APART: f64 = 3.0;
/// The decrease of the misfit by one parameter at the end of a 95 % interval.
const EDGE: f64 = 3.84;

struct Fitted {
    misfit: f64,
    levels: Vec<f64>,
}

/// Returns what explains the times, and the misfit for each span beyond the free parameters; `None` with fewer than six
/// spans.
pub fn explain(spans: &[Spanned]) -> Option<Explained> {
    let grid = grid(spans)?;
    let count = spans.len() as f64;
    let constant = fit(spans, &[&|_| 1.0])?;
    let gradual = fit(spans, &[&|_| 1.0, &|s| s.ln()])?;
    let ones: Vec<(f64, Fitted)> = grid
        .iter()
        .filter_map(|&c| Some((c, fit(spans, &[&|_| 1.0, &|s| missed(c, s)])?)))
        .filter(|(_, fitted)| fitted.levels[1] > 0.0)
        .collect();
    let one = best(&ones);
    let mut twos: Vec<(f64, f64, Fitted)> = Vec::new();
    for &b in &grid {
        for &c in grid.iter().filter(|c| **c >= APART * b) {
            let both = |s: f64| missed(b, s) * missed(c, s);
            let fitted = fit(spans, &[&|_| 1.0, &|s| missed(b, s), &both]);
            twos.extend(
                fitted
                    .filter(|f| f.levels[1] > 0.0 && f.levels[2] > 0.0)
                    .map(|f| (b, c, f)),
            );
        }
    }
    let two = twos.iter().min_by(|x, y| x.2.misfit.total_cmp(&y.2.misfit));
    // Errors that are too small, or a shape that is not quite right, must not make every difference significant.
    let least = [
        Some(constant.misfit),
        Some(gradual.misfit),
        one.map(|o| o.1.misfit),
        two.map(|t| t.2.misfit),
    ];
    let least = least.into_iter().flatten().fold(f64::MAX, f64::min);
    let scale = (least / (count - 5.0).max(1.0)).max(1.0);
    let cost = |misfit: f64, parameters: f64| misfit / scale + 2.0 * parameters * count.ln();
    let mut found = (cost(constant.misfit, 1.0), Explained::Constant);
    let mut consider = |cost: f64, what: Explained| {
        if cost < found.0 {
            found = (cost, what);
        }
    };
    consider(cost(gradual.misfit, 2.0), Explained::Gradual);
    if let Some((c, fitted)) = one {
        let near = ones
            .iter()
            .filter(|o| o.1.misfit - fitted.misfit < EDGE * scale)
            .map(|o| o.0);
        let cached = cached(*c, near, fitted.levels[0], fitted.levels[1]);
        consider(cost(fitted.misfit, 3.0), Explained::One(cached));
    }
    if let Some((b, c, fitted)) = two {
        let near = twos
            .iter()
            .filter(|t| t.2.misfit - fitted.misfit < EDGE * scale)
            .map(|t| t.1);
        let levels = &fitted.levels;
        let behind = cached(*c, near, levels[0] + levels[1], levels[2]);
        let what = Explained::Two {
            before: *b,
            first: levels[0],
            behind,
        };
        consider(cost(fitted.misfit, 5.0), what);
    }
    Some(found.1)
}

fn cached(reach: f64, near: impl Iterator<Item = f64>, hit: f64, miss: f64) -> Cached {
    let step = (2f64.ln() / GRID as f64 / 2.0).exp();
    let (low, high) = near.fold((reach, reach), |(low, high), c| (low.min(c), high.max(c)));
    Cached {
        reach,
        low: low / step,
        high: high * step,
        hit,
        miss,
    }
}

fn best(fits: &[(f64, Fitted)]) -> Option<&(f64, Fitted)> {
    fits.iter().min_by(|a, b| a.1.misfit.total_cmp(&b.1.misfit))
}

/// Returns the share of accesses to a span that a cache does not answer.
fn missed(reach: f64, span: f64) -> f64 {
    (1.0 - reach / span).max(0.0)
}

fn grid(spans: &[Spanned]) -> Option<Vec<f64>> {
    if spans.len() < 6 {
        return None;
    }
    let low = spans.iter().map(|s| s.span).fold(f64::MAX, f64::min);
    let high = spans.iter().map(|s| s.span).fold(0.0, f64::max);
    let steps = ((high / low).log2() * GRID as f64) as usize;
    let at = |i: usize| low * (i as f64 / GRID as f64).exp2();
    Some((0..=steps).map(at).filter(|c| *c < 0.95 * high).collect())
}

/// Fits levels to shapes by weighted least squares; `None` if they are not independent.
fn fit(spans: &[Spanned], shapes: &[&dyn Fn(f64) -> f64]) -> Option<Fitted> {
    let n = shapes.len();
    let mut rows = vec![vec![0.0; n + 1]; n];
    for s in spans {
        let weight = 1.0 / (s.error * s.error).max(f64::MIN_POSITIVE);
        for (i, row) in rows.iter_mut().enumerate() {
            for (j, cell) in row.iter_mut().enumerate() {
                let other = shapes.get(j).map_or(s.mean, |shape| shape(s.span));
                *cell += weight * shapes[i](s.span) * other;
            }
        }
    }
    let levels = solve(rows)?;
    let at = |s: &Spanned| -> f64 { (0..n).map(|i| levels[i] * shapes[i](s.span)).sum() };
    let misfit = spans
        .iter()
        .map(|s| ((s.mean - at(s)) / s.error).powi(2))
        .sum();
    Some(Fitted { misfit, levels })
}

/// Solves linear equations, each a row with its right side at the end, by elimination with pivots on the diagonal.
fn solve(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = rows.len();
    for i in 0..n {
        let pivot = rows[i][i];
        let scale = rows[i][..n].iter().fold(0.0f64, |a, b| a.max(b.abs()));
        if pivot.abs() <= 1e-9 * scale || !pivot.is_finite() || pivot == 0.0 {
            return None;
        }
        let from = rows[i].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(j, _)| *j != i) {
            let factor = row[i] / pivot;
            row.iter_mut()
                .zip(&from)
                .for_each(|(cell, of)| *cell -= factor * of);
        }
    }
    Some((0..n).map(|i| rows[i][n] / rows[i][i]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Rng;

    const MIB: f64 = 1_048_576.0;

    fn spans(seed: u64, noise: f64, time: impl Fn(f64) -> f64) -> Vec<Spanned> {
        let mut rng = Rng::new(seed, 0);
        (0..16)
            .map(|k| MIB * f64::from(1 << k) / 8.0)
            .map(|span| Spanned {
                span,
                mean: time(span) + noise * rng.normal(),
                error: noise,
            })
            .collect()
    }

    #[test]
    fn three_equations_by_hand() {
        // x = 1, y = 2, z = 3.
        let rows = vec![
            vec![2.0, 1.0, 1.0, 7.0],
            vec![1.0, 3.0, 2.0, 13.0],
            vec![1.0, 0.0, 1.0, 4.0],
        ];
        let found = solve(rows).unwrap();
        for (found, right) in found.iter().zip([1.0, 2.0, 3.0]) {
            assert!((found - right).abs() < 1e-9, "{found}");
        }
        assert_eq!(solve(vec![vec![1.0, 1.0, 2.0], vec![1.0, 1.0, 2.0]]), None);
    }

    #[test]
    fn one_reach_is_found_between_the_spans_and_its_interval_holds_it() {
        let mut held = 0;
        for seed in 0..100 {
            let reach = MIB * (5.0 + seed as f64);
            let seen = spans(seed, 0.5, |s| 100.0 + 60.0 * missed(reach, s));
            let Some(Explained::One(found)) = explain(&seen) else {
                panic!("seed {seed}: {:?}", explain(&seen));
            };
            assert!((found.miss - 60.0).abs() < 4.0, "{found:?}");
            assert!((found.reach / reach).ln().abs() < 0.15, "{reach} {found:?}");
            held += u32::from((found.low..=found.high).contains(&reach));
        }
        assert!(held >= 88, "{held}");
    }

    #[test]
    fn a_cache_behind_another_is_told_from_it() {
        let (data, map) = (2.0 * MIB, 64.0 * MIB);
        let time = |s: f64| 20.0 + 80.0 * missed(data, s) + 60.0 * missed(data, s) * missed(map, s);
        let Some(Explained::Two {
            before,
            first,
            behind,
        }) = explain(&spans(1, 0.3, time))
        else {
            panic!();
        };
        assert!((before / data).ln().abs() < 0.1 && (first - 20.0).abs() < 1.0);
        assert!((behind.reach / map).ln().abs() < 0.1, "{behind:?}");
        assert!((behind.hit - 100.0).abs() < 2.0 && (behind.miss - 60.0).abs() < 3.0);
    }

    #[test]
    fn nothing_and_gradual_costs_are_no_reach() {
        let mut wrong = 0;
        for seed in 0..200 {
            wrong += u32::from(explain(&spans(seed, 2.0, |_| 100.0)) != Some(Explained::Constant));
            let grows = explain(&spans(seed, 0.5, |s| 100.0 + 3.0 * s.ln()));
            wrong += u32::from(grows != Some(Explained::Gradual));
        }
        assert!(wrong <= 4, "{wrong}");
        assert_eq!(explain(&spans(1, 1.0, |_| 1.0)[..5]), None);
    }
}
