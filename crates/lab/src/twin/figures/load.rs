//! Reads and writes of a full drive in closed loops (parameter `fast_cache`), once memory is full.

use super::limits::Limits;
use super::what::{Samples, What};
use crate::twin::seen::Seen;
use crate::twin::series;
use fathom_probe::{Parameter, Sample};
use std::collections::BTreeMap;

/// A request of a loop: whether it reads, its length in bytes, when it began, and how long it took, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(in crate::twin) struct Loaded {
    pub(in crate::twin) reads: bool,
    pub(in crate::twin) bytes: u64,
    pub(in crate::twin) from: u64,
    pub(in crate::twin) took: f64,
}

/// The share of a loop at its head that is not counted.
const HEAD: f64 = 0.5;
/// The least number of requests that count.
const LEAST: usize = 100;

/// Adds the figures of a loop of a depth.
pub(in crate::twin) fn figures(depth: u64, mut all: Vec<Loaded>, samples: &mut Samples) {
    all.sort_by_key(|one| one.from);
    let counted = all.split_off((HEAD * all.len() as f64) as usize);
    if counted.len() < LEAST {
        return;
    }
    let began = counted.iter().map(|one| one.from).min().unwrap_or(0);
    let ended = counted.iter().map(|one| one.from + one.took as u64).max();
    let bytes: u64 = counted.iter().map(|one| one.bytes).sum();
    let took = ended.unwrap_or(0).saturating_sub(began).max(1) as f64;
    samples.insert((What::Load, depth), vec![bytes as f64 / took * 1e9]);
    for one in counted {
        let what = if one.reads {
            What::LoadRead
        } else {
            What::LoadWrite
        };
        samples.entry((what, depth)).or_default().push(one.took);
    }
}

/// Adds the loops of a record, unless there is a limit in front of the drive.
pub(super) fn add(seen: &Seen<'_>, limits: &Limits, samples: &mut Samples) {
    let mut loops = BTreeMap::<u64, Vec<Loaded>>::new();
    for (series, reads) in [(series::LOAD_READ, true), (series::LOAD_WRITE, false)] {
        for sample in seen.series(Parameter::FastCache, series) {
            if !limits.hold(What::Load, sample) {
                loops
                    .entry(sample.x)
                    .or_default()
                    .push(loaded(sample, reads));
            }
        }
    }
    for (depth, all) in loops {
        figures(depth, all, samples);
    }
}

fn loaded(sample: &Sample, reads: bool) -> Loaded {
    Loaded {
        reads,
        bytes: sample.bytes,
        from: sample.at_ns,
        took: sample.ns.max(1) as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads of 8 KiB, one every 100 us; the first half of them takes 1 ms each, and the rest 100 us.
    fn reads(count: u64) -> Vec<Loaded> {
        let one = |i| Loaded {
            reads: true,
            bytes: 8192,
            from: i * 100_000,
            took: if i < count / 2 { 1e6 } else { 1e5 },
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn the_first_half_of_a_loop_does_not_count() {
        let mut samples = Samples::new();
        let mut all = reads(400);
        // Completions come in any order.
        all.reverse();
        figures(4, all, &mut samples);
        assert_eq!(samples[&(What::LoadRead, 4)], vec![1e5; 200]);
        assert!(!samples.contains_key(&(What::LoadWrite, 4)));
        let rate = samples[&(What::Load, 4)][0];
        assert!((rate / (8192.0 / 100e-6) - 1.0).abs() < 1e-9, "{rate}");
    }

    #[test]
    fn a_loop_of_few_requests_is_no_figure() {
        let mut samples = Samples::new();
        figures(4, reads(180), &mut samples);
        assert!(samples.is_empty());
    }
}
