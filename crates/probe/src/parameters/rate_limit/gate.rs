//! A limit with hardly a burst: a constant rate from the first reads on, whatever the depth, though the drive serves reads
//! faster after a pause.
//!
//! A drive that is merely slow works on what it is asked for without a break: reads after a pause take as long as others, and
//! many at once take at least as long as its rate allows for them. Only something that counts requests lets some pass at once
//! after a pause, and then makes others wait while the drive could serve them. A gate that lets nothing pass ahead is seen if
//! a lone read is faster than its rate; else a saturated controller looks the same.
//!
//! The kernel's blk-throttle counts in slices of time. A pause may end anywhere in a slice, so that some groups pass at once and
//! others wait for the next slice.

use super::law::Batch;
use fathom_stats::location::{median, median_interval_at, quantile};

/// The parts of a run that must have the same rate, the largest ratio of their rates, and the least batches of a run. The first
/// part may have a burst and does not count.
const PARTS: usize = 6;
const EVEN: f64 = 1.06;
pub(super) const BATCHES_MIN: usize = 12;
/// The confidence that reads after a pause are faster than the rate, and the least ratio.
const CONFIDENCE: f64 = 0.999;
const FASTER: f64 = 1.5;
/// The ratio that some groups have behind a gate that counts in slices, their least share, and the least reads of such a group:
/// the times of many reads add up to nearly the same on a drive.
const SLICED: (f64, f64) = (3.0, 0.25);
const MANY: u32 = 8;
/// How far the rates at other depths may be off.
const SAME: f64 = 0.03;
/// The time for which a gate may hold reads back, in seconds: the kernel's counts in slices of up to 0.1 s.
const SLICE: f64 = 0.1;

/// A rate that does not change over a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Constant {
    /// Tokens per second.
    pub(super) per_second: f64,
    /// The relative error of it.
    pub(super) error: f64,
}

/// Returns the rate of a run, if it is constant.
pub(super) fn constant(batches: &[Batch]) -> Option<Constant> {
    if batches.len() < BATCHES_MIN {
        return None;
    }
    let parts: Vec<Batch> = batches
        .chunks(batches.len().div_ceil(PARTS))
        .skip(1)
        .map(sum)
        .collect();
    let rates = parts.iter().map(Batch::rate);
    let (low, high) = rates.fold((f64::MAX, 0.0), |(low, high), rate| {
        (f64::min(low, rate), f64::max(high, rate))
    });
    let all = sum(&parts);
    (high <= EVEN * low).then(|| Constant {
        per_second: all.rate(),
        error: 0.005 + SLICE / all.seconds.max(10.0 * SLICE),
    })
}

fn sum(batches: &[Batch]) -> Batch {
    Batch {
        tokens: batches.iter().map(|batch| batch.tokens).sum(),
        seconds: batches.iter().map(|batch| batch.seconds).sum(),
    }
}

/// What was read at one depth.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AtDepth {
    /// The reads in flight.
    pub(super) depth: u32,
    /// Groups of as many reads at once, each after a pause.
    pub(super) rested: Vec<Batch>,
    /// Reads without a pause.
    pub(super) steady: Vec<Batch>,
}

impl AtDepth {
    /// Returns how many times as fast as a rate reads after a pause are, if that is certain.
    pub(super) fn faster(&self, rate: f64) -> Option<f64> {
        let ratios: Vec<f64> = self
            .rested
            .iter()
            .map(|group| group.rate() / rate)
            .collect();
        let (low, _) = median_interval_at(&ratios, CONFIDENCE)?;
        let (ratio, share) = SLICED;
        match self.depth >= MANY {
            _ if low >= FASTER => median(&ratios),
            true => quantile(&ratios, 1.0 - share).filter(|high| *high >= ratio),
            false => None,
        }
    }

    /// Returns true if reads without a pause come at a rate.
    pub(super) fn keeps(&self, rate: f64) -> bool {
        let all = sum(&self.steady);
        !self.steady.is_empty() && (all.rate() / rate - 1.0).abs() <= SAME
    }
}

/// What a constant rate is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cause {
    /// Something lets reads pass at this rate alone; reads after a pause were so many times as fast.
    Gate(f64),
    /// Reads after a pause are faster, but the rate is not the same at two depths: others use the drive or the host.
    Unclear,
    /// The rate is the same at two depths: a limit that lets nothing pass ahead, or a saturated drive.
    Either,
    /// The rate grows with the depth: the drive's own.
    Drive,
}

