//! Fits `T(n) = T_merge + n S / B` to the times of sets (`greedy-space` III).
//!
//! n = L is measured, but not fitted: a whole block replaces its log by a switch merge, which copies nothing.

use super::judge::judge;
use super::types::{Estimated, Fit, Row, Verdict};
use fathom_stats::{line, location};

/// The least number of sizes for a fit.
const SIZES_MIN: usize = 4;

/// The times of sets of one size, as batch means in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sample {
    /// Sectors of a set, n.
    pub(super) sectors: u64,
    /// Sets at random places.
    pub(super) random_ns: Vec<f64>,
    /// Sets that follow one another.
    pub(super) sequential_ns: Vec<f64>,
}

/// The outcome of a fit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    /// Whether the model describes the drive.
    pub(super) verdict: Verdict,
    /// Why.
    pub(super) reason: String,
    /// The model, unless the times are no line.
    pub(super) fit: Option<Fit>,
}

/// Fits the model to sets of sectors of `sector_bytes` in logical blocks of `block_bytes`.
pub(super) fn fit(samples: &[Sample], sector_bytes: u64, block_bytes: u64) -> Outcome {
    let below = |sample: &&Sample| sample.sectors * sector_bytes < block_bytes;
    let points = |of: fn(&Sample) -> &Vec<f64>| -> Vec<(f64, f64)> {
        let point = |s: &Sample| Some((s.sectors as f64, location::median(of(s))?));
        samples.iter().filter(below).filter_map(point).collect()
    };
    let (random, sequential) = (points(|s| &s.random_ns), points(|s| &s.sequential_ns));
    let lines = (line::fit(&random), line::fit(&sequential));
    let (Some(model), Some(null), true) = (lines.0, lines.1, random.len() >= SIZES_MIN) else {
        return open(&format!(
            "sizes below L: {}; a fit needs {SIZES_MIN}",
            random.len()
        ));
    };
    let rows: Vec<Row> = samples
        .iter()
        .filter_map(|sample| row(sample, &model, below(&sample)))
        .collect();
    let errors: Vec<f64> = rows.iter().filter(|r| r.fitted).map(|r| r.error).collect();
    let worst = errors
        .iter()
        .copied()
        .max_by(|a, b| a.abs().total_cmp(&b.abs()));
    let sizes: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
    if model.slope.value <= 0.0 {
        return Outcome {
            verdict: Verdict::Misfit,
            ..open("sets of more sectors do not take longer: a merge copies what they leave over")
        };
    }
    let fit = Fit {
        merge_ns: around(model.at_zero.value, model.at_zero.half),
        bytes_per_s: bandwidth(&model.slope, sector_bytes),
        request_ns: null.at_zero.value,
        mean_error: location::mean(&sizes).unwrap_or_default(),
        worst_error: worst.unwrap_or_default(),
        rows,
    };
    let (verdict, reason) = judge(&fit, sector_bytes, block_bytes);
    Outcome {
        verdict,
        reason,
        fit: Some(fit),
    }
}

fn open(reason: &str) -> Outcome {
    Outcome {
        verdict: Verdict::Undecided,
        reason: reason.to_owned(),
        fit: None,
    }
}

fn row(sample: &Sample, model: &line::Line, fitted: bool) -> Option<Row> {
    let measured = median(&sample.random_ns)?;
    let predicted_ns = model.at(sample.sectors as f64);
    Some(Row {
        sectors: sample.sectors,
        measured,
        sequential_ns: location::median(&sample.sequential_ns)?,
        predicted_ns,
        error: predicted_ns / measured.value - 1.0,
        fitted,
    })
}

/// Returns the median of batch means with its interval.
pub(super) fn median(batches: &[f64]) -> Option<Estimated> {
    let interval = location::median_interval(batches);
    Some(Estimated {
        value: location::median(batches)?,
        low: interval.map(|(low, _)| low),
        high: interval.map(|(_, high)| high),
    })
}

fn around(value: f64, half: Option<f64>) -> Estimated {
    Estimated {
        value,
        low: half.map(|half| value - half),
        high: half.map(|half| value + half),
    }
}

