//! Noise on latencies that no drive mechanism causes.

use super::model::{Parts, Smooth};
use crate::accuracy::dice::{log_uniform, log_whole, pick};
use fathom_base::{Dur, Rng, Time};
use fathom_block::Op;
use fathom_block::layers::Latencies;
use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// A kind of noise with its strength. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Disturbance {
    /// Stretches of the recorded series.
    Recorded,
    /// Every latency is multiplied independently by a factor whose logarithm is normal.
    Jitter {
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// Another load comes and goes. While it is present, latencies are longer.
    Bursts {
        /// Mean factor by which latencies grow while the load is present.
        factor: f64,
        /// Mean time for which the load is absent.
        off_ns: u64,
        /// Mean time for which the load is present.
        on_ns: u64,
    },
    /// Latencies rise and fall slowly.
    Drift {
        /// Ratio of the highest to the lowest latency.
        factor: f64,
        /// Time from one maximum to the next.
        period_ns: u64,
    },
    /// At regular intervals nothing completes for a while.
    Stalls {
        /// Time from one stall to the next.
        every_ns: u64,
        /// Duration of a stall.
        for_ns: u64,
    },
}

const MS: u64 = 1_000_000;

impl Disturbance {
    /// Draws the recorded kind for every even index, and the others in turn.
    pub(super) fn draw(rng: &mut Rng, index: u64) -> Disturbance {
        if index.is_multiple_of(2) {
            return Disturbance::Recorded;
        }
        match index / 2 % 4 {
            0 => Disturbance::Jitter {
                sigma: log_uniform(rng, 0.03, 1.0),
            },
            1 => Disturbance::Bursts {
                factor: log_uniform(rng, 1.5, 30.0),
                off_ns: log_whole(rng, 5 * MS, 5_000 * MS),
                on_ns: log_whole(rng, 5 * MS, 5_000 * MS),
            },
            2 => Disturbance::Drift {
                factor: log_uniform(rng, 1.1, 4.0),
                period_ns: log_whole(rng, 1_000 * MS, 300_000 * MS),
            },
            _ => {
                let every_ns = log_whole(rng, 20 * MS, 5_000 * MS);
                let for_ns = log_whole(rng, MS, (every_ns / 4).min(200 * MS));
                Disturbance::Stalls { every_ns, for_ns }
            }
        }
    }

    /// Returns the name used in tables.
    pub fn name(&self) -> &'static str {
        match self {
            Disturbance::Recorded => "recorded",
            Disturbance::Jitter { .. } => "jitter",
            Disturbance::Bursts { .. } => "bursts",
            Disturbance::Drift { .. } => "drift",
            Disturbance::Stalls { .. } => "stalls",
        }
    }
}

/// Says what the latencies are.
impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Disturbance::Recorded => f.write_str("those of a recorded busy disk"),
            Disturbance::Jitter { sigma } => write!(
                f,
                "smooth ones, each times a factor whose logarithm has a standard deviation of {sigma:.3}"
            ),
            Disturbance::Bursts {
                factor,
                off_ns,
                on_ns,
            } => write!(
                f,
                "{factor:.1} times as long on average while another load is there, which is away for {} and there for {} on \
                 average",
                Dur(*off_ns),
                Dur(*on_ns)
            ),
            Disturbance::Drift { factor, period_ns } => write!(
                f,
                "smooth ones that rise and fall by a factor of {factor:.2}, with a period of {}",
                Dur(*period_ns)
            ),
            Disturbance::Stalls { every_ns, for_ns } => write!(
                f,
                "smooth ones, and every {} nothing completes for {}",
                Dur(*every_ns),
                Dur(*for_ns)
            ),
        }
    }
}

/// Standard deviation of the logarithm of every latency, added to each synthetic kind because no disk is exact.
const EVERYWHERE: f64 = 0.03;
/// Mean length of a stretch of the recording, in requests.
const STRETCH: f64 = 10_000.0;

