//! From the times of overwrites at several utilisations to the over-provisioning, by profile likelihood.
//!
//! A write takes `a + b (W - 1)`: `a` without collection, `b` for each page that is moved beside it. Neither is known. `W` is
//! the write amplification for the valid share of the flash, which is the utilisation over one plus the over-provisioning.
//! The host's link may hide the first part, so that times have a floor. The shape of the curve tells the over-provisioning.

use super::waf::Table;

/// The over-provisioning that is tried, and the number of steps between.
const RANGE: std::ops::RangeInclusive<f64> = 0.01..=4.0;
const STEPS: u32 = 160;
/// The fall of twice the logarithm of the likelihood at the ends of a 95 % interval (chi-square, one degree of freedom).
const FALL: f64 = 3.84;
/// The error of the formulas beside that of the times: blocks are few, and the drive keeps some of them.
const ERROR: f64 = 0.03;
/// Times within this ratio of the shortest are at the floor.
const FLOOR: f64 = 1.04;
/// The most that a moved page costs, as a multiple of what a written page costs: it is read, which takes no longer than to
/// program it, and crosses the bus twice and not once.
const MOVED_MAX: f64 = 2.0;
/// The least number of times above the floor.
const ABOVE_MIN: usize = 4;

/// The time of a write at one utilisation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    /// The share of the capacity that holds data, 0 to 1.
    pub(crate) used: f64,
    /// The time of a write, in any unit.
    pub(crate) time: f64,
    /// The relative standard error of the time.
    pub(crate) error: f64,
}

/// The over-provisioning that explains the times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Inverted {
    /// The middle of the range on a logarithmic scale, as a ratio of the capacity.
    pub(crate) value: f64,
    /// The range over the policies, each with its 95 % interval.
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The squares of deviation over error, per degree of freedom, of the best policy.
    pub(crate) misfit: f64,
    /// The write amplification when all of the capacity holds data, by the best policy.
    pub(crate) amplification: f64,
}

/// Returns the tried values, ascending.
fn tried() -> impl Iterator<Item = f64> {
    let (low, high) = (RANGE.start().ln(), RANGE.end().ln());
    (0..=STEPS).map(move |step| (low + (high - low) * f64::from(step) / f64::from(STEPS)).exp())
}

/// Inverts the times with the tables of some policies. Returns `None` with too few times above the floor.
pub(crate) fn invert(points: &[Point], tables: &[Table]) -> Option<Inverted> {
    let least = points
        .iter()
        .map(|point| point.time)
        .min_by(f64::total_cmp)?;
    let at_floor = |point: &&Point| point.time <= FLOOR * least;
    let floor = points.iter().filter(at_floor).count();
    // One point at the floor is the shortest itself: nothing tells that there is a floor.
    let floored = floor >= 2;
    if points.len() < ABOVE_MIN || floored && points.len() - floor + 1 < ABOVE_MIN {
        return None;
    }
    let mut best: Option<(f64, f64, f64)> = None;
    let mut profiles = Vec::new();
    for table in tables {
        let profile: Vec<(f64, f64)> = tried()
            .filter_map(|spare| {
                let line = squares(points, table, spare, None);
                let above = floored
                    .then(|| squares(points, table, spare, Some(least)))
                    .flatten();
                Some((spare, line.into_iter().chain(above).min_by(f64::total_cmp)?))
            })
            .collect();
        let (spare, squares) = *profile.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        if best.is_none_or(|(_, least, _)| squares < least) {
            best = Some((spare, squares, table.at(1.0 / (1.0 + spare))));
        }
        profiles.push(profile);
    }
    let (spare, squares, amplification) = best?;
    let misfit = squares / (points.len() as f64 - 3.0).max(1.0);
    let most = squares + FALL * misfit.max(1.0);
    let likely = profiles.iter().flatten().filter(|(_, s)| *s <= most);
    let (low, high) = likely.fold((spare, spare), |(low, high), (spare, _)| {
        (low.min(*spare), high.max(*spare))
    });
    Some(Inverted {
        value: (low * high).sqrt(),
        low,
        high,
        misfit,
        amplification,
    })
}

/// Returns the squares of deviation over error of the best line, with times at the floor counting only if the line lies above.
/// `None` if no line rises.
fn squares(points: &[Point], table: &Table, spare: f64, floor: Option<f64>) -> Option<f64> {
    let is_above = |point: &&Point| floor.is_none_or(|floor| point.time > FLOOR * floor);
    let moved = |point: &Point| table.at(point.used / (1.0 + spare)) - 1.0;
    let weight = |point: &Point| 1.0 / (point.time * point.error.hypot(ERROR)).powi(2);
    let sum = |of: &dyn Fn(&Point) -> f64| -> f64 {
        points
            .iter()
            .filter(is_above)
            .map(|p| weight(p) * of(p))
            .sum()
    };
    let all = sum(&|_| 1.0);
    let (x, y) = (sum(&moved) / all, sum(&|p| p.time) / all);
    let spread = sum(&|p| (moved(p) - x).powi(2));
    if spread <= 1e-12 * all {
        return None;
    }
    let slope = sum(&|p| (moved(p) - x) * (p.time - y)) / spread;
    let slope = slope.max(0.0);
    let (mut slope, mut start) = (slope, y - slope * x);
    if slope > MOVED_MAX * start {
        let form = |point: &Point| 1.0 + MOVED_MAX * moved(point);
        start = sum(&|p| p.time * form(p)) / sum(&|p| form(p).powi(2));
        slope = MOVED_MAX * start;
    }
    let deviation = |point: &Point| {
        let line = start + slope * moved(point);
        let expected = if is_above(&point) {
            line
        } else {
            line.max(point.time)
        };
        weight(point) * (point.time - expected).powi(2)
    };
    Some(points.iter().map(deviation).sum())
}

