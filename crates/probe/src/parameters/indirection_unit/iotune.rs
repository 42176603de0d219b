//! iotune's physical block: random writes of 512 B to 8 KiB, each for 5 % of the two minutes that a run takes after at
//! least 3 s of warm-up, with up to 128 in flight, in a file that was written before. The block is the first size from
//! which doubling does not raise the rate by more than 5 %. If every doubling does, it is the smallest size with 95 % of
//! the highest rate but the last (`apps/iotune/iotune.cc`, option `--detect-physical-block-size`).
//!
//! Our reading: one file of half of the region. A size shorter than a logical block is written as one, as the tool does. An
//! answer of no more than a logical block is *absent* here: it says that nothing larger has to be kept together.

use crate::elsewhere::{Loop, part, per_second, thinned};
use crate::{Answers, Estimate, Parameter, Probe, Record, Series, Session, Space, Stop, Value};
use fathom_base::Dur;
use fathom_block::Op;

const PARAMETER: Parameter = Parameter::IndirectionUnit;
/// Random writes for a fixed time, by size.
const TIMED: Series = Series::new("iotune");
/// The sizes that are tried.
const SIZES: [u64; 5] = [512, 1024, 2048, 4096, 8192];
/// The time of a size, and that before it which does not count.
const TIME: Dur = Dur::ms(6_000);
const WARM_UP: Dur = Dur::ms(3_000);
const DEPTH: u32 = 128;
/// By how much a rate must rise, and the share of the highest that is as good.
const RISE: f64 = 1.05;
const NEAR: f64 = 0.95;

/// The first pair of sizes with equal rates.
pub(crate) struct FirstPair;

impl Probe for FirstPair {
    /// The file, and for each size no more than the region.
    fn bound(&self, space: &Space) -> u64 {
        space.bytes().saturating_mul(SIZES.len() as u64 + 1)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let space = session.space();
        let longest = space.round_up(8192);
        let file = part(&space, space.bytes() / 2, longest);
        let area = file.clone();
        session.step(PARAMETER, "file", |io| io.fill_sequential(file))?;
        for size in SIZES {
            let mut writes = Loop {
                op: Op::Write,
                len: space.round_up(size),
                depth: DEPTH,
                area: area.clone(),
                next: None,
                bit: None,
                time: thinned(&space, WARM_UP),
                bytes_max: space.bytes() / 3,
            };
            session.step(PARAMETER, &format!("iotune {size}"), |io| {
                writes.run(io)?;
                writes.time = thinned(&space, TIME);
                writes.sample(io, TIMED, size, 0)?;
                io.flush().map(|_| ())
            })?;
        }
        Ok(())
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        let block = Space::of(record).block_bytes;
        let rates: Vec<(u64, f64)> = record
            .series(PARAMETER, TIMED)
            .map(|s| (s.x, per_second(s.bytes, s.ns) / s.x.max(block) as f64))
            .collect();
        let found = first_pair(&rates).unwrap_or_default();
        let answer = match found > block {
            true => Estimate::identified(
                Value::Bytes(found),
                format!("longer writes than {found} bytes have no higher rate by 5 %"),
            ),
            false => Estimate::absent(format!(
                "the first two sizes with equal rates begin with {found} bytes, no more than a logical block"
            )),
        };
        rates
            .iter()
            .fold(answer, |answer, (size, rate)| {
                answer.figure(&format!("random_write_{size}_iops"), *rate)
            })
            .figure("physical_block_bytes", found as f64)
    }
}

/// Returns the first size from which the next does not raise the rate by more than 5 %. `rates` are sizes and requests per
/// second, ascending.
fn first_pair(rates: &[(u64, f64)]) -> Option<u64> {
    let pair = rates.windows(2).find(|pair| pair[1].1 <= RISE * pair[0].1);
    if let Some(pair) = pair {
        return Some(pair[0].0);
    }
    let (_, before_last) = rates.split_last()?;
    let highest = before_last
        .iter()
        .map(|(_, rate)| *rate)
        .fold(0.0, f64::max);
    let mut near = rates.iter().filter(|(_, rate)| *rate >= NEAR * highest);
    near.next().map(|(size, _)| *size)
}

#[cfg(test)]
mod tests {
    use super::{SIZES, first_pair};

    fn pair(rates: [f64; 5]) -> Option<u64> {
        let rates: Vec<(u64, f64)> = SIZES.into_iter().zip(rates).collect();
        first_pair(&rates)
    }

    #[test]
    fn the_first_pair_with_equal_rates_is_the_answer() {
        // Every write below the unit costs the same: the first pair is equal, whatever the unit.
        assert_eq!(pair([100.0, 100.0, 100.0, 300.0, 300.0]), Some(512));
        // The rate grows up to the unit.
        assert_eq!(pair([100.0, 120.0, 150.0, 300.0, 250.0]), Some(4096));
        // A rise of 5 % is none.
        assert_eq!(pair([100.0, 106.0, 111.3, 117.0, 130.0]), Some(1024));
        // It grows to the end: the last but one.
        assert_eq!(pair([100.0, 120.0, 150.0, 180.0, 250.0]), Some(4096));
        assert_eq!(first_pair(&[]), None);
    }
}
