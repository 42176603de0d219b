//! Regression with Student-t errors by iteratively reweighted least squares, for up to six columns.
//!
//! Spikes of garbage collection are part of the error distribution, so they are weighed down by themselves and the
//! likelihood stays one that BIC may compare. Sources: Lange, Little & Taylor 1989 (t regression, weights
//! (nu + 1) / (nu + r^2)); Huber 1981 (errors of the coefficients); Kent, Tyler & Vardi 1994 (the faster update of
//! the scale). `Link::Log` fits `ln y = ln(X b) + e`: terms that add up in time, errors that are shares of it.
//!
//! It finds a local maximum from its start; it does not search for others.

/// Degrees of freedom of the errors: 4, heavy enough for a few per cent of spikes.
pub const NU: f64 = 4.0;
/// The most columns of a design.
pub const COLUMNS_MAX: usize = 6;
/// Steps at the scale of the start.
const WIDE_STEPS: usize = 3;
const ITERATIONS_MAX: usize = 60;
/// Relative change of the scale at which iterating ends.
const SETTLED: f64 = 1e-3;

/// One row of a design; columns past [`Design::columns`] are not looked at.
pub type Row = [f64; COLUMNS_MAX];

/// The columns of a linear model.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    rows: Vec<Row>,
    columns: usize,
}

impl Design {
    /// A design with one column of ones.
    pub fn ones(rows: usize) -> Self {
        let mut first = [0.0; COLUMNS_MAX];
        first[0] = 1.0;
        Self {
            rows: vec![first; rows],
            columns: 1,
        }
    }

    /// One more column; a design that has [`COLUMNS_MAX`] already, or a column of another length, changes nothing.
    #[must_use]
    pub fn with(mut self, column: impl ExactSizeIterator<Item = f64>) -> Self {
        if self.columns < COLUMNS_MAX && column.len() == self.rows.len() {
            for (row, value) in self.rows.iter_mut().zip(column) {
                row[self.columns] = value;
            }
            self.columns += 1;
        }
        self
    }

    /// How many columns it has.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// How many rows it has.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The sum of columns times `coefficients` in row `row`; 0 past the end.
    pub fn value(&self, row: usize, coefficients: &[f64]) -> f64 {
        self.rows.get(row).map_or(0.0, |r| dot(r, coefficients))
    }
}

fn dot(row: &Row, coefficients: &[f64]) -> f64 {
    row.iter().zip(coefficients).map(|(a, b)| a * b).sum()
}

/// What the columns add up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// `y = X b + e`.
    Identity,
    /// `y = ln(X b) + e`: `y` is given as a logarithm.
    Log,
}

/// What to fit.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    /// The columns.
    pub design: &'a Design,
    /// One value per row (a logarithm for [`Link::Log`]).
    pub y: &'a [f64],
    /// How many equal observations a row stands for, up to a common factor; positive.
    pub weights: &'a [f64],
    /// What the columns add up to.
    pub link: Link,
    /// The smallest scale to believe in, in the unit of `y`: the resolution of the clock and of the model.
    pub scale_min: f64,
}

/// A fitted model.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// One per column.
    pub coefficients: Vec<f64>,
    /// Asymptotic standard error, one per column.
    pub standard_errors: Vec<f64>,
    /// Scale of the t distribution (not its standard deviation, which is `sqrt(2)` times it at 4 degrees).
    pub scale: f64,
    /// At the maximum.
    pub log_likelihood: f64,
}

/// The maximum of the likelihood near `start` (near ordinary least squares without). `None` where the columns are
/// collinear, rows are fewer than columns, or lengths differ.
pub fn fit(problem: &Problem, start: Option<&[f64]>) -> Option<Fit> {
    let (design, n) = (problem.design, problem.design.len());
    let lengths_agree = problem.y.len() == n && problem.weights.len() == n;
    if !lengths_agree || n <= design.columns {
        return None;
    }
    let mut state = State::begin(problem, start)?;
    for _ in 0..WIDE_STEPS {
        state.step(problem)?;
    }
    for _ in 0..ITERATIONS_MAX {
        let before = state.scale;
        state.step(problem)?;
        state.rescale(problem);
        if (state.scale - before).abs() <= SETTLED * before {
            break;
        }
    }
    state.finish(problem)
}

struct State {
    coefficients: Row,
    fitted: Vec<f64>,
    residuals: Vec<f64>,
    scale: f64,
}

