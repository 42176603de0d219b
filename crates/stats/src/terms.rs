//! Explains values by a few terms out of many: least squares with forward selection by BIC.
//!
//! The model begins with base terms, for example a constant and a slope. In each step the term of the pool that explains
//! most of what is left joins it, as long as the Bayesian information criterion (Schwarz, "Estimating the dimension of a
//! model", Ann. Statist. 6, 1978) falls by a given amount: `n ln(RSS / n)` plus a price for each term. The price is that of
//! the extended criterion (Chen and Chen, "Extended Bayesian information criteria for model selection with large model
//! spaces", Biometrika 95, 2008): `ln n + 2 ln P` for a pool of `P` terms, so that a large pool does not find terms in
//! noise. A term counts only with a positive coefficient.
//!
//! Least squares have no protection against outliers: clip the values first.

/// A term that was chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// Its index in the pool.
    pub index: usize,
    /// By how much the criterion fell when it joined.
    pub gain: f64,
}

/// A model: chosen terms of a pool, in the order in which they joined.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The terms.
    pub terms: Vec<Term>,
    /// The criterion of the whole model. Only differences matter.
    pub bic: f64,
}

/// What is left of the rules of a selection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// The largest number of terms.
    pub most: usize,
    /// The least fall of the criterion for which a term joins.
    pub gain: f64,
}

/// The share of its length that a column must keep when the other columns are taken out of it, to count as a new one.
const NEW: f64 = 1e-6;
/// The least residual sum of squares, as a share of that of the values: values without noise fit exactly.
const EXACT: f64 = 1e-18;

/// Chooses terms of `pool` to explain `values`, beside the terms of `base`. A term is the list of its values, one for each
/// value that is explained. Returns `None` if there are too few values for the base, or if the lengths differ.
pub fn select(values: &[f64], base: &[Vec<f64>], pool: &[Vec<f64>], rules: Rules) -> Option<Model> {
    let count = values.len();
    let same = base.iter().chain(pool).all(|term| term.len() == count);
    if !same || count < base.len() + rules.most + 2 {
        return None;
    }
    let mut space = Space::default();
    base.iter().for_each(|term| space.join(term));
    let mut left = space.apart(values);
    let least = EXACT * dot(values, values);
    let price = (count as f64).ln() + 2.0 * (pool.len().max(1) as f64).ln();
    let score = |squares: f64| count as f64 * (squares.max(least) / count as f64).ln();
    let mut apart: Vec<Vec<f64>> = pool.iter().map(|term| space.apart(term)).collect();
    let lengths: Vec<f64> = pool.iter().map(|term| dot(term, term)).collect();
    let mut model = Model {
        terms: Vec::new(),
        bic: score(dot(&left, &left)),
    };
    while model.terms.len() < rules.most {
        let Some((index, explained)) = best(&left, &apart, &lengths) else {
            break;
        };
        let squares = dot(&left, &left);
        let gain = score(squares) - score((squares - explained).max(0.0)) - price;
        if gain < rules.gain {
            break;
        }
        model.terms.push(Term { index, gain });
        model.bic -= gain;
        let unit = scaled(&apart[index]);
        without(&mut left, &unit);
        apart.iter_mut().for_each(|term| without(term, &unit));
    }
    Some(model)
}

/// Returns the criterion of the model with given terms of the pool beside the base, at the prices of [`select`]; `None` as
/// there.
pub fn bic(values: &[f64], base: &[Vec<f64>], pool: &[Vec<f64>], terms: &[usize]) -> Option<f64> {
    let count = values.len();
    let chosen: Vec<&Vec<f64>> = terms.iter().filter_map(|index| pool.get(*index)).collect();
    let mut all = base.iter().chain(chosen.iter().copied());
    if count < base.len() + terms.len() + 2 || all.any(|term| term.len() != count) {
        return None;
    }
    let mut space = Space::default();
    base.iter().for_each(|term| space.join(term));
    chosen.iter().for_each(|term| space.join(term));
    let left = space.apart(values);
    let squares = dot(&left, &left).max(EXACT * dot(values, values));
    let price = (count as f64).ln() + 2.0 * (pool.len().max(1) as f64).ln();
    Some(count as f64 * (squares / count as f64).ln() + price * chosen.len() as f64)
}

/// Returns the coefficient of `term` beside `others`, and its standard error; `None` if the others explain the term, or with
/// too few values.
pub fn coefficient(values: &[f64], others: &[Vec<f64>], term: &[f64]) -> Option<(f64, f64)> {
    let count = values.len();
    if count < others.len() + 3 || term.len() != count {
        return None;
    }
    let mut space = Space::default();
    others.iter().for_each(|other| space.join(other));
    let (mut left, own) = (space.apart(values), space.apart(term));
    let length = dot(&own, &own);
    if length <= NEW * dot(term, term) {
        return None;
    }
    let coefficient = dot(&left, &own) / length;
    without(&mut left, &scaled(&own));
    let freedom = (count - space.axes.len() - 1) as f64;
    Some((coefficient, (dot(&left, &left) / freedom / length).sqrt()))
}

