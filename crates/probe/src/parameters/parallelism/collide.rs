//! Tells from the times of pairs of reads how many of them collided, and what a collision costs.
//!
//! A read of data takes longer than a read of nothing by the time of the flash. Two reads that are submitted together take
//! as long as one read plus what the host's side adds (known from pairs of reads of nothing), or, if they collide, as long
//! as one read plus the time of the flash of the other. Both distributions are therefore known from lone reads, with all
//! their noise and with the reads that memory answers. The share of collisions is that of pairs above a threshold between
//! the two, corrected by the shares of either distribution above it (Rogan and Gladen, "Estimating prevalence from the
//! results of a screening test", American Journal of Epidemiology 107(1), 1978).

use super::blank::{Blank, FLASH_MIN, KEPT, blank, times};
use super::made::{Made, above, beyond, later};
use super::take::{LONG, PAIR, SOLO};
use crate::{Parameter, Record};
use fathom_base::Rng;
use fathom_stats::location::{mean, median, quantile};

/// The simulated pairs, and the random stream that makes them.
const SIMULATED: usize = 20_000;
const STREAM: u64 = 0x7061_6972;
/// The least difference between the shares above the threshold with and without collision.
const POWER_MIN: f64 = 0.35;
/// The pairs of a block, and the standard deviations by which blocks differ more than by chance.
const BLOCK: usize = 250;
const CHANCE: f64 = 3.0;

/// The standard errors by which more second reads must be faster than slower, and their least share.
const SIGNS: f64 = 3.0;
const MAPPED: f64 = 0.08;
/// The part of what the noise of the host's side is known to do to pairs that may be wrong, as a standard error.
const UNSURE: f64 = 0.15;
/// The part of the time of a collision below which pairs met elsewhere, and the largest part of the slow pairs that noise makes.
const LESS: f64 = 0.85;
const NOISY: f64 = 0.25;
/// The least part of the time of the flash that only reads of one die wait for.
const APART_MIN: f64 = 0.35;

/// What is known of pairs of reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pairs {
    /// The median time of a lone read of data, and the time of the flash in it, in nanoseconds.
    pub(crate) solo: f64,
    pub(crate) flash: f64,
    /// What the second of two reads adds on the host's side, in nanoseconds.
    pub(crate) host: f64,
    /// The time above which a pair counts as one that collided, in nanoseconds.
    threshold: f64,
    /// The shares of pairs above it: of those that do not collide, and of those that do.
    free: f64,
    collided: f64,
    /// The number of lone reads that tell these shares.
    lone: f64,
    /// The part of the free share that comes from the noise of the host's side.
    by_host: f64,
    /// How much longer than a lone read most pairs that collide take, in nanoseconds.
    waits: f64,
    /// The share of lone reads that memory answers.
    pub(crate) memory: f64,
}

/// The reason for which pairs tell nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blind {
    /// There is no measurement of reads of nothing.
    NoBlank,
    /// Reads of data take no longer than reads of nothing.
    NoFlash,
    /// The host's side takes as long for each read as the flash.
    Host,
    /// The transfer takes most of the time of the flash, and reads of different dies may wait for it as well.
    Channel,
    /// The noise is larger than what a collision costs.
    Noise,
}

/// Returns true if a read that takes `ns` is as fast as nine in ten reads of nothing, which take up to `high`.
pub(super) fn by_memory(ns: f64, high: f64) -> bool {
    ns <= 1.05 * high
}

/// Returns true if second reads of places are faster than first ones, but slower than reads of nothing.
pub(super) fn faster_but_read(first: &[f64], second: &[f64], high: f64) -> bool {
    let both = || first.iter().zip(second);
    let faster = both().filter(|(a, b)| **b < KEPT * **a && !by_memory(**b, high));
    let slower = both().filter(|(a, b)| **a < KEPT * **b);
    // Noise makes as many slower as faster (McNemar 1947).
    let (faster, slower) = (faster.count() as f64, slower.count() as f64);
    faster >= slower + SIGNS * (faster + slower).sqrt() && faster >= MAPPED * first.len() as f64
}