impl State {
    fn begin(problem: &Problem, start: Option<&[f64]>) -> Option<Self> {
        let coefficients = match start {
            Some(given) => {
                let mut padded = [0.0; COLUMNS_MAX];
                for (slot, value) in padded.iter_mut().zip(given) {
                    *slot = *value;
                }
                padded
            }
            None => least_squares_start(problem)?,
        };
        let n = problem.design.len();
        let mut state = Self {
            coefficients,
            fitted: vec![0.0; n],
            residuals: vec![0.0; n],
            scale: 1.0,
        };
        if !state.evaluate(problem) {
            return None;
        }
        let magnitudes: Vec<f64> = state.residuals.iter().map(|r| r.abs()).collect();
        // Wide, so that a column which the start does not use has its say before what it explains passes for
        // outliers: the largest residual of nine in ten.
        state.scale = super::robust::quantile(&magnitudes, 0.9)?.max(problem.scale_min);
        Some(state)
    }

    /// Fills in fitted values and residuals; false where a fitted value has no logarithm.
    fn evaluate(&mut self, problem: &Problem) -> bool {
        for (i, row) in problem.design.rows.iter().enumerate() {
            let value = dot(row, &self.coefficients[..problem.design.columns]);
            self.fitted[i] = value;
            let predicted = match problem.link {
                Link::Identity => value,
                Link::Log if value > 0.0 => value.ln(),
                Link::Log => return false,
            };
            self.residuals[i] = problem.y[i] - predicted;
        }
        true
    }

    fn t_weight(&self, problem: &Problem, i: usize) -> f64 {
        let standard = self.residuals[i] / self.scale;
        (NU + 1.0) / (NU + problem.weights[i] * standard * standard)
    }

    /// One step of reweighted least squares (Gauss-Newton for the log link) at the present scale.
    fn step(&mut self, problem: &Problem) -> Option<()> {
        let columns = problem.design.columns;
        let mut normal = Normal::default();
        for (i, row) in problem.design.rows.iter().enumerate() {
            let weight = problem.weights[i] * self.t_weight(problem, i);
            normal.add(
                row,
                self.slope(problem, i),
                self.residuals[i],
                weight,
                columns,
            );
        }
        let step = normal.cholesky(columns)?.solve(&normal.right, columns);
        self.move_by(problem, &step);
        Some(())
    }

    /// The scale that fits the present residuals better.
    fn rescale(&mut self, problem: &Problem) {
        let (mut squares, mut total) = (0.0, 0.0);
        for i in 0..self.residuals.len() {
            let weight = self.t_weight(problem, i);
            squares += weight * problem.weights[i] * self.residuals[i] * self.residuals[i];
            total += weight;
        }
        self.scale = (squares / total).sqrt().max(problem.scale_min);
    }

    /// Derivative of the prediction by the sum of columns.
    fn slope(&self, problem: &Problem, i: usize) -> f64 {
        match problem.link {
            Link::Identity => 1.0,
            Link::Log => 1.0 / self.fitted[i],
        }
    }

    /// Takes the step, or a smaller one where a fitted value would have no logarithm.
    fn move_by(&mut self, problem: &Problem, step: &Row) {
        let from = self.coefficients;
        let mut share = 1.0;
        for _ in 0..10 {
            for (slot, (origin, delta)) in self.coefficients.iter_mut().zip(from.iter().zip(step)) {
                *slot = origin + share * delta;
            }
            if self.evaluate(problem) {
                return;
            }
            share *= 0.5;
        }
        self.coefficients = from;
        self.evaluate(problem);
    }

    /// Of an error, as it counts for the coefficients: mean psi^2 / (mean psi')^2, with psi the derivative of the
    /// log density. Holds whether or not the errors are t (Huber 1981, 7.6).
    fn variance(&self, problem: &Problem) -> f64 {
        let n = self.residuals.len();
        let (mut squares, mut slopes) = (0.0, 0.0);
        for i in 0..n {
            let square = problem.weights[i] * (self.residuals[i] / self.scale).powi(2);
            let weight = (NU + 1.0) / (NU + square);
            squares += weight * weight * square;
            slopes += weight * (NU - square) / (NU + square);
        }
        let freedom = n as f64 / (n - problem.design.columns) as f64;
        let mean_slope = (slopes / n as f64).max(0.1);
        self.scale * self.scale * freedom * (squares / n as f64) / (mean_slope * mean_slope)
    }

