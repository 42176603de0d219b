//! SNIA's steady state (SSS PTS 2.0.2): rounds of a minute of sequential writes of 1 MiB to a purged drive, until in five
//! rounds in a row the largest and the smallest speed differ by at most 20 % of their mean, and the line through them
//! rises or falls by at most 10 % of it; at most 25 rounds.
//!
//! Our reading of what it says about a fast cache: if the rounds before the five were faster than their mean by more than
//! 20 %, these rounds were the cache, and its size is what they wrote; otherwise the drive was steady from the beginning and
//! has none. The standard itself does not ask. Its conditioning (twice the capacity in sequence) is left out, because it
//! fills a cache before the first round. A round also ends when an eighth of the region is written: in a minute a drive of
//! a terabyte takes about as much. The reads of its throughput test are left out.

use super::fill::purge;
use crate::elsewhere::{per_second, thinned};
use crate::record::Timed;
use crate::{Answers, Estimate, Parameter, Probe, Record, Series, Session, Space, Stop, Value};
use fathom_base::Dur;

const PARAMETER: Parameter = Parameter::FastCache;
/// Rounds of writes in sequence.
const ROUND: Series = Series::new("round");
const TIME: Dur = Dur::ms(60_000);
const REQUEST: u64 = 1 << 20;
const ROUNDS_MAX: u32 = 25;
/// A round ends after this part of the region.
const PART: u64 = 8;
/// The rounds that must agree, and how far they and the line through them may go, as shares of the mean.
const WINDOW: usize = 5;
const RANGE_MAX: f64 = 0.2;
const SLOPE_MAX: f64 = 0.1;

/// The steady state, and what came before it.
pub(crate) struct SteadyState;

impl Probe for SteadyState {
    fn bound(&self, space: &Space) -> u64 {
        let round = (space.bytes() / PART).saturating_add(pass(space));
        round.saturating_mul(u64::from(ROUNDS_MAX))
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let space = session.space();
        let (len, time) = (pass(&space), thinned(&space, TIME));
        session.step(PARAMETER, "purge", purge)?;
        let mut at = 0;
        for round in 0..ROUNDS_MAX {
            session.step(PARAMETER, &format!("round {round}"), |io| {
                let (mark, from) = (io.mark(space.region.start + at), io.now());
                let mut written = 0;
                while written < space.bytes() / PART && io.now().since(from) < time {
                    if at + len > space.bytes() {
                        at = 0;
                    }
                    io.write(space.region.start + at, len)?;
                    (at, written) = (at + len, written + len);
                }
                io.sample_since(&mark, Timed::Write, ROUND, u64::from(round), round);
                Ok(())
            })?;
            if steady(&rounds(session.record())).is_some() {
                break;
            }
        }
        Ok(())
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        let rounds = rounds(record);
        let Some(first) = steady(&rounds) else {
            return Estimate::inconclusive("25 rounds were not steady")
                .figure("rounds", rounds.len() as f64);
        };
        let mean = mean(&rounds[first..]);
        let faster = |round: &&(u64, f64)| round.1 > (1.0 + RANGE_MAX) * mean;
        let before: Vec<_> = rounds[..first].iter().take_while(faster).collect();
        let bytes: u64 = before.iter().map(|round| round.0).sum();
        let answer = match bytes {
            0 => Estimate::absent("the first rounds were already as slow as the steady state"),
            _ => Estimate::identified(
                Value::Bytes(bytes),
                format!(
                    "the first {bytes} bytes were written in rounds that were faster by 20 % than the steady state"
                ),
            ),
        };
        answer
            .figure("rounds", rounds.len() as f64)
            .figure("steady_bytes_per_s", mean)
    }
}

/// Returns the bytes that are written in one call: some requests of 1 MiB, so that the queue is full.
fn pass(space: &Space) -> u64 {
    let len = (32 * REQUEST).min(space.bytes() / PART / 8);
    (len / space.block_bytes * space.block_bytes).max(space.block_bytes)
}

/// Returns the bytes and the speed of each round.
fn rounds(record: &Record) -> Vec<(u64, f64)> {
    let rounds = record.series(PARAMETER, ROUND);
    rounds
        .map(|s| (s.bytes, per_second(s.bytes, s.ns)))
        .collect()
}

fn mean(rounds: &[(u64, f64)]) -> f64 {
    rounds.iter().map(|(_, speed)| speed).sum::<f64>() / rounds.len().max(1) as f64
}

/// Returns the first round of the first five that are steady. `rounds` are bytes and speeds.
fn steady(rounds: &[(u64, f64)]) -> Option<usize> {
    rounds.windows(WINDOW).position(|five| {
        let mean = mean(five);
        let speeds = || five.iter().map(|(_, speed)| *speed);
        let (low, high) = (
            speeds().fold(f64::MAX, f64::min),
            speeds().fold(0.0, f64::max),
        );
        // The line by least squares over -2, -1, 0, 1, 2, and its rise over the window.
        let slope = (0..)
            .zip(speeds())
            .map(|(i, speed)| f64::from(i - 2) * speed);
        let rise = slope.sum::<f64>() / 10.0 * (WINDOW - 1) as f64;
        high - low <= RANGE_MAX * mean && rise.abs() <= SLOPE_MAX * mean
    })
}

#[cfg(test)]
mod tests {
    use super::steady;

    fn of(speeds: &[f64]) -> Option<usize> {
        let rounds: Vec<(u64, f64)> = speeds.iter().map(|speed| (1, *speed)).collect();
        steady(&rounds)
    }

    #[test]
    fn five_rounds_within_20_percent_and_without_slope_are_steady() {
        assert_eq!(of(&[100.0; 4]), None);
        assert_eq!(of(&[100.0; 5]), Some(0));
        // A range of 20 % of the mean and of a little more.
        assert_eq!(of(&[90.0, 110.0, 100.0, 110.0, 90.0]), Some(0));
        assert_eq!(of(&[89.9, 110.0, 100.0, 110.0, 90.0]), None);
        // A line that rises by 10 %, and one by a little more.
        assert_eq!(of(&[95.0, 97.5, 100.0, 102.5, 105.0]), Some(0));
        assert_eq!(of(&[94.9, 97.5, 100.0, 102.5, 105.1]), None);
        // Rounds that are shorter than the cache are steady before the cliff.
        assert_eq!(of(&[300.0, 300.0, 300.0, 300.0, 300.0, 90.0]), Some(0));
        assert_eq!(of(&[300.0, 200.0, 90.0, 90.0, 90.0, 90.0, 90.0]), Some(2));
    }
}
