//! The logical block (`irbw` 4.1, `greedy-space` IV.A): the aligned size at which writes in random order cost the same as in
//! sequential order, without a flush after each.
//!
//! The papers find it where two curves over the size meet. They meet at the clustered block or nowhere, so only this size is
//! tried, aligned and shifted by half. Random and sequential reads of every size are also timed, for the figure only (`irbw`
//! Figure 6): they differ on a disk but not on a flash drive.

use super::alignment::Alignment;
use crate::parameters::clustered_block::robust as ends;
use crate::robust::prepare::prepare;
use crate::robust::size::size;
use crate::robust::units::write_unit;
use crate::{Answers, Estimate, Parameter, Probe, Record, Series, Session, Space, Stop, Value};

const PARAMETER: Parameter = Parameter::LogicalBlock;
/// The largest read of the figure, in bytes, and the number of reads of each kind and size.
const READ_MAX: u64 = 8 << 20;
const READS: u32 = 10;

pub(crate) struct LogicalBlock;

fn reads(session: &mut Session<'_>, unit: u64) -> Result<(), Stop> {
    let (start, span) = (session.region().start, session.space().span());
    let sizes = std::iter::successors(Some(unit), |len| Some(len * 2));
    for len in sizes.take_while(|len| *len <= READ_MAX && len * u64::from(READS) < span) {
        session.step(PARAMETER, &format!("reads {len}"), |io| {
            let from = io.rng.below((span - len * u64::from(READS)) / len) * len;
            for rep in 0..READS {
                let place = io.rng.below(span / len) * len;
                io.read(start + place, len)?;
                io.sample(Series::RANDOM_READ, len, rep);
                io.read(start + from + u64::from(rep) * len, len)?;
                io.sample(Series::SEQUENTIAL_READ, len, rep);
            }
            Ok(())
        })?;
    }
    Ok(())
}

impl Probe for LogicalBlock {
    fn after(&self) -> Option<Parameter> {
        Some(Parameter::ClusteredBlock)
    }

    fn bound(&self, space: &Space) -> u64 {
        Alignment::bound(space)
    }

    fn expected(&self, space: &Space) -> u64 {
        Alignment::expected(space)
    }

    fn fruitless(&self, _: &Space) -> u64 {
        // Without a clustered block there is no size to try.
        0
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        prepare(session, PARAMETER)?;
        let known = session.known(Parameter::ClusteredBlock);
        let block = known.and_then(Estimate::bytes);
        if let Some(block) = block {
            Alignment { size: block }.run(session)?;
        }
        let unit = write_unit(session);
        reads(session, unit)
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        let Some(block) = ends::block(record) else {
            return Estimate::not_identifiable("it needs the clustered block, which was not found");
        };
        let bytes = size(block.bytes);
        let alignment = Alignment { size: block.bytes };
        let Some((ratio, matters)) = alignment.matters(record) else {
            return Estimate::inconclusive(format!(
                "the region is too small for writes of {bytes}"
            ));
        };
        let estimate = if matters {
            let reason = format!(
                "random writes of {bytes} take {ratio:.2} times as long shifted by half as aligned"
            );
            let (low, high) = block.between;
            Estimate::identified(Value::Bytes(block.bytes), reason)
                .between(Value::Bytes(low), Value::Bytes(high))
        } else {
            Estimate::not_identifiable(format!(
                "random writes of {bytes}, the clustered block, take {ratio:.2} times as long shifted by half: their order does not matter"
            ))
        };
        estimate.figure("shifted_ratio", ratio)
    }
}