/// Returns the cause of a constant rate from what was read at some depths, ascending.
pub(super) fn cause(rate: f64, depths: &[AtDepth]) -> Cause {
    let keeping: Vec<&AtDepth> = depths.iter().filter(|depth| depth.keeps(rate)).collect();
    let faster = keeping.iter().filter_map(|depth| depth.faster(rate));
    let enough = keeping.len() >= depths.len().min(2);
    match faster.reduce(f64::max) {
        Some(ratio) if enough => Cause::Gate(ratio),
        Some(_) => Cause::Unclear,
        _ if enough && depths.len() > 1 => Cause::Either,
        _ => Cause::Drive,
    }
}

#[cfg(test)]
mod tests {
    use super::{AtDepth, Batch, Cause, cause, constant};

    /// Serves groups of `n` reads after a pause and without one: a drive takes `alone` seconds for a read and serves up to
    /// `most` a second; a bucket holds `burst` reads and gets `limit` a second.
    fn served(n: f64, alone: f64, most: f64, limit: f64, burst: f64) -> AtDepth {
        let wobble = |i: usize| 1.0 + 0.02 * ((i * 37 % 11) as f64 / 5.0 - 1.0);
        let drive = alone.max(n / most);
        let held = ((n - burst) / limit).max(0.0);
        let batch = |seconds: f64| {
            let of = |i| Batch {
                tokens: n,
                seconds: seconds * wobble(i),
            };
            (0..32).map(of).collect()
        };
        AtDepth {
            depth: n as u32,
            rested: batch(drive.max(held)),
            steady: batch(drive.max(n / limit)),
        }
    }

    #[test]
    fn a_bucket_with_a_small_burst_is_a_gate() {
        for burst in [32.0, 300.0] {
            let depths = [1.0, 16.0, 32.0].map(|n| served(n, 1e-4, 2e5, 3000.0, burst));
            assert!(matches!(cause(3000.0, &depths), Cause::Gate(_)), "{burst}");
        }
        // One read passes ahead: only the lone one tells.
        let depths = [1.0, 16.0, 32.0].map(|n| served(n, 1e-4, 2e5, 3000.0, 1.0));
        assert!(matches!(cause(3000.0, &depths), Cause::Gate(r) if r > 3.0 && r < 3.5));
        // A drive of one request at a time.
        let lone = [served(1.0, 1e-4, 2e5, 3000.0, 1.0)];
        assert!(matches!(cause(3000.0, &lone), Cause::Gate(_)));
    }

    #[test]
    fn slices_let_some_groups_pass_at_once() {
        let mut depths = [1.0, 16.0, 32.0].map(|n| served(n, 1e-4, 2e5, 2000.0, 1.0));
        for (i, group) in depths[2].rested.iter_mut().enumerate() {
            group.seconds = if i % 3 == 0 { 0.0008 } else { 0.012 };
        }
        depths[0].rested.clear();
        assert!(matches!(cause(2000.0, &depths), Cause::Gate(_)));
        // Lone reads of which some are answered by memory are no gate.
        let mut slow = [1.0, 16.0, 32.0].map(|n| served(n, 1e-4, 1e4, 1e9, 1e9));
        for group in slow[0].rested.iter_mut().step_by(3) {
            group.seconds /= 10.0;
        }
        assert_eq!(cause(1e4, &slow), Cause::Either);
    }

    #[test]
    fn a_slow_drive_is_none() {
        // It reads one place at a time, is saturated from depth 8 on, or not at all.
        let of =
            |alone: f64, most: f64| [1.0, 16.0, 32.0].map(|n| served(n, alone, most, 1e9, 1e9));
        assert_eq!(cause(1e4, &of(1e-4, 1e4)), Cause::Either);
        assert_eq!(cause(8e4, &of(1e-4, 8e4)), Cause::Either);
        assert_eq!(cause(32e4, &of(1e-4, 1e9)), Cause::Drive);
        assert_eq!(cause(1e4, &of(1e-4, 1e4)[..1]), Cause::Drive);
    }

    #[test]
    fn only_an_even_run_is_constant() {
        let run = |of: &dyn Fn(usize) -> f64| -> Vec<Batch> {
            let batch = |i| Batch {
                tokens: 512.0,
                seconds: of(i),
            };
            (0..60).map(batch).collect()
        };
        // The kernel's slices make a batch of 256 ms take 200 or 300 ms.
        let sliced = run(&|i| if i % 2 == 0 { 0.2 } else { 0.312 });
        let found = constant(&sliced).unwrap();
        assert!((found.per_second / 2000.0 - 1.0).abs() < found.error);
        assert_eq!(constant(&sliced[..11]), None);
        assert_eq!(constant(&run(&|i| 0.2 + 0.002 * i as f64)), None);
        // A burst at the beginning does not count.
        let burst = run(&|i| if i < 8 { 0.01 } else { 0.256 });
        assert!((constant(&burst).unwrap().per_second / 2000.0 - 1.0).abs() < 0.001);
    }
}
