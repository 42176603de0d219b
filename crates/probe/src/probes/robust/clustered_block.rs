//! The clustered block, the unit of erasing (`parameter-aware-io` 4.1.2): the size at whose multiples reads or flushed
//! writes take another time than elsewhere.
//!
//! The paper looks for the size at which random writes cost what sequential ones cost (4.2.4), which takes a write of every
//! size that may be meant. The ends of blocks show all sizes at a time, and to the byte.

use super::ends;
use super::prepare;
use crate::probes::{Needs, Probe, Space};
use crate::profile::{Estimate, Parameter};
use crate::record::Record;
use crate::session::{Session, Stop};

pub(super) struct ClusteredBlock;

impl Probe for ClusteredBlock {
    fn parameter(&self) -> Parameter {
        ends::PARAMETER
    }

    fn needs(&self) -> Needs {
        Needs {
            writes: true,
            prepared: true,
        }
    }

    fn bound(&self, space: &Space) -> u64 {
        ends::bound(space)
    }

    fn expected(&self, space: &Space) -> u64 {
        // Blocks that reads show are found without a write, and those that short writes show with a tenth.
        self.bound(space) / 10
    }

    fn fruitless(&self, space: &Space) -> u64 {
        ends::fruitless(space)
    }

    fn least(&self, space: &Space) -> u64 {
        self.bound(space) / 20
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        prepare(session, ends::PARAMETER)?;
        ends::run(session)
    }

    fn solve(&self, record: &Record) -> Estimate {
        ends::solve(record)
    }
}