/// Returns the median time of the flash in a read, in nanoseconds; `None` if it is too short to matter.
pub(crate) fn flash_ns(record: &Record, of: Parameter) -> Option<f64> {
    lone(record, of).map(|(_, flash)| flash)
}

/// Returns what a lone read of the flash takes, and the part of it that the flash takes, in nanoseconds.
pub(crate) fn lone(record: &Record, of: Parameter) -> Option<(f64, f64)> {
    let nothing = blank(record, of)?.alone;
    let near = 1.05 * quantile(&nothing, 0.9)?;
    let slow: Vec<f64> = times(record, of, SOLO)
        .into_iter()
        .filter(|ns| *ns > near)
        .collect();
    let (solo, flash) = (median(&slow)?, median(&slow)? - median(&nothing)?);
    (slow.len() >= 100 && flash >= FLASH_MIN * solo).then_some((solo, flash))
}

/// Returns what is known of pairs.
pub(crate) fn pairs(record: &Record, of: Parameter) -> Result<Pairs, Blind> {
    let solos = times(record, of, SOLO);
    let blank = blank(record, of).ok_or(Blind::NoBlank)?;
    let (Some(nothing), Some(two)) = (median(&blank.alone), median(&blank.two)) else {
        return Err(Blind::NoBlank);
    };
    let near = quantile(&blank.alone, 0.9).unwrap_or(nothing);
    // Memory may answer most reads of a small drive: the flash shows in the others.
    let slow: Vec<f64> = solos
        .iter()
        .copied()
        .filter(|ns| *ns > 1.05 * near.max(nothing))
        .collect();
    let memory = 1.0 - slow.len() as f64 / solos.len().max(1) as f64;
    let solo = median(&slow).unwrap_or(nothing);
    let (flash, host) = (solo - nothing, (two - nothing).max(0.0));
    if slow.len() < 100 || flash < FLASH_MIN * solo {
        return Err(Blind::NoFlash);
    }
    // Two reads of different dies may still share a channel. What that costs is what a longer read takes more.
    let longer = later(&times(record, of, LONG), &solos).unwrap_or(0.0);
    let shared = host.max(longer);
    if flash - shared < APART_MIN * flash || flash - shared < 0.04 * solo {
        return Err(if host > longer {
            Blind::Host
        } else {
            Blind::Channel
        });
    }
    let known = Pairs {
        solo,
        flash,
        host,
        threshold: solo + (flash + shared) / 2.0,
        free: 0.0,
        collided: 1.0,
        lone: solos.len() as f64,
        by_host: 0.0,
        waits: flash,
        memory,
    };
    let known = known.simulated(record.meta.seed, &solos, &blank, near, shared);
    match known.collided - known.free < POWER_MIN * (1.0 - memory).powi(2) {
        true => Err(Blind::Noise),
        false => Ok(known),
    }
}

impl Pairs {
    /// Finds the threshold, and the shares above it, from pairs that are made of lone reads; reads of different dies wait
    /// `shared` for what they have in common.
    fn simulated(self, seed: u64, solos: &[f64], blank: &Blank, near: f64, shared: f64) -> Self {
        let mut rng = Rng::new(seed, STREAM);
        let nothing = median(&blank.alone).unwrap_or_default();
        let (two, part) = (
            median(&blank.two).unwrap_or_default(),
            blank.uneven_by_host(),
        );
        let mut made = Made::default();
        for _ in 0..SIMULATED {
            let [a, b] = [0; 2].map(|_| rng.pick(solos).copied().unwrap_or_default());
            let uneven = rng.pick(&blank.two).map_or(0.0, |ns| part * (ns - two));
            let apart = a.max(b + self.host + uneven);
            let both = a.min(b) > 1.05 * near;
            made.free.push(apart);
            made.even.push(a.max(b + self.host));
            made.shared.push(a.max(b + shared + uneven));
            made.collided.push(if both {
                apart.max(a + b - nothing)
            } else {
                apart
            });
        }
        let threshold = made.threshold(self.threshold, self.solo, self.flash);
        let free = above(&made.free, threshold);
        let slow = beyond(&made.collided, threshold);
        Self {
            threshold,
            free,
            waits: slow.map_or(self.waits, |slow| slow - self.solo),
            collided: above(&made.collided, threshold),
            by_host: (free - above(&made.even, threshold)).abs(),
            ..self
        }
    }

