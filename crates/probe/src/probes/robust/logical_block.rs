//! The logical block (`irbw` 4.1, `greedy-space` IV.A): the aligned size at which random writes reach the throughput
//! of sequential ones, without a flush after each.
//!
//! Where the clustered block is known the search begins two octaves below it.

use super::blocks::{Manner, Search, log_blocks};
use super::{prepare, write_unit};
use crate::probes::{Needs, Probe, Space};
use crate::profile::{Estimate, Parameter};
use crate::record::Record;
use crate::session::{Session, Stop};

const MANNER: Manner = Manner {
    parameter: Parameter::LogicalBlock,
    flushed: false,
};
/// Written in order first where the clustered block is not known, in bytes.
const TIDY: u64 = 256 << 20;

pub(super) struct LogicalBlock;

impl Probe for LogicalBlock {
    fn parameter(&self) -> Parameter {
        MANNER.parameter
    }

    fn needs(&self) -> Needs {
        Needs { writes: true }
    }

    fn bound(&self, space: &Space) -> u64 {
        MANNER.bound(space) + 2 * space.span()
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        prepare(session, MANNER.parameter)?;
        let unit = write_unit(session);
        let known = session.known(Parameter::ClusteredBlock);
        let block = known.and_then(|e| e.value.as_ref()?.bytes());
        let seen = log_blocks(session.record(), Parameter::ClusteredBlock);
        // The log blocks hold what the probe before left; written in order they hold nothing.
        let tidy = block.zip(seen).map_or(TIDY, |(block, n)| block * (n + 4));
        let (start, span) = (session.region().start, Space::from(&*session).span());
        session.step(MANNER.parameter, "tidy", |io| {
            io.fill_sequential(start..start + tidy.min(span))
        })?;
        let from = block.map_or(unit, |block| block / 4);
        MANNER.run(
            session,
            Search {
                unit,
                from,
                log_blocks: seen,
            },
        )
    }

    fn solve(&self, record: &Record) -> Estimate {
        MANNER.solve(record)
    }
}