/// Converts nanoseconds per sector to bytes per second. An interval that reaches zero has no upper end.
fn bandwidth(slope: &line::Coefficient, sector_bytes: u64) -> Estimated {
    let rate = |ns: f64| sector_bytes as f64 * 1e9 / ns;
    let fastest = slope.half.map(|half| slope.value - half);
    Estimated {
        value: rate(slope.value),
        low: slope.half.map(|half| rate(slope.value + half)),
        high: fastest.filter(|ns| *ns > 0.0).map(rate),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Rng;

    const SECTOR: u64 = 4096;

    /// A drive that follows the model, with relative noise and outliers.
    struct Drive {
        merge_ns: f64,
        request_ns: f64,
        bytes_per_s: f64,
        block_bytes: u64,
        noise: f64,
    }

    impl Drive {
        /// Times of a drive whose logical block is `block_bytes`: a whole one needs no merge.
        fn whole(&self, rng: &mut Rng) -> Vec<Sample> {
            let mut samples = self.samples(rng);
            if let Some(whole) = samples.last_mut() {
                whole.random_ns.clone_from(&whole.sequential_ns);
            }
            samples
        }

        fn samples(&self, rng: &mut Rng) -> Vec<Sample> {
            let most = self.block_bytes / SECTOR;
            let mut samples = Vec::new();
            let mut sectors = 1;
            while sectors <= most {
                let transfer = (sectors * SECTOR) as f64 * 1e9 / self.bytes_per_s;
                let mut times = |constant: f64| -> Vec<f64> {
                    let scattered = |rng: &mut Rng| 1.0 + self.noise * rng.normal();
                    let mut times: Vec<f64> = (0..12)
                        .map(|_| (constant + transfer) * scattered(rng))
                        .collect();
                    // A batch of some sizes is disturbed, as by a daemon.
                    if rng.chance(0.3) {
                        times[rng.below(12) as usize] *= 20.0;
                    }
                    times
                };
                samples.push(Sample {
                    sectors,
                    random_ns: times(self.merge_ns),
                    sequential_ns: times(self.request_ns),
                });
                sectors *= 2;
            }
            samples
        }
    }

    #[test]
    fn what_was_planted_is_found_within_its_interval() {
        let mut rng = Rng::new(11, 0);
        let (mut merge_held, mut rate_held) = (0, 0);
        for _ in 0..300 {
            let bytes_per_s = 1e7 * 40_f64.powf(rng.uniform());
            let block_bytes = 1 << (20 + rng.below(5));
            // From a quarter of the time of a block to ten times it.
            let share = 0.25 * 40_f64.powf(rng.uniform());
            let drive = Drive {
                merge_ns: share * block_bytes as f64 * 1e9 / bytes_per_s,
                request_ns: 40_000.0,
                bytes_per_s,
                block_bytes,
                noise: 0.02,
            };
            let found = fit(&drive.whole(&mut rng), SECTOR, block_bytes);
            assert_eq!(found.verdict, Verdict::Fits, "{}", found.reason);
            let model = found.fit.unwrap();
            let near = model.merge_ns.value / drive.merge_ns - 1.0;
            assert!(near.abs() < 0.05, "{near} {model:?}");
            assert!(model.mean_error < 0.03, "{model:?}");
            let holds = |found: Estimated, truth: f64| {
                let high = found.high.unwrap_or(f64::INFINITY);
                u32::from(found.low.unwrap() <= truth && truth <= high)
            };
            merge_held += holds(model.merge_ns, drive.merge_ns);
            rate_held += holds(model.bytes_per_s, bytes_per_s);
        }
        assert!(
            merge_held >= 270 && rate_held >= 270,
            "{merge_held} {rate_held}"
        );
    }

    #[test]
    fn a_drive_without_merges_does_not_fit() {
        let mut rng = Rng::new(12, 0);
        for _ in 0..100 {
            let bytes_per_s = 1e7 * 40_f64.powf(rng.uniform());
            // A random set reads and writes up to four pages of 16 KiB more than a sequential one.
            let page = 16384.0 * 1e9 / bytes_per_s;
            let drive = Drive {
                merge_ns: 40_000.0 + 4.0 * page * rng.uniform(),
                request_ns: 40_000.0,
                bytes_per_s,
                block_bytes: 4 << 20,
                noise: 0.02,
            };
            let found = fit(&drive.samples(&mut rng), SECTOR, 4 << 20);
            assert_eq!(found.verdict, Verdict::NoMerge, "{}", found.reason);
        }
    }

    #[test]
    fn a_drive_that_pays_for_every_random_byte_has_no_merge() {
        let mut rng = Rng::new(15, 0);
        for _ in 0..100 {
            let block_bytes = 1 << (16 + rng.below(8));
            let drive = Drive {
                merge_ns: 2.5e6,
                request_ns: 40_000.0,
                bytes_per_s: 3e7,
                block_bytes,
                noise: 0.02,
            };
            let mut samples = drive.samples(&mut rng);
            // Collection moves three to seven bytes for each one.
            let moved = 4.0 + 4.0 * rng.uniform();
            for sample in &mut samples {
                let transfer = (sample.sectors * SECTOR) as f64 * 1e9 / 3e7;
                sample
                    .random_ns
                    .iter_mut()
                    .for_each(|ns| *ns += (moved - 1.0) * transfer);
            }
            let found = fit(&samples, SECTOR, block_bytes);
            assert_eq!(found.verdict, Verdict::NoMerge, "{}", found.reason);
        }
    }

    #[test]
    fn a_block_that_is_a_part_of_the_real_one_does_not_fit() {
        let mut rng = Rng::new(16, 0);
        let drive = Drive {
            merge_ns: 2e8,
            request_ns: 40_000.0,
            bytes_per_s: 8e7,
            block_bytes: 4 << 20,
            noise: 0.01,
        };
        // Whole parts at random places need the merge of the block that they lie in.
        let found = fit(&drive.samples(&mut rng), SECTOR, 4 << 20);
        assert_eq!(found.verdict, Verdict::Misfit, "{}", found.reason);
        assert!(
            found.reason.contains("L is not their size"),
            "{}",
            found.reason
        );
    }

    #[test]
    fn a_merge_that_depends_on_the_size_is_a_misfit() {
        let mut rng = Rng::new(13, 0);
        let drive = Drive {
            merge_ns: 1e8,
            request_ns: 40_000.0,
            bytes_per_s: 4e7,
            block_bytes: 4 << 20,
            noise: 0.01,
        };
        let mut samples = drive.samples(&mut rng);
        // A replacement block is only completed: fewer sectors remain to be copied.
        for sample in &mut samples {
            let left = 1.0 - sample.sectors as f64 / 1024.0;
            let transfer = sample.sectors as f64 * 4096.0 * 1e9 / 4e7;
            sample.random_ns = vec![1e8 * left * left + transfer.sqrt() * 1e4; 12];
        }
        let found = fit(&samples, SECTOR, 4 << 20);
        assert_eq!(found.verdict, Verdict::Misfit, "{found:?}");
    }

    #[test]
    fn too_few_sizes_are_undecided() {
        let found = fit(&[], SECTOR, 4 << 20);
        assert_eq!((found.verdict, found.fit), (Verdict::Undecided, None));
        let sample = |sectors| Sample {
            sectors,
            random_ns: vec![1e6; 12],
            sequential_ns: vec![1e5; 12],
        };
        let found = fit(
            &[sample(1), sample(2), sample(4), sample(8)],
            SECTOR,
            8 * SECTOR,
        );
        assert_eq!(
            found.verdict,
            Verdict::Undecided,
            "n = L is no part of the fit"
        );
    }

    #[test]
    fn the_whole_block_is_predicted_and_not_fitted() {
        let mut rng = Rng::new(14, 0);
        let drive = Drive {
            merge_ns: 1e8,
            request_ns: 40_000.0,
            bytes_per_s: 4e7,
            block_bytes: 1 << 20,
            noise: 0.0,
        };
        let mut samples = drive.samples(&mut rng);
        // The switch merge of a whole block costs an erase.
        let last = samples.last_mut().unwrap();
        last.random_ns = vec![2e6 + 1_048_576.0 * 1e9 / 4e7; 12];
        let found = fit(&samples, SECTOR, 1 << 20).fit.unwrap();
        let last = found.rows.last().unwrap();
        assert!(!last.fitted && last.sectors == 256);
        // (100 + 26.2) ms predicted, (2 + 26.2) ms measured.
        assert!(
            (last.error - (126.2144 / 28.2144 - 1.0)).abs() < 0.01,
            "{last:?}"
        );
        assert!(found.worst_error.abs() < 1e-6, "{found:?}");
    }
}
