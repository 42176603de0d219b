//! The clustered block (`parameter-aware-io` 4.1.2, 4.2.4): the size at which flushed random writes cost what
//! flushed sequential ones cost.

use super::blocks::{LARGEST, Manner, Search};
use super::{prepare, write_unit};
use crate::probes::{Needs, Probe, Space};
use crate::profile::{Estimate, Parameter};
use crate::record::Record;
use crate::session::{Session, Stop};

const MANNER: Manner = Manner {
    parameter: Parameter::ClusteredBlock,
    flushed: true,
};

pub(super) struct ClusteredBlock;

impl Probe for ClusteredBlock {
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
        MANNER.expected(space)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        prepare(session, MANNER.parameter)?;
        let unit = write_unit(session);
        let search = Search {
            unit,
            from: unit,
            upto: LARGEST,
        };
        MANNER.run(session, search)
    }

    fn solve(&self, record: &Record) -> Estimate {
        MANNER.solve(record)
    }
}
