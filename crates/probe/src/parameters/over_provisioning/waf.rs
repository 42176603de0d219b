//! Write amplification of uniform random overwrites in the steady state, by the share of valid data, for victim policies of
//! the literature. `docs/validation-gc.md` compares the formulas with the modelled drives.

/// Pages in a block, of which the formulas depend a little.
const PAGES: u32 = 64;
/// The shares of valid data between which values are interpolated.
const STEPS: usize = 100;
/// The largest share.
const MOST: f64 = 0.998;

/// How the block to collect is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// The block with the fewest valid pages (Desnoyers, "Analytic modeling of SSD write performance", SYSTOR 2012, 4.2).
    Greedy,
    /// The oldest block (the same, 4.1).
    Fifo,
    /// The better one of two random blocks (Van Houdt, "A mean field model for a class of garbage collection algorithms in
    /// flash-based solid state drives", SIGMETRICS 2013, section 4).
    TwoChoices,
}

impl Policy {
    pub(crate) const ALL: [Policy; 3] = [Policy::Greedy, Policy::Fifo, Policy::TwoChoices];

    fn exact(self, share: f64) -> f64 {
        match self {
            Policy::Greedy => greedy(share, f64::from(PAGES)),
            Policy::Fifo => fifo(share),
            Policy::TwoChoices => choices(share, PAGES, 2.0),
        }
    }
}

/// A table of one policy.
pub(crate) struct Table(Vec<f64>);

impl Table {
    /// Returns the tables of all policies.
    pub(crate) fn all() -> [Table; 3] {
        Policy::ALL.map(Table::new)
    }

    pub(crate) fn new(policy: Policy) -> Self {
        let share = |step: usize| MOST * step as f64 / STEPS as f64;
        Self(
            (0..=STEPS)
                .map(|step| policy.exact(share(step).max(1e-3)))
                .collect(),
        )
    }

    /// Returns the amplification for a share of valid data, clamped to 0.998.
    pub(crate) fn at(&self, share: f64) -> f64 {
        let place = (share / MOST).clamp(0.0, 1.0) * STEPS as f64;
        let below = (place as usize).min(STEPS - 1);
        let part = place - below as f64;
        // The inverse is nearly a line.
        let inverse = |step: usize| 1.0 / self.0.get(step).copied().unwrap_or(1.0);
        1.0 / ((1.0 - part) * inverse(below) + part * inverse(below + 1))
    }
}

/// Returns the principal branch of Lambert's function for -1/e to 0, by Newton's method on `w e^w = x`.
fn lambert(x: f64) -> f64 {
    let mut w = x.max(-0.36) / 2.0;
    for _ in 0..100 {
        let e = w.exp();
        let slope = e * (w + 1.0);
        if slope.abs() < 1e-12 {
            break;
        }
        w = (w - (w * e - x) / slope).max(-1.0 + 1e-9);
    }
    w
}

fn fifo(share: f64) -> f64 {
    let a = 1.0 / share;
    a / (a + lambert(-a * (-a).exp()))
}

fn greedy(share: f64, pages: f64) -> f64 {
    let a = 1.0 / share;
    let c = (1.0 + 0.5 / pages) * a;
    let least = 0.5 - pages / a * lambert(-c * (-c).exp());
    (pages / (pages - (least - 1.0))).max(1.0)
}

/// Returns the fixed point for the best of `d` random blocks: with `m` the share of blocks with at least `i` valid pages, as
/// many blocks gain `i` pages as lose one of them.
fn choices(share: f64, pages: u32, d: f64) -> f64 {
    let shares = |rate: f64| {
        let (mut above, mut all) = (0.0, Vec::new());
        for i in (1..=pages).rev() {
            let flow = |m: f64| rate * f64::from(i) * (m - above) - (1.0 - m.powf(d));
            above = root(above, 1.0, flow);
            all.push(above);
        }
        all
    };
    let held = |rate: f64| shares(rate.exp()).iter().sum::<f64>();
    let rate = root(-14.0, 14.0, |rate| share * f64::from(pages) - held(rate));
    let moved: f64 = shares(rate.exp()).iter().map(|m| m.powf(d)).sum();
    f64::from(pages) / (f64::from(pages) - moved)
}

/// Returns the zero of an increasing function, by bisection.
fn root(low: f64, high: f64, rising: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (low, high);
    for _ in 0..44 {
        let middle = 0.5 * (low + high);
        if rising(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_literature() {
        let tables = Table::all();
        // docs/validation-gc.md: utilisation, and amplification by greedy, FIFO and the better of two.
        for (share, greedy, fifo, two) in [
            (0.9508, 8.956, 10.326, 13.459),
            (0.9078, 5.185, 5.601, 7.406),
            (0.7801, 2.392, 2.470, 3.229),
            (0.6655, 1.676, 1.711, 2.183),
        ] {
            for (policy, right) in Policy::ALL.into_iter().zip([greedy, fifo, two]) {
                let found = Table::new(policy).at(share);
                assert!(
                    (found / right - 1.0).abs() < 0.012,
                    "{policy:?} {share}: {found}"
                );
            }
        }
        for table in tables {
            assert!((table.at(0.01) - 1.0).abs() < 0.02);
            let at = |percent: u32| table.at(f64::from(percent) / 100.0);
            assert!((1..99).all(|percent| at(percent + 1) >= at(percent)));
        }
    }
}
