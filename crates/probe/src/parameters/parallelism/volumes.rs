//! SSDcheck's volumes (Kim et al., MICRO 2018; `feature_extraction/allocation_region` of its scripts): random writes of 4
//! KiB at depth 64 with one bit of the address fixed, each bit from that of 4 KiB on, to 0 and to 1. A bit that tells
//! volumes apart leaves half of them idle, so the rate falls. The user reads the bits off a plot.
//!
//! Our reading: runs of 5 s, one of each; a bit tells volumes apart if at both values the rate is below three quarters of
//! the median over all bits. There are two volumes for each such bit, times each other. Before, the region is written in
//! order. A run also ends after a 64th of the region.

use crate::elsewhere::{Loop, per_second, thinned};
use crate::{Answers, Estimate, Parameter, Probe, Record, Series, Session, Space, Stop, Value};
use fathom_base::Dur;
use fathom_block::Op;
use fathom_stats::location::median;

const PARAMETER: Parameter = Parameter::Parallelism;
/// Writes with a fixed bit; `x` is the value of the bit in the address, in bytes.
const FIXED: [Series; 2] = [Series::new("bit_is_0"), Series::new("bit_is_1")];
const WRITE: u64 = 4096;
const DEPTH: u32 = 64;
const TIME: Dur = Dur::ms(5_000);
const PART: u64 = 64;
/// The share of the usual rate below which a bit tells volumes apart.
const SHARE: f64 = 0.75;

/// Volumes by the bits of the address.
pub(crate) struct Volumes;

/// Returns the bits that are fixed, and the power of two of bytes that they select from.
fn bits(space: &Space) -> std::ops::Range<u32> {
    let all = space.bytes().max(1).ilog2();
    space.round_up(WRITE).ilog2()..all
}

impl Probe for Volumes {
    fn bound(&self, space: &Space) -> u64 {
        let run = (space.bytes() / PART).max(space.round_up(WRITE));
        let runs = 2 * bits(space).len() as u64;
        space.bytes().saturating_add(runs.saturating_mul(run))
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let space = session.space();
        let (len, start) = (space.round_up(WRITE), space.region.start);
        session.step(PARAMETER, "fill", |io| {
            io.fill_sequential(space.region.clone())
        })?;
        let all = bits(&space);
        for bit in all.clone() {
            for (value, series) in FIXED.into_iter().enumerate() {
                session.step(PARAMETER, &format!("bit {bit} is {value}"), |io| {
                    let mut writes = Loop {
                        op: Op::Write,
                        len,
                        depth: DEPTH,
                        area: start..start + (1 << all.end),
                        next: None,
                        bit: Some((bit, value == 1)),
                        time: thinned(&space, TIME),
                        bytes_max: space.bytes() / PART,
                    };
                    writes.sample(io, series, 1 << bit, 0)
                })?;
            }
        }
        Ok(())
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        let of = |series| {
            let rates = record.series(PARAMETER, series);
            rates.map(|s| per_second(s.bytes, s.ns)).collect::<Vec<_>>()
        };
        let [zero, one] = FIXED.map(of);
        let found = telling(&zero, &one);
        let answer = match found {
            0 => Estimate::absent(
                "no bit of the address changes the rate of random writes: one volume",
            ),
            _ => Estimate::identified(
                Value::Count(1 << found.min(62)),
                format!(
                    "{found} bits of the address, fixed one at a time, make random writes slower"
                ),
            ),
        };
        answer.figure("bits_tried", zero.len() as f64)
    }
}

/// Returns how many bits tell volumes apart. `zero` and `one` are the rates with the bit at 0 and at 1, by bit.
fn telling(zero: &[f64], one: &[f64]) -> usize {
    let all: Vec<f64> = zero.iter().chain(one).copied().collect();
    let usual = median(&all).unwrap_or_default();
    let slow = |rate: f64| rate < SHARE * usual;
    zero.iter()
        .zip(one)
        .filter(|(zero, one)| slow(**zero) && slow(**one))
        .count()
}

#[cfg(test)]
mod tests {
    use super::telling;

    #[test]
    fn a_bit_tells_volumes_apart_if_both_values_halve_the_rate() {
        assert_eq!(
            telling(
                &[100.0, 50.0, 98.0, 101.0, 52.0, 99.0, 100.0],
                &[99.0, 51.0, 97.0, 100.0, 50.0, 60.0, 98.0]
            ),
            2
        );
        assert_eq!(telling(&[100.0; 9], &[100.0; 9]), 0);
        // If most bits tell, the usual rate is the halved one, and none is found.
        assert_eq!(
            telling(&[50.0, 50.0, 50.0, 100.0], &[50.0, 50.0, 50.0, 100.0]),
            0
        );
        assert_eq!(telling(&[], &[]), 0);
    }
}
