//! The logical block (`irbw` 4.1, `greedy-space` IV.A): the aligned size at which random writes reach the throughput
//! of sequential ones, without a flush after each.
//!
//! Where the clustered block is known the search stays near it. Random and sequential reads of every size are taken
//! beside, for the picture only (`irbw` Figure 6): they part on a disk and not on a drive of flash.

use super::blocks::{LARGEST, Manner, Search};
use super::{prepare, write_unit};
use crate::probes::{Needs, Probe, Space};
use crate::profile::{Estimate, Parameter};
use crate::record::{Record, Series};
use crate::session::{Session, Stop};

const MANNER: Manner = Manner {
    parameter: Parameter::LogicalBlock,
    flushed: false,
};
/// The largest read of the picture, in bytes, and reads of each kind and size.
const READ_MAX: u64 = 8 << 20;
const READS: u32 = 10;

pub(super) struct LogicalBlock;

impl LogicalBlock {
    fn reads(&self, session: &mut Session<'_>, unit: u64) -> Result<(), Stop> {
        let (start, span) = (session.region().start, Space::from(&*session).span());
        let sizes = std::iter::successors(Some(unit), |len| Some(len * 2));
        for len in sizes.take_while(|len| *len <= READ_MAX && len * u64::from(READS) < span) {
            session.step(MANNER.parameter, &format!("reads {len}"), |io| {
                let from = io.rng.below((span - len * u64::from(READS)) / len) * len;
                for rep in 0..READS {
                    let place = io.rng.below(span / len) * len;
                    io.read(start + place, len)?;
                    io.sample(Series::RandomRead, len, rep);
                    io.read(start + from + u64::from(rep) * len, len)?;
                    io.sample(Series::SequentialRead, len, rep);
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

impl Probe for LogicalBlock {
    fn parameter(&self) -> Parameter {
        MANNER.parameter
    }

    fn needs(&self) -> Needs {
        Needs {
            writes: true,
            prepared: true,
        }
    }

    fn bound(&self, space: &Space) -> u64 {
        MANNER.bound(space)
    }

    fn expected(&self, space: &Space) -> u64 {
        // The clustered block tells where to look.
        MANNER.expected(space) * 2 / 3
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        prepare(session, MANNER.parameter)?;
        let unit = write_unit(session);
        let known = session.known(Parameter::ClusteredBlock);
        let block = known.and_then(|e| e.value.as_ref()?.bytes());
        let (from, upto) = block.map_or((unit, LARGEST), |block| (block / 2, 4 * block));
        let search = Search { unit, from, upto };
        MANNER.run(session, search)?;
        self.reads(session, unit)
    }

    fn solve(&self, record: &Record) -> Estimate {
        MANNER.solve(record)
    }
}