    /// Returns the share of pairs that collided, and its standard error.
    pub(crate) fn share(&self, times: &[f64]) -> Option<(f64, f64)> {
        let count = times.len() as f64;
        if count < 4.0 {
            return None;
        }
        let seen = above(times, self.threshold);
        // Agresti and Coull 1998: never without an error.
        let smooth = (seen * count + 2.0) / (count + 4.0);
        let power = self.collided - self.free;
        // A pair is above the threshold if one of its two reads is: its share has twice the variance of that of lone reads.
        let of_lone = 2.0 * self.free * (1.0 - self.free) / self.lone.max(1.0);
        let error = (smooth * (1.0 - smooth) / (count + 4.0) + of_lone).sqrt();
        Some(((seen - self.free) / power, error / power))
    }

    /// Returns true if the pairs that waited did so for clearly less than the flash takes: there is something else that reads meet
    /// at, such as a map in flash, each entry of which is a read of its own.
    pub(super) fn wait_for_less(&self, times: &[f64]) -> bool {
        let by_noise = self.free > NOISY * above(times, self.threshold);
        let waited = beyond(times, self.threshold).map(|slow| slow - self.solo);
        !by_noise && waited.is_some_and(|waited| waited < LESS * self.waits)
    }

    /// Returns the standard deviation of the share over time, from blocks of pairs in the order of their reads (DerSimonian and
    /// Laird, "Meta-analysis in clinical trials", Controlled Clinical Trials 7(3), 1986). Zero if the blocks differ no more
    /// than chance lets them: on a drive that nothing disturbs.
    pub(super) fn drift(&self, times: &[f64]) -> f64 {
        let shares = times
            .chunks_exact(BLOCK)
            .filter_map(|block| self.share(block));
        let (shares, errors): (Vec<f64>, Vec<f64>) = shares.unzip();
        let (Some(middle), Some(error)) = (mean(&shares), mean(&errors)) else {
            return 0.0;
        };
        let degrees = shares.len() as f64 - 1.0;
        let squares: f64 = shares.iter().map(|s| ((s - middle) / error).powi(2)).sum();
        // The mean and the standard deviation of chi-square.
        match squares > degrees + CHANCE * (2.0 * degrees).sqrt() {
            true => (squares / degrees - 1.0).sqrt() * error,
            false => 0.0,
        }
    }
}