/// Latencies of the smooth model with one kind of noise on them.
pub(super) struct Disturbed {
    smooth: Smooth,
    disturbance: Disturbance,
    series: Series,
    rng: Rng,
    /// True while the other load is present, and the time until which that state lasts.
    busy: (bool, Time),
    /// Phase of the period at time zero, as a share of the period.
    phase: f64,
}

impl Disturbed {
    pub(super) fn new(parts: &Arc<Parts>, disturbance: Disturbance, seed: u64) -> Self {
        let mut rng = Rng::new(seed, 11);
        Disturbed {
            smooth: parts.smooth,
            disturbance,
            series: Series::new(parts, &mut rng),
            busy: (false, Time::ZERO),
            phase: rng.uniform(),
            rng,
        }
    }

    /// Returns true if the other load is present at a time.
    fn is_busy(&mut self, now: Time, off_ns: u64, on_ns: u64) -> bool {
        while self.busy.1 <= now {
            let there = !self.busy.0;
            let mean = if there { on_ns } else { off_ns };
            let length = self.rng.exponential(mean as f64) as u64;
            self.busy = (there, self.busy.1 + Dur(length.max(1)));
        }
        self.busy.0
    }

    /// Returns the position of a time in its period, as a share of the period.
    fn place(&self, now: Time, period_ns: u64) -> f64 {
        (now.0 as f64 / period_ns as f64 + self.phase).fract()
    }
}

impl Latencies for Disturbed {
    fn next(&mut self, op: Op, len: u64, now: Time) -> Dur {
        let smooth = self.smooth.latency_ns(op, len);
        let jitter = |rng: &mut Rng, sigma: f64| (sigma * rng.normal()).exp();
        let everywhere = jitter(&mut self.rng, EVERYWHERE);
        let latency = match self.disturbance {
            Disturbance::Recorded => smooth * self.series.next(op, &mut self.rng).exp(),
            Disturbance::Jitter { sigma } => smooth * jitter(&mut self.rng, sigma),
            Disturbance::Bursts {
                factor,
                off_ns,
                on_ns,
            } => match self.is_busy(now, off_ns, on_ns) {
                // Requests wait for others in flight, for a time that is uniform from none to twice the mean.
                true => smooth * everywhere * (1.0 + 2.0 * (factor - 1.0) * self.rng.uniform()),
                false => smooth * everywhere,
            },
            Disturbance::Drift { factor, period_ns } => {
                let height = (std::f64::consts::TAU * self.place(now, period_ns)).sin();
                smooth * everywhere * factor.powf(height / 2.0)
            }
            Disturbance::Stalls { every_ns, for_ns } => {
                let since = self.place(now, every_ns) * every_ns as f64;
                smooth * everywhere + (for_ns as f64 - since).max(0.0)
            }
        };
        Dur(latency as u64)
    }
}

/// Stretches of the recording, one after another.
struct Series {
    parts: Arc<Parts>,
    at: usize,
    left: u64,
}

impl Series {
    fn new(parts: &Arc<Parts>, rng: &mut Rng) -> Self {
        let mut series = Series {
            parts: Arc::clone(parts),
            at: 0,
            left: 0,
        };
        series.begin(rng);
        series
    }

    fn begin(&mut self, rng: &mut Rng) {
        self.at = rng.below(self.parts.rest.len() as u64) as usize;
        self.left = rng.exponential(STRETCH) as u64 + 1;
    }

    /// Returns the next value of this operation. A trim takes that of a write.
    fn next(&mut self, op: Op, rng: &mut Rng) -> f64 {
        let op = if op == Op::Trim { Op::Write } else { op };
        if self.left == 0 {
            self.begin(rng);
        }
        self.left -= 1;
        let rest = &self.parts.rest;
        for _ in 0..rest.len() {
            let (kind, value) = rest[self.at];
            self.at = (self.at + 1) % rest.len();
            if kind == op {
                return value;
            }
        }
        0.0
    }
}

/// Draws the device information of a noise target: capacity, logical block and queue depth.
pub(super) fn shape(rng: &mut Rng) -> (u64, u32, u32) {
    let capacity = log_whole(rng, 1, 64) << 30;
    (capacity, pick(rng, &[512, 4096]), pick(rng, &[1, 32, 128]))
}

