//! Finds the knee of a curve that rises and levels off, such as throughput over the number of requests in flight.
//!
//! The knee is the least x at which the curve reaches a share of its highest value. Noise must not make a dip look like the
//! end of the rise, so the curve is first made monotone up to its highest point, by pooling neighbours that violate the
//! order (isotonic regression; Barlow, Bartholomew, Bremner and Brunk, "Statistical Inference under Order Restrictions",
//! 1972, 1.2). Between points it is a line over the logarithm of x.

/// A knee.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knee {
    /// The least x at which the curve reaches the share of its highest value.
    pub at: f64,
    /// The highest value of the curve.
    pub peak: f64,
    /// The highest value over the value at half of the largest x: how much the last doubling of x brings.
    pub last_doubling: f64,
}

/// Returns the knee of a curve through points (x, y) in ascending order of x; x and y must be positive. `share` is between
/// 0 and 1. `None` without points.
pub fn knee(points: &[(f64, f64)], share: f64) -> Option<Knee> {
    let highest = (0..points.len()).max_by(|a, b| points[*a].1.total_cmp(&points[*b].1))?;
    let rising = monotone(&points[..=highest]);
    let peak = rising.last()?.1;
    let half = points.last()?.0 / 2.0;
    Some(Knee {
        at: crossing(&rising, share * peak)?,
        peak,
        last_doubling: peak / value(&rising, half)?,
    })
}

/// Returns the non-decreasing curve that is closest to the points, by least squares.
fn monotone(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    // Pools of neighbours: the sum of their values, and their number.
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for (_, y) in points {
        pools.push((*y, 1));
        while let [.., before, last] = pools[..]
            && before.0 / before.1 as f64 > last.0 / last.1 as f64
        {
            pools.pop();
            pools.pop();
            pools.push((before.0 + last.0, before.1 + last.1));
        }
    }
    let pooled = |(sum, count): (f64, usize)| std::iter::repeat_n(sum / count as f64, count);
    let values = pools.into_iter().flat_map(pooled);
    points.iter().map(|(x, _)| *x).zip(values).collect()
}

/// Returns the least x at which a rising curve reaches `level`.
fn crossing(rising: &[(f64, f64)], level: f64) -> Option<f64> {
    let after = rising.iter().position(|(_, y)| *y >= level)?;
    let (x, y) = rising[after];
    let Some((x0, y0)) = after.checked_sub(1).map(|before| rising[before]) else {
        return Some(x);
    };
    let part = (level - y0) / (y - y0);
    Some((x0.ln() + part * (x.ln() - x0.ln())).exp())
}

/// Returns the value of a rising curve at x: that of its ends beyond them.
fn value(rising: &[(f64, f64)], x: f64) -> Option<f64> {
    let after = rising.iter().position(|(at, _)| *at >= x);
    let Some(after) = after else {
        return rising.last().map(|(_, y)| *y);
    };
    let (x1, y1) = rising[after];
    let Some((x0, y0)) = after.checked_sub(1).map(|before| rising[before]) else {
        return Some(y1);
    };
    Some(y0 + (y1 - y0) * (x / x0).ln() / (x1 / x0).ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(of: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        (0..=10)
            .map(|k| f64::from(1 << k))
            .map(|x| (x, of(x)))
            .collect()
    }

    #[test]
    fn the_knee_of_a_ramp_is_where_it_ends() {
        // The rate grows as x up to 32: 95 % of 32 is 30.4, which lies between 16 and 32 on a logarithmic axis.
        let knee = knee(&curve(|x| x.min(32.0)), 0.95).unwrap();
        let right = (16f64.ln() + (30.4 - 16.0) / 16.0 * 2f64.ln()).exp();
        assert!((knee.at - right).abs() < 1e-9, "{knee:?}");
        assert_eq!((knee.peak, knee.last_doubling), (32.0, 1.0));
    }

    #[test]
    fn a_curve_that_still_rises_says_so_and_one_that_does_not_has_its_knee_at_the_beginning() {
        let rising = knee(&curve(|x| x), 0.95).unwrap();
        assert!((rising.last_doubling - 2.0).abs() < 1e-9, "{rising:?}");
        let flat = knee(&curve(|_| 7.0), 0.95).unwrap();
        assert_eq!((flat.at, flat.last_doubling), (1.0, 1.0));
        // The rate falls again: what counts is its highest value.
        let falling = knee(&curve(|x| if x < 100.0 { x.min(8.0) } else { 4.0 }), 0.95).unwrap();
        assert!(falling.at < 8.0 && falling.peak == 8.0, "{falling:?}");
        assert_eq!(knee(&[], 0.95), None);
    }

    #[test]
    fn neighbours_out_of_order_are_pooled() {
        // By hand: 4 and 2 are pooled to 3, which is no less than 3; then 5.
        let points = [(1.0, 3.0), (2.0, 4.0), (3.0, 2.0), (4.0, 5.0)];
        let values: Vec<f64> = monotone(&points).iter().map(|(_, y)| *y).collect();
        assert_eq!(values, [3.0, 3.0, 3.0, 5.0]);
        // A spike early on is no end of the rise: 9 and 1 are pooled to 5.
        let spiked = [(1.0, 9.0), (2.0, 1.0), (4.0, 20.0), (8.0, 20.5)];
        let at = knee(&spiked, 0.95).unwrap().at;
        assert!((2.0..4.0).contains(&at), "{at}");
    }
}
