//! The cost of copies: how much more a buffered read costs than a direct one, over its length.

use super::bench::{Bench, Way};
use super::error::MeasureError;
use fathom_base::Dur;
use fathom_hostio::load::{Engine, LoadConfig};
use fathom_report::platform::Copy;
use fathom_stats::line::fit;

/// Lengths of a read, in multiples of the shortest.
const LENGTHS: [u64; 6] = [1, 2, 4, 8, 16, 32];
/// Rounds of each length, direct and buffered in turn. The least counts: other programs only add to it.
const ROUNDS: usize = 3;
/// A line that explains a smaller share of the variance says nothing.
const EXPLAINED_MIN: f64 = 0.5;
/// The shortest length in bytes, the page of the cache.
const PAGE_BYTES: u64 = 4096;

/// Measures processor time of `pread`, buffered and direct, for lengths from a page on, and fits a line to the difference.
pub(super) fn copy(bench: &Bench<'_>) -> Result<Option<Copy>, MeasureError> {
    let mut points = Vec::new();
    for length in LENGTHS {
        let bytes = length * PAGE_BYTES;
        let [mut direct, mut buffered] = [f64::INFINITY; 2];
        for _ in 0..ROUNDS {
            direct = direct.min(clocks(bench, Way::Direct, bytes)?);
            buffered = buffered.min(clocks(bench, Way::Buffered, bytes)?);
            bench.go_on()?;
        }
        points.push((bytes as f64, buffered - direct));
    }
    let Some(line) = fit(&points) else {
        return Ok(None);
    };
    let slope = line.slope;
    let r_squared = explained(&points, |x| line.at(x));
    // Also if it is no number.
    if r_squared < EXPLAINED_MIN || r_squared.is_nan() {
        return Err(MeasureError::NoLine);
    }
    Ok(Some(Copy {
        per_byte: slope.value,
        interval: slope
            .half
            .map(|half| [slope.value - half, slope.value + half]),
        fixed: line.at_zero.value,
        r_squared,
        points: points.into_iter().map(|(x, y)| [x, y]).collect(),
    }))
}

/// Clocks of a read.
fn clocks(bench: &Bench<'_>, way: Way, bytes: u64) -> Result<f64, MeasureError> {
    let config = LoadConfig {
        block_bytes: bytes,
        time_max: Dur(bench.options.time.0 / 3),
        ..bench.load(Engine::Pread, way)
    };
    let report = bench.plain(&config)?;
    let threads = report.threads.iter();
    let each = threads.map(|thread| thread.usage.cpu_ns as f64 / thread.ios.max(1) as f64);
    Ok(each.fold(0.0, f64::max) * bench.clocks_per_ns())
}

/// The share of the variance that a line explains.
fn explained(points: &[(f64, f64)], line: impl Fn(f64) -> f64) -> f64 {
    let mean = points.iter().map(|(_, y)| y).sum::<f64>() / points.len().max(1) as f64;
    let squares =
        |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|&(x, y)| of(x, y).powi(2)).sum::<f64>();
    let all = squares(&|_, y| y - mean);
    let left = squares(&|x, y| y - line(x));
    if all > 0.0 { 1.0 - left / all } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_explains_itself_and_a_mean_nothing() {
        let points = [(1.0, 3.0), (2.0, 5.0), (3.0, 7.0)];
        assert_eq!(explained(&points, |x| 1.0 + 2.0 * x), 1.0);
        assert_eq!(explained(&points, |_| 5.0), 0.0);
    }
}
