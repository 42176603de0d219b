//! Prefetch (`parameter-aware-io` 4.3): whether reads at consecutive places are faster than reads at random ones.
//!
//! Reads are whole clustered pages, aligned, so that no read is served from the rest of a page that the one before
//! brought.

use super::{at, identified, prepare, size, sizes, without, write_unit};
use crate::probes::{Needs, Probe, Space};
use crate::profile::{Estimate, Parameter, Value, Verdict};
use crate::record::{Record, Series};
use crate::session::{Session, Stop};
use crate::solve::separate::{Decision, Separation, separate};

const PARAMETER: Parameter = Parameter::Prefetch;
const ROUNDS: u32 = 4;
/// Reads in a row, and those at its beginning that a drive may need to see the stream.
const ROW: u32 = 24;
const UNSEEN: u32 = 8;
/// A difference below this share is none.
const MARGIN: f64 = 0.05;

pub(super) struct Prefetch;

impl Prefetch {
    fn measure(&self, session: &mut Session<'_>, len: u64) -> Result<(), Stop> {
        let (start, span) = (session.region().start, Space::from(&*session).span());
        let row = u64::from(ROW) * len;
        session.step(PARAMETER, &format!("rows {len}"), |io| {
            for round in 0..ROUNDS {
                for i in 0..ROW - UNSEEN {
                    let place = io.rng.below(span / len);
                    io.read(start + place * len, len)?;
                    io.sample(Series::Scattered, len, round * ROW + i);
                }
                let from = io.rng.below(((span - row) / len).max(1)) * len;
                for i in 0..ROW {
                    io.read(start + from + u64::from(i) * len, len)?;
                    if i >= UNSEEN {
                        io.sample(Series::Consecutive, len, round * ROW + i);
                    }
                }
            }
            Ok(())
        })?;
        Ok(())
    }
}

fn compared(record: &Record) -> Vec<(u64, Separation)> {
    let sizes = sizes(record, PARAMETER, Series::Consecutive).into_iter();
    sizes
        .filter_map(|len| {
            let arms =
                [Series::Consecutive, Series::Scattered].map(|s| at(record, PARAMETER, s, len));
            Some((len, separate(&arms[0], &arms[1], 0.99, MARGIN)?))
        })
        .collect()
}

impl Probe for Prefetch {
    fn parameter(&self) -> Parameter {
        PARAMETER
    }

    fn needs(&self) -> Needs {
        Needs {
            writes: false,
            prepared: true,
        }
    }

    fn bound(&self, _: &Space) -> u64 {
        0
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        prepare(session, PARAMETER)?;
        let unit = write_unit(session);
        let most = Space::from(&*session).span() / u64::from(ROW) / 4;
        for len in [unit, 2 * unit, 4 * unit]
            .into_iter()
            .filter(|len| *len <= most)
        {
            self.measure(session, len)?;
        }
        Ok(())
    }

    fn solve(&self, record: &Record) -> Estimate {
        let compared = compared(record);
        let clear = |s: &Separation| s.decision == Decision::Less && s.interval.high < 1.0 - MARGIN;
        if let Some((len, test)) = compared.iter().find(|(_, s)| clear(s)) {
            let reason = format!(
                "reads of {len} take {:.2} of the time at consecutive places",
                test.ratio,
                len = size(*len)
            );
            return identified(PARAMETER, Value::Choice("read-ahead".into()), reason)
                .figure("ratio", test.ratio);
        }
        if compared.is_empty() {
            return without(
                PARAMETER,
                Verdict::Inconclusive,
                "the region is too small for rows of reads",
            );
        }
        let settled = compared
            .iter()
            .all(|(_, s)| s.interval.low > 1.0 - 2.0 * MARGIN);
        if settled {
            return without(
                PARAMETER,
                Verdict::Absent,
                "reads at consecutive places are no faster than at random ones",
            );
        }
        without(
            PARAMETER,
            Verdict::Inconclusive,
            "the noise hides whether consecutive reads are faster",
        )
    }
}