/// The least amplification of a full drive, and the error of a logarithm of it, for what a log says to be inverted.
const MOVED_MIN: f64 = 1.2;
const ERROR_LOGGED: f64 = 0.06;
/// The least number of utilisations with a log.
const LOGGED_MIN: usize = 3;

/// Inverts write amplifications that the drive's own log tells at some utilisations: no time has to be explained. Returns
/// `None` with too few of them, or if nothing is moved.
pub(crate) fn logged(points: &[(f64, f64)], tables: &[Table]) -> Option<Inverted> {
    let full = points.iter().map(|(_, media)| *media).fold(0.0, f64::max);
    if points.len() < LOGGED_MIN || full < MOVED_MIN {
        return None;
    }
    let squares = |table: &Table, spare: f64| -> f64 {
        let deviation = |(used, media): &(f64, f64)| {
            let expected = table.at(used / (1.0 + spare));
            ((media.max(1.0) / expected).ln() / ERROR_LOGGED).powi(2)
        };
        points.iter().map(deviation).sum()
    };
    let one = |table: &'_ Table| -> Vec<(f64, f64)> {
        tried()
            .map(|spare| (spare, squares(table, spare)))
            .collect()
    };
    let profiles: Vec<Vec<(f64, f64)>> = tables.iter().map(one).collect();
    let least = |profile: &Vec<(f64, f64)>| {
        let all = profile.iter().copied();
        all.min_by(|a, b| a.1.total_cmp(&b.1))
    };
    let bests: Vec<(f64, f64)> = profiles.iter().filter_map(least).collect();
    let best = bests.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let misfit = best.1 / (points.len() as f64 - 1.0);
    // The policies fit alike: each counts with an interval of its own.
    let within = |(profile, best): (&Vec<(f64, f64)>, &(f64, f64))| {
        let most = best.1 + FALL * (best.1 / (points.len() as f64 - 1.0)).max(1.0);
        let likely = profile.iter().filter(move |(_, s)| *s <= most);
        likely.map(|(spare, _)| *spare).collect::<Vec<f64>>()
    };
    let likely: Vec<f64> = profiles.iter().zip(&bests).flat_map(within).collect();
    let low = likely.iter().copied().fold(f64::MAX, f64::min);
    let high = likely.iter().copied().fold(0.0, f64::max);
    Some(Inverted {
        value: (low * high).sqrt(),
        low,
        high,
        misfit,
        amplification: full,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(table: &Table, spare: f64, slope: f64, floor: f64) -> Vec<Point> {
        let point = |used: f64| Point {
            used,
            time: floor.max(100.0 + slope * (table.at(used / (1.0 + spare)) - 1.0)),
            error: 0.005,
        };
        [1.0, 0.92, 0.84, 0.74, 0.6, 0.4, 0.2].map(point).to_vec()
    }

    #[test]
    fn a_planted_value_lies_in_the_range() {
        let tables = Table::all();
        for table in &tables {
            for spare in [0.05, 0.1, 0.28] {
                for (slope, floor) in [(130.0, 0.0), (190.0, 0.0), (150.0, 140.0)] {
                    let points = points(table, spare, slope, floor);
                    let Some(found) = invert(&points, &tables) else {
                        assert!(floor > 0.0 && spare > 0.2);
                        continue;
                    };
                    assert!(found.misfit < 1.0, "{found:?}");
                    let inside = found.low * 0.98 <= spare && spare <= found.high * 1.02;
                    assert!(inside, "{spare} {slope} {floor}: {found:?}");
                }
            }
        }
    }

    #[test]
    fn a_logged_amplification_tells_it_by_itself() {
        let tables = Table::all();
        for table in &tables {
            for spare in [0.05, 0.1, 0.28] {
                let point = |used: f64| (used, table.at(used / (1.0 + spare)));
                let found = logged(&[1.0, 0.9, 0.8, 0.65].map(point), &tables).unwrap();
                assert!(
                    found.low <= spare && spare <= found.high,
                    "{spare}: {found:?}"
                );
                // The policies alone differ by up to a factor of three, and more with little spare flash.
                assert!(found.high < 4.0 * found.low, "{found:?}");
            }
        }
        assert_eq!(
            logged(&[(1.0, 1.05), (0.9, 1.0), (0.8, 1.0)], &tables),
            None
        );
        assert_eq!(logged(&[(1.0, 3.0)], &tables), None);
        // Moved data that does not fall with the utilisation is no collection of pages.
        let level = logged(&[(1.0, 3.0), (0.8, 3.0), (0.6, 3.0)], &tables);
        assert!(level.is_some_and(|found| found.misfit > 4.0));
    }

    #[test]
    fn a_line_over_the_utilisation_does_not_fit() {
        let point = |used: f64| Point {
            used,
            time: 100.0 + 900.0 * used,
            error: 0.005,
        };
        let line = [1.0, 0.92, 0.84, 0.74, 0.6, 0.4, 0.2].map(point);
        assert!(invert(&line, &Table::all()).is_none_or(|found| found.misfit > 4.0));
        assert_eq!(invert(&line[..3], &[]), None);
    }
}