#[cfg(test)]
mod tests {
    use super::super::{Recorded, Recording};
    use super::*;

    /// Reads whose latency rises by 0.1 % with each request. Every fifth request is a write, which takes ten times as long.
    fn parts() -> Arc<Parts> {
        let mut requests: Vec<Recorded> = (0..10_000u64)
            .map(|i| match i % 5 {
                4 => (Op::Write, 1_000_000),
                _ => (Op::Read, 100_000 + 100 * i),
            })
            .map(|(op, latency_ns)| Recorded {
                op,
                bytes: 4096,
                latency_ns,
            })
            .collect();
        requests.push(Recorded {
            op: Op::Flush,
            bytes: 0,
            latency_ns: 5_000,
        });
        let recorded = "test".into();
        Arc::new(Parts::of(&Recording { recorded, requests }).unwrap())
    }

    fn series(disturbance: Disturbance, seed: u64, n: u64) -> Vec<f64> {
        let mut source = Disturbed::new(&parts(), disturbance, seed);
        let ms = |i| Time::ZERO + Dur(i * MS);
        (0..n)
            .map(|i| source.next(Op::Read, 4096, ms(i)).0 as f64)
            .collect()
    }

    #[test]
    fn the_recording_is_played_in_its_own_order() {
        let played = series(Disturbance::Recorded, 3, 2_000);
        // Reads rise by 100 ns, or by 200 ns across a write, except where a stretch begins or the recording ends.
        let jumps = played
            .windows(2)
            .filter(|w| !(90.0..=210.0).contains(&(w[1] - w[0])))
            .count();
        assert!(jumps <= 4, "{jumps}");
        assert_eq!(played, series(Disturbance::Recorded, 3, 2_000));
        assert_ne!(played, series(Disturbance::Recorded, 4, 2_000));
        let mut source = Disturbed::new(&parts(), Disturbance::Recorded, 5);
        let write = source.next(Op::Write, 4096, Time::ZERO).0;
        assert!((999_000..=1_001_000).contains(&write), "{write}");
    }

    #[test]
    fn synthetic_noise_is_as_large_as_it_says() {
        let base = parts().smooth.read.at(4096);
        let logs =
            |values: Vec<f64>| -> Vec<f64> { values.iter().map(|v| (v / base).ln()).collect() };
        let spread = |values: &[f64]| {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let square = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
            (square / values.len() as f64).sqrt()
        };
        let jitter = logs(series(Disturbance::Jitter { sigma: 0.5 }, 1, 20_000));
        assert!((spread(&jitter) - 0.5).abs() < 0.02);
        let drift = Disturbance::Drift {
            factor: 4.0,
            period_ns: 1_000 * MS,
        };
        // A sine with an amplitude of ln(4) / 2.
        let height = 4f64.ln() / 2.0 / 2f64.sqrt();
        assert!((spread(&logs(series(drift, 1, 20_000))) - height).abs() < 0.02);
        let stalls = Disturbance::Stalls {
            every_ns: 100 * MS,
            for_ns: 10 * MS,
        };
        let stalled = series(stalls, 1, 20_000);
        let late = stalled.iter().filter(|v| **v > base + 0.5 * MS as f64);
        assert!((1_800..=2_100).contains(&late.count()));
        let bursts = Disturbance::Bursts {
            factor: 10.0,
            off_ns: 300 * MS,
            on_ns: 100 * MS,
        };
        let busy = series(bursts, 1, 100_000)
            .into_iter()
            .filter(|v| *v > 1.2 * base);
        let busy = busy.count() as f64 / 100_000.0;
        assert!((0.20..=0.28).contains(&busy), "{busy}");
    }

    #[test]
    fn every_other_run_is_the_recorded_one() {
        let mut rng = Rng::new(1, 0);
        let names: Vec<&str> = (0..8)
            .map(|index| Disturbance::draw(&mut rng, index).name())
            .collect();
        let others = ["jitter", "bursts", "drift", "stalls"];
        for (pair, other) in names.chunks(2).zip(others) {
            assert_eq!(pair, ["recorded", other]);
        }
    }
}
