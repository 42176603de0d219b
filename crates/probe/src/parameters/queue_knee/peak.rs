//! The rule of drive tests (AnandTech 2021): random reads of 4 KiB at depth 1, 2, 4 and so on, each for a minute; the knee
//! is the lowest depth with 95 % of the highest rate.
//!
//! Our reading: depths up to 512 or the drive's own. The region is written in order before. A depth also ends after a 32nd
//! of the region is read.

use super::take::CLOSED;
use crate::elsewhere::{Loop, per_second, thinned};
use crate::{Answers, Estimate, Parameter, Probe, Record, Session, Space, Stop, Value};
use fathom_base::Dur;
use fathom_block::Op;

const PARAMETER: Parameter = Parameter::QueueKnee;
const READ: u64 = 4096;
const DEPTH_MAX: u32 = 512;
const TIME: Dur = Dur::ms(60_000);
/// The part of the region that is read at each depth.
const PART: u64 = 32;
const SHARE: f64 = 0.95;

/// The lowest depth with 95 % of the peak.
pub(crate) struct Knee95;

impl Probe for Knee95 {
    fn bound(&self, space: &Space) -> u64 {
        space.span()
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let space = session.space();
        let (len, area) = (
            space.round_up(READ),
            space.region.start..space.region.start + space.span(),
        );
        crate::robust::prepare::prepare(session, PARAMETER)?;
        let most = session.info().queue_depth.clamp(1, DEPTH_MAX);
        let depths = std::iter::successors(Some(1u32), |depth| depth.checked_mul(2));
        for depth in depths.take_while(|depth| *depth <= most) {
            session.step(PARAMETER, &format!("depth {depth}"), |io| {
                let mut reads = Loop {
                    op: Op::Read,
                    len,
                    depth,
                    area: area.clone(),
                    next: None,
                    bit: None,
                    time: thinned(&space, TIME),
                    bytes_max: space.bytes() / PART,
                };
                reads.sample(io, CLOSED, u64::from(depth), 0)
            })?;
        }
        Ok(())
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        let rates: Vec<(u64, f64)> = record
            .series(PARAMETER, CLOSED)
            .map(|s| (s.x, per_second(s.bytes, s.ns)))
            .collect();
        match knee(&rates) {
            Some((depth, rate)) => Estimate::identified(
                Value::Count(depth),
                format!("depth {depth} is the lowest with 95 % of the highest rate"),
            )
            .figure("iops", rate / READ as f64),
            None => Estimate::inconclusive("nothing was read"),
        }
    }
}

/// Returns the lowest depth with 95 % of the highest rate, and its rate.
fn knee(rates: &[(u64, f64)]) -> Option<(u64, f64)> {
    let peak = rates.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    rates
        .iter()
        .find(|(_, rate)| *rate >= SHARE * peak)
        .copied()
}

#[cfg(test)]
mod tests {
    use super::knee;

    #[test]
    fn the_lowest_depth_with_95_percent_is_the_knee() {
        let rates = [(1, 10.0), (2, 20.0), (4, 38.0), (8, 39.9), (16, 40.0)];
        assert_eq!(knee(&rates), Some((4, 38.0)));
        // Noise at one depth beyond the knee moves it there.
        let noisy = [(1, 10.0), (2, 20.0), (4, 38.0), (8, 39.9), (16, 43.0)];
        assert_eq!(knee(&noisy), Some((16, 43.0)));
        assert_eq!(knee(&[]), None);
    }
}
