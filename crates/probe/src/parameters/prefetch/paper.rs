//! Tests whether the drive reads ahead (`parameter-aware-io` 4.3): compares Procedure 4 with a random location and with a
//! fixed one.

use crate::paper::rules::BELOW_SHARE;
use crate::paper::{Reads, TwoReads, means};
use crate::{Estimate, Parameter, Record, Series, Value};

const PARAMETER: Parameter = Parameter::Prefetch;

/// Procedure 4, twice.
pub(crate) const PREFETCH: TwoReads = TwoReads {
    parameter: PARAMETER,
    reads: [
        Reads {
            name: "random",
            series: Series::SCATTERED,
            again: false,
            fixed: false,
        },
        Reads {
            name: "fixed",
            series: Series::CONSECUTIVE,
            again: false,
            fixed: true,
        },
    ],
    solve,
};

/// "Performance advantage": in our mechanical reading, the mean latency over all sizes is much shorter.
fn solve(record: &Record) -> Estimate {
    let [random, fixed] = [Series::SCATTERED, Series::CONSECUTIVE].map(|series| {
        let points = means(record, PARAMETER, series);
        points.iter().map(|(_, ns)| ns).sum::<f64>() / points.len().max(1) as f64
    });
    if random <= 0.0 {
        return Estimate::inconclusive("nothing was read");
    }
    let estimate = if fixed < BELOW_SHARE * random {
        Estimate::identified(
            Value::Word("read-ahead".to_owned()),
            "reads at a fixed location are much shorter than at random ones".to_owned(),
        )
    } else {
        Estimate::absent("reads at a fixed location have no advantage over random ones")
    };
    estimate.figure("fixed_to_random_ratio", fixed / random)
}
