//! Whether the drive reads ahead (`parameter-aware-io` 4.3): Procedure 4 with a random location against Procedure 4
//! with a fixed one.

use super::{found, means, nothing, read_garbage, write_init};
use crate::probes::paper::rules::BELOW_SHARE;
use crate::probes::{Needs, Probe, Space};
use crate::profile::{Estimate, Parameter, Value, Verdict};
use crate::record::{Record, Series};
use crate::session::{Session, Stop};

const PARAMETER: Parameter = Parameter::Prefetch;

/// The comparison and its inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefetch {
    /// `TSR`: where the size stops growing, in bytes.
    pub total_bytes: u64,
    /// `ISR`: by how much it grows, in bytes.
    pub increment_bytes: u64,
}

impl Prefetch {
    /// The values that the paper gives for Procedure 4.
    pub const PRINTED: Self = Self {
        total_bytes: 1_024 << 10,
        increment_bytes: 1 << 10,
    };

    /// Procedure 4; `fixed`: `R` on line 8 is set statically.
    fn procedure(
        &self,
        session: &mut Session<'_>,
        series: Series,
        fixed: bool,
    ) -> Result<(), Stop> {
        let space = Space::from(&*session);
        let places = space.read_places();
        let name = if fixed { "fixed" } else { "random" };
        write_init(session, PARAMETER, &format!("{name} init"))?;
        for size in space.sizes(self.total_bytes, self.increment_bytes, places.slot_bytes) {
            session.step(PARAMETER, &format!("{name} {size}"), |io| {
                read_garbage(io, &places)?;
                let slot = io.rng.below(if fixed { 1 } else { places.target_slots });
                io.read(places.target_start + slot * places.slot_bytes, size)?;
                io.sample(series, size, 0);
                Ok(())
            })?;
        }
        Ok(())
    }
}

impl Default for Prefetch {
    fn default() -> Self {
        Self::PRINTED
    }
}

impl Probe for Prefetch {
    fn parameter(&self) -> Parameter {
        PARAMETER
    }

    fn needs(&self) -> Needs {
        Needs {
            writes: false,
            prepared: false,
        }
    }

    fn bound(&self, space: &Space) -> u64 {
        space.bytes().saturating_mul(2)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        self.procedure(session, Series::Scattered, false)?;
        self.procedure(session, Series::Consecutive, true)
    }

    /// "Performance advantage": our mechanical reading, the mean latency over all sizes is much shorter.
    fn solve(&self, record: &Record) -> Estimate {
        let [random, fixed] = [Series::Scattered, Series::Consecutive].map(|series| {
            let points = means(record, PARAMETER, series);
            points.iter().map(|(_, ns)| ns).sum::<f64>() / points.len().max(1) as f64
        });
        if random <= 0.0 {
            return nothing(PARAMETER, Verdict::Inconclusive, "nothing was read");
        }
        let estimate = if fixed < BELOW_SHARE * random {
            found(
                PARAMETER,
                Value::Choice("read-ahead".to_owned()),
                "reads at a fixed location are much shorter than at random ones".to_owned(),
            )
        } else {
            nothing(
                PARAMETER,
                Verdict::Absent,
                "reads at a fixed location have no advantage over random ones",
            )
        };
        estimate.figure("fixed_to_random_ratio", fixed / random)
    }
}