/// Returns the term that explains most of what is left, with a positive coefficient, and the squares that it explains.
fn best(left: &[f64], apart: &[Vec<f64>], lengths: &[f64]) -> Option<(usize, f64)> {
    let terms = apart.iter().zip(lengths).enumerate();
    let explained = terms.filter_map(|(index, (term, whole))| {
        let (along, length) = (dot(left, term), dot(term, term));
        let is_new = length > NEW * whole && along > 0.0;
        is_new.then(|| (index, along * along / length))
    });
    explained.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Orthonormal axes of the terms of a model (Gram and Schmidt).
#[derive(Default)]
struct Space {
    axes: Vec<Vec<f64>>,
}

impl Space {
    /// Adds a term, unless the others explain it.
    fn join(&mut self, term: &[f64]) {
        let apart = self.apart(term);
        if dot(&apart, &apart) > NEW * dot(term, term) {
            self.axes.push(scaled(&apart));
        }
    }

    /// Returns what the axes do not explain of a term. Done twice, against rounding errors.
    fn apart(&self, term: &[f64]) -> Vec<f64> {
        let mut apart = term.to_vec();
        for axis in self.axes.iter().chain(&self.axes) {
            without(&mut apart, axis);
        }
        apart
    }
}

/// Takes out of `term` what lies along an axis of length 1.
fn without(term: &mut [f64], axis: &[f64]) {
    let along = dot(term, axis);
    term.iter_mut().zip(axis).for_each(|(t, a)| *t -= along * a);
}

fn scaled(term: &[f64]) -> Vec<f64> {
    let length = dot(term, term).sqrt().max(f64::MIN_POSITIVE);
    term.iter().map(|value| value / length).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Rng;

    const RULES: Rules = Rules {
        most: 3,
        gain: 10.0,
    };

    #[test]
    fn a_coefficient_by_hand() {
        // Beside a constant, the slope of (0, 1), (1, 3), (2, 2), (3, 6): the mean is 3, the sum of (x - 1.5)(y - 3) is
        // 3 + 0 - 0.5 + 4.5 = 7, over 5. What is left: 0.1, 0.7, -1.7, 0.9 with squares of 4.2, over 2 degrees, over 5.
        let (slope, error) = coefficient(
            &[1.0, 3.0, 2.0, 6.0],
            &[vec![1.0; 4]],
            &[0.0, 1.0, 2.0, 3.0],
        )
        .unwrap();
        assert!((slope - 1.4).abs() < 1e-12, "{slope}");
        assert!(
            (error - (4.2f64 / 2.0 / 5.0).sqrt()).abs() < 1e-12,
            "{error}"
        );
        assert_eq!(coefficient(&[1.0; 4], &[vec![1.0; 4]], &[2.0; 4]), None);
        assert_eq!(coefficient(&[1.0; 3], &[vec![1.0; 3]], &[2.0; 3]), None);
    }

    #[test]
    fn the_criterion_by_hand() {
        // The mean of 1, 3, 2, 6 leaves squares of 4 + 0 + 1 + 9 = 14.
        let found = bic(&[1.0, 3.0, 2.0, 6.0], &[vec![1.0; 4]], &[], &[]).unwrap();
        assert!((found - 4.0 * (14.0f64 / 4.0).ln()).abs() < 1e-12);
        let pool = vec![vec![0.0, 1.0, 2.0, 3.0]; 5];
        let sloped = bic(&[1.0, 3.0, 2.0, 6.0], &[vec![1.0; 4]], &pool, &[3]).unwrap();
        let price = 4f64.ln() + 2.0 * 5f64.ln();
        assert!((sloped - 4.0 * (4.2f64 / 4.0).ln() - price).abs() < 1e-9);
    }

    /// Values of a constant, two of forty terms of zeros and ones, and noise.
    fn planted(rng: &mut Rng, a: f64, b: f64) -> (Vec<f64>, Vec<Vec<f64>>) {
        let flag = |rng: &mut Rng| f64::from(u8::from(rng.chance(0.4)));
        let pool: Vec<Vec<f64>> = (0..40)
            .map(|_| (0..300).map(|_| flag(rng)).collect())
            .collect();
        let values = (0..300).map(|i| 5.0 + a * pool[7][i] + b * pool[21][i] + rng.normal());
        let values = values.collect();
        (values, pool)
    }

    #[test]
    fn planted_terms_are_found_and_noise_has_none() {
        let mut rng = Rng::new(11, 0);
        for _ in 0..50 {
            let (values, pool) = planted(&mut rng, 2.0, 1.2);
            let model = select(&values, &[vec![1.0; 300]], &pool, RULES).unwrap();
            let found: Vec<usize> = model.terms.iter().map(|term| term.index).collect();
            assert_eq!(found, [7, 21]);
            let whole = bic(&values, &[vec![1.0; 300]], &pool, &found).unwrap();
            assert!((whole - model.bic).abs() < 1e-6);
            let (values, pool) = planted(&mut rng, 0.0, 0.0);
            let model = select(&values, &[vec![1.0; 300]], &pool, RULES).unwrap();
            assert!(model.terms.is_empty(), "{model:?}");
            // A term that shortens what it explains does not count.
            let (values, pool) = planted(&mut rng, -2.0, 0.0);
            let model = select(&values, &[vec![1.0; 300]], &pool, RULES).unwrap();
            assert!(model.terms.iter().all(|term| term.index != 7), "{model:?}");
        }
    }

    #[test]
    fn values_without_noise_and_too_few_values() {
        let values: Vec<f64> = (0..20).map(|i| f64::from(i % 4)).collect();
        let pool = vec![values.clone(), vec![1.0; 20]];
        let model = select(&values, &[vec![1.0; 20]], &pool, RULES).unwrap();
        assert_eq!(model.terms.len(), 1);
        assert_eq!(model.terms[0].index, 0);
        assert_eq!(select(&values[..5], &[vec![1.0; 5]], &[], RULES), None);
        assert_eq!(select(&values, &[vec![1.0; 19]], &[], RULES), None);
    }
}
