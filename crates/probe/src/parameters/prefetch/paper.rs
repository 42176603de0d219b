//! Whether the drive reads ahead (`parameter-aware-io` 4.3): Procedure 4 with a random location against Procedure 4
//! with a fixed one.

use crate::paper::rules::BELOW_SHARE;
use crate::paper::{means, read_garbage, write_init};
use crate::parameters::Parameter;
use crate::probe::{Answers, Probe};
use crate::profile::{Estimate, Verdict};
use crate::record::Record;
use crate::series::Series;
use crate::session::{Session, Stop};
use crate::space::Space;
use crate::value::Value;

const PARAMETER: Parameter = Parameter::Prefetch;

/// The comparison and its inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prefetch {
    /// `TSR`: where the size stops growing, in bytes.
    total_bytes: u64,
    /// `ISR`: by how much it grows, in bytes.
    increment_bytes: u64,
}

impl Prefetch {
    /// The values that the paper gives for Procedure 4.
    pub(crate) const PRINTED: Self = Self {
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
        let space = session.space();
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

impl Probe for Prefetch {
    fn bound(&self, space: &Space) -> u64 {
        space.bytes().saturating_mul(2)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        self.procedure(session, Series::SCATTERED, false)?;
        self.procedure(session, Series::CONSECUTIVE, true)
    }

    /// "Performance advantage": our mechanical reading, the mean latency over all sizes is much shorter.
    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        let [random, fixed] = [Series::SCATTERED, Series::CONSECUTIVE].map(|series| {
            let points = means(record, PARAMETER, series);
            points.iter().map(|(_, ns)| ns).sum::<f64>() / points.len().max(1) as f64
        });
        if random <= 0.0 {
            return Estimate::without_value(Verdict::Inconclusive, "nothing was read");
        }
        let estimate = if fixed < BELOW_SHARE * random {
            Estimate::identified(
                Value::Word("read-ahead".to_owned()),
                "reads at a fixed location are much shorter than at random ones".to_owned(),
            )
        } else {
            Estimate::without_value(
                Verdict::Absent,
                "reads at a fixed location have no advantage over random ones",
            )
        };
        estimate.figure("fixed_to_random_ratio", fixed / random)
    }
}
