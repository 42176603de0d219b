//! Converts samples to drawn points: medians over all samples, and a limited number of raw points.

use crate::chart::{Column, Unit};
use fathom_probe::Sample;
use fathom_probe::about::{Figure, Measure, X};
use std::collections::BTreeMap;

/// Maximum number of raw points drawn per series. A phone can still draw seven figures of two or three such series; the
/// points are most of the page's bytes.
pub(crate) const DRAWN_MAX: usize = 2_000;

/// Returns the number of requests that a sample timed together (`bytes` divided by the request size), at least one.
pub(crate) fn requests(sample: &Sample, figure: &Figure) -> u64 {
    match figure.x {
        X::Request | X::WrittenBefore => sample.bytes.checked_div(sample.x).unwrap_or(1).max(1),
        // `x` is not a request size there.
        X::Multiples
        | X::Place { .. }
        | X::Depth
        | X::Load
        | X::Span
        | X::Distance
        | X::Elapsed => 1,
    }
}

/// Returns a sample's value on the vertical axis.
pub(crate) fn height(sample: &Sample, figure: &Figure) -> u64 {
    match figure.measure {
        Measure::Latency => sample.ns / requests(sample, figure),
        Measure::Throughput => {
            let per_second = u128::from(sample.bytes) * 1_000_000_000;
            u64::try_from(per_second / u128::from(sample.ns.max(1))).unwrap_or(u64::MAX)
        }
    }
}

/// Quartiles over `x`, from all samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Medians {
    pub(crate) x: Vec<u64>,
    pub(crate) y: Vec<u64>,
    pub(crate) low: Vec<u64>,
    pub(crate) high: Vec<u64>,
    pub(crate) n: Vec<usize>,
}

/// Returns the `quarter`-th quartile of sorted values, interpolated between neighbours.
fn quartile(sorted: &[u64], quarter: usize) -> u64 {
    let place = (sorted.len() - 1) * quarter; // in quarters of a step
    let (index, rest) = (place / 4, place % 4);
    let low = sorted[index];
    let high = sorted[(index + 1).min(sorted.len() - 1)];
    low + ((u128::from(high - low) * rest as u128) / 4) as u64
}

/// Returns the quartiles for every `x`.
pub(crate) fn medians(samples: &[&Sample], figure: &Figure) -> Medians {
    let mut by_x: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for sample in samples {
        by_x.entry(sample.x)
            .or_default()
            .push(height(sample, figure));
    }
    let mut out = Medians::default();
    for (x, mut heights) in by_x {
        heights.sort_unstable();
        out.x.push(x);
        out.low.push(quartile(&heights, 1));
        out.y.push(quartile(&heights, 2));
        out.high.push(quartile(&heights, 3));
        out.n.push(heights.len());
    }
    out
}

/// Returns the samples to draw, ordered by `x` and then by time: all of them, or at most [`DRAWN_MAX`], including the lowest
/// and highest of every range of `x`.
pub(crate) fn thinned<'a>(samples: &[&'a Sample], figure: &Figure) -> Vec<&'a Sample> {
    let mut sorted = samples.to_vec();
    sorted.sort_by_key(|s| (s.x, s.at_ns, s.rep));
    if sorted.len() <= DRAWN_MAX {
        return sorted;
    }
    // Four of each chunk: both extremes, and the first and the middle one to represent the rest.
    let stretch = sorted.len().div_ceil(DRAWN_MAX / 4);
    sorted
        .chunks(stretch)
        .flat_map(|chunk| {
            let at = |i: &usize| height(chunk[*i], figure);
            let lowest = (0..chunk.len()).min_by_key(at).unwrap_or(0);
            let highest = (0..chunk.len()).max_by_key(at).unwrap_or(0);
            let mut keep = vec![lowest, highest, 0, chunk.len() / 2];
            keep.sort_unstable();
            keep.dedup();
            keep.into_iter().map(|i| chunk[i]).collect::<Vec<_>>()
        })
        .collect()
}

/// Returns the samples' values on the vertical axis.
pub(crate) fn heights(samples: &[&Sample], figure: &Figure) -> Vec<Option<f64>> {
    let heights = samples.iter().map(|s| height(s, figure));
    heights.map(|height| Some(height as f64)).collect()
}

/// Returns the further data shown for each sample.
pub(crate) fn columns(samples: &[&Sample], figure: &Figure) -> Vec<Column> {
    let column = |name: &str, unit, of: &dyn Fn(&Sample) -> u64| Column {
        name: name.to_owned(),
        unit,
        values: samples.iter().map(|s| of(s) as f64).collect(),
    };
    let mut out = Vec::new();
    let several = samples.iter().any(|s| requests(s, figure) > 1);
    if several {
        out.push(column("requests", Unit::Number, &|s| requests(s, figure)));
    }
    if several || figure.measure == Measure::Throughput {
        out.push(column("all of it took", Unit::Ns, &|s| s.ns));
    }
    out.push(column("offset", Unit::Bytes, &|s| s.offset));
    out.push(column("repetition", Unit::Number, &|s| u64::from(s.rep)));
    out.push(column("since the start", Unit::Ns, &|s| s.at_ns));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_probe::record::Timed;
    use fathom_probe::{Parameter, Series};

    const LATENCY: Figure = Figure::latency("", "", &[]);
    const RATE: Figure = Figure::throughput("", "", &[]);

    fn sample(x: u64, ns: u64, at_ns: u64) -> Sample {
        Sample {
            step: 0,
            parameter: Parameter::ClusteredPage,
            series: Series::SWEEP,
            x,
            rep: 0,
            timed: Timed::Write,
            offset: 0,
            bytes: x,
            ns,
            at_ns,
        }
    }

    #[test]
    fn a_sample_of_many_requests_counts_as_their_mean() {
        let mut many = sample(4096, 1_000, 0);
        many.bytes = 10 * 4096;
        assert_eq!(height(&many, &LATENCY), 100);
        assert_eq!(height(&many, &RATE), 40_960_000_000);
        let places = Figure {
            x: X::Place { last: false },
            ..LATENCY
        };
        assert_eq!(height(&many, &places), 1_000);
        assert_eq!(height(&sample(0, 7, 0), &LATENCY), 7);
        assert_eq!(height(&sample(4096, 0, 0), &RATE), 4_096_000_000_000);
    }

    #[test]
    fn quartiles_are_of_all_samples_of_a_size() {
        let all: Vec<Sample> = [9, 1, 5, 3, 7].map(|ns| sample(512, ns, ns)).to_vec();
        let medians = medians(&all.iter().collect::<Vec<_>>(), &LATENCY);
        assert_eq!((medians.x, medians.n), (vec![512], vec![5]));
        assert_eq!(
            (medians.low, medians.y, medians.high),
            (vec![3], vec![5], vec![7])
        );
        assert_eq!(quartile(&[10, 20], 2), 15);
    }

    #[test]
    fn thinning_keeps_every_extreme_and_the_limit() {
        let mut all: Vec<Sample> = (0..50_000)
            .map(|i| sample(512 * (i % 100), 1_000, i))
            .collect();
        all[31_234].ns = 9_999_999;
        all[777].ns = 1;
        let drawn = thinned(&all.iter().collect::<Vec<_>>(), &LATENCY);
        assert!(drawn.len() <= DRAWN_MAX && drawn.len() > DRAWN_MAX / 4);
        assert!(drawn.iter().any(|s| s.ns == 9_999_999) && drawn.iter().any(|s| s.ns == 1));
        let sizes: std::collections::BTreeSet<u64> = drawn.iter().map(|s| s.x).collect();
        assert_eq!(sizes.len(), 100);
    }
}