/// Returns the share of random pairs that collided, its error, and their number. The error has what the share changes over
/// time, so that the interval also covers what another run would find.
pub(crate) fn random(record: &Record, of: Parameter, pairs: &Pairs) -> Option<(f64, f64, usize)> {
    let times = times(record, of, PAIR);
    let (share, error) = pairs.share(&times)?;
    let host = UNSURE * pairs.by_host / (pairs.collided - pairs.free);
    let error = error.hypot(pairs.drift(&times)).hypot(host);
    Some((share, error, times.len()))
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, Blank, Pairs};
    use fathom_base::Rng;

    const KNOWN: Pairs = Pairs {
        solo: 100.0,
        flash: 50.0,
        host: 1.0,
        threshold: 125.0,
        free: 0.0,
        collided: 1.0,
        lone: 2000.0,
        by_host: 0.0,
        waits: 50.0,
        memory: 0.0,
    };

    /// Returns the times of pairs of which a share collides, block by block.
    fn times(shares: &[f64], rng: &mut Rng) -> Vec<f64> {
        let share = |share: &f64| [*share; BLOCK];
        let all = shares.iter().flat_map(share);
        all.map(|share| if rng.chance(share) { 150.0 } else { 101.0 })
            .collect()
    }

    /// What the second read waits for the controller varies as the first one's time there does.
    #[test]
    fn the_noise_of_the_controller_is_no_collision() {
        let mut rng = Rng::new(8, 3);
        let mut about = |middle: f64, spread: f64| {
            let sum: f64 = (0..12)
                .map(|_| rng.below(1 << 20) as f64 / (1 << 20) as f64)
                .sum();
            middle + spread * (sum - 6.0)
        };
        // 20 us in the controller with a noise of a quarter, 40 us on the way, and 30 us of the flash.
        let (mut alone, mut two, mut solos, mut free) = (vec![], vec![], vec![], vec![]);
        for _ in 0..20_000 {
            let mut host = || about(20.0, 5.0);
            alone.push(host() + 40.0);
            two.push(host() + host() + 40.0);
            solos.push(host() + 70.0);
            let (first, second) = (host(), host());
            free.push(first.max(first + second) + 70.0);
        }
        let blank = Blank { alone, two };
        let known = Pairs {
            solo: 90.0,
            flash: 30.0,
            host: 20.0,
            threshold: 115.0,
            ..KNOWN
        };
        let known = known.simulated(1, &solos, &blank, 66.0, 20.0);
        let share = known.share(&free).unwrap().0;
        assert!(share.abs() < 0.03, "{share}");
        assert!(known.by_host > 0.05);
    }

    /// Reads of two speeds: the slower ones alone are no collisions of the faster ones, and the threshold is beyond them.
    #[test]
    fn reads_of_two_speeds_are_told_from_collisions() {
        let mut rng = Rng::new(9, 3);
        let mut read = || if rng.chance(0.6) { 46.0 } else { 62.5 };
        let solos: Vec<f64> = (0..5000).map(|_| read()).collect();
        let blank = Blank {
            alone: vec![10.0; 400],
            two: vec![14.0; 400],
        };
        let known = Pairs {
            solo: 46.0,
            flash: 36.0,
            host: 4.0,
            threshold: 46.0 + (36.0 + 4.0) / 2.0,
            ..KNOWN
        };
        let known = known.simulated(1, &solos, &blank, 10.0, 4.0);
        assert!(
            (66.0..82.0).contains(&known.threshold),
            "{}",
            known.threshold
        );
        assert_eq!((known.free, known.collided), (0.0, 1.0));
    }

    #[test]
    fn pairs_that_wait_for_less_than_the_flash_meet_elsewhere() {
        assert!(!KNOWN.wait_for_less(&[101.0, 150.0, 148.0, 101.0]));
        assert!(KNOWN.wait_for_less(&[101.0, 130.0, 132.0, 150.0]));
        // Noise alone puts some pairs there.
        let noisy = Pairs { free: 0.3, ..KNOWN };
        assert!(!noisy.wait_for_less(&[101.0, 130.0, 132.0, 101.0]));
        assert!(!KNOWN.wait_for_less(&[101.0]));
    }

    #[test]
    fn chance_alone_is_no_drift() {
        let mut rng = Rng::new(5, 3);
        let drifts = (0..200).filter(|_| KNOWN.drift(&times(&[0.1; 12], &mut rng)) > 0.0);
        assert!(drifts.count() <= 6);
    }

    #[test]
    fn a_share_that_changes_over_time_widens_the_interval() {
        let mut rng = Rng::new(6, 3);
        // A fifth of the time one in four waits, as on a drive that others use, and one in twelve else.
        for _ in 0..50 {
            let mut shares = [1.0 / 12.0; 20];
            shares[3..7].fill(1.0 / 4.0);
            let drift = KNOWN.drift(&times(&shares, &mut rng));
            // The standard deviation of the shares themselves is 0.067.
            assert!((0.045..0.09).contains(&drift), "{drift}");
        }
    }

    #[test]
    fn few_lone_reads_tell_the_shares_no_better_than_few_pairs() {
        let noisy = |lone| Pairs {
            free: 0.2,
            lone,
            ..KNOWN
        };
        let mut rng = Rng::new(7, 3);
        let times = times(&[0.3; 8], &mut rng);
        let error = |lone| noisy(lone).share(&times).unwrap().1;
        // The share of pairs: 0.3 * 0.7 / 2000; of lone reads: 2 * 0.2 * 0.8 / 1000. The difference to be seen is 1.0 - 0.2.
        let expected = (0.21f64 / 2000.0 + 0.32 / 1000.0).sqrt() / 0.8;
        assert!((error(1000.0) / expected - 1.0).abs() < 0.05);
        assert!(error(1000.0) > 1.9 * error(1e9));
    }
}