    fn finish(&self, problem: &Problem) -> Option<Fit> {
        let columns = problem.design.columns;
        let mut normal = Normal::default();
        for (i, row) in problem.design.rows.iter().enumerate() {
            normal.add(
                row,
                self.slope(problem, i),
                0.0,
                problem.weights[i],
                columns,
            );
        }
        let factor = normal.cholesky(columns)?;
        let variance = self.variance(problem);
        let standard_errors = (0..columns)
            .map(|c| {
                let mut unit = [0.0; COLUMNS_MAX];
                unit[c] = 1.0;
                (variance * factor.solve(&unit, columns)[c]).sqrt()
            })
            .collect();
        // ln of Gamma(5/2) / (sqrt(4 pi) Gamma(2)) = ln(3/8): the density of t with 4 degrees at 0.
        let constant = (3.0f64 / 8.0).ln() - self.scale.ln();
        let log_likelihood = (0..self.residuals.len())
            .map(|i| {
                let square = problem.weights[i] * (self.residuals[i] / self.scale).powi(2);
                constant + 0.5 * problem.weights[i].ln() - 0.5 * (NU + 1.0) * (square / NU).ln_1p()
            })
            .sum();
        Some(Fit {
            coefficients: self.coefficients[..columns].to_vec(),
            standard_errors,
            scale: self.scale,
            log_likelihood,
        })
    }
}

/// Least squares; for the log link of the values themselves, each weighed by the inverse of its square, so that
/// errors count as shares. Falls back on a constant where that line is not positive everywhere.
fn least_squares_start(problem: &Problem) -> Option<Row> {
    let columns = problem.design.columns;
    let mut normal = Normal::default();
    for (i, row) in problem.design.rows.iter().enumerate() {
        let (value, weight) = match problem.link {
            Link::Identity => (problem.y[i], problem.weights[i]),
            Link::Log => {
                let value = problem.y[i].exp();
                (value, problem.weights[i] / (value * value))
            }
        };
        normal.add(row, 1.0, value, weight, columns);
    }
    let found = normal.cholesky(columns)?.solve(&normal.right, columns);
    let positive = || {
        problem
            .design
            .rows
            .iter()
            .all(|r| dot(r, &found[..columns]) > 0.0)
    };
    if problem.link == Link::Identity || positive() {
        return Some(found);
    }
    let mut constant = [0.0; COLUMNS_MAX];
    constant[0] = super::robust::median(problem.y)?.exp();
    Some(constant)
}

/// The normal equations.
#[derive(Default)]
struct Normal {
    matrix: [Row; COLUMNS_MAX],
    right: Row,
}

impl Normal {
    fn add(&mut self, row: &Row, slope: f64, target: f64, weight: f64, columns: usize) {
        for a in 0..columns {
            let left = weight * slope * row[a];
            self.right[a] += left * target;
            for (sum, value) in self.matrix[a].iter_mut().zip(&row[..=a]) {
                *sum += left * slope * value;
            }
        }
    }

    /// `None` where a column is a combination of those before it.
    fn cholesky(&self, columns: usize) -> Option<Cholesky> {
        let mut lower = [[0.0; COLUMNS_MAX]; COLUMNS_MAX];
        for a in 0..columns {
            for b in 0..=a {
                let known: f64 = (0..b).map(|k| lower[a][k] * lower[b][k]).sum();
                let rest = self.matrix[a][b] - known;
                if a != b {
                    lower[a][b] = rest / lower[b][b];
                } else if rest > 1e-10 * self.matrix[a][a] {
                    lower[a][a] = rest.sqrt();
                } else {
                    return None;
                }
            }
        }
        Some(Cholesky(lower))
    }
}

struct Cholesky([Row; COLUMNS_MAX]);

impl Cholesky {
    fn solve(&self, right: &Row, columns: usize) -> Row {
        let lower = &self.0;
        let mut x = [0.0; COLUMNS_MAX];
        for a in 0..columns {
            let known: f64 = (0..a).map(|k| lower[a][k] * x[k]).sum();
            x[a] = (right[a] - known) / lower[a][a];
        }
        for a in (0..columns).rev() {
            let known: f64 = (a + 1..columns).map(|k| lower[k][a] * x[k]).sum();
            x[a] = (x[a] - known) / lower[a][a];
        }
        x
    }
}

#[cfg(test)]
#[path = "regression_tests.rs"]
mod tests;
