//! The cost model of cgroups: `io.cost.model` and `io.cost.qos` (Linux, Documentation/admin-guide/cgroup-v2.rst).

use super::family::{Family, Rule};
use super::loads::{Load, parameters};
use crate::tune::advice::{Decided, Decision};
use crate::tune::case::Case;

pub(super) const FAMILY: Family = Family {
    name: "iocost",
    rules: &[
        Rule {
            setting: "io.cost.model",
            decide: model,
        },
        Rule {
            setting: "io.cost.qos",
            decide: qos,
        },
    ],
};

fn model(case: &Case<'_>) -> Decision {
    let rates = Load::rates(&Load::ALL, case)?;
    let parameter = rates.first().map_or("rate_limit", |rate| rate.parameter);
    let coefficients = Load::ALL.iter().zip(&rates);
    let coefficients: Vec<String> = coefficients
        .map(|(load, rate)| format!("{}={}", load.coefficient(), rate.per_second))
        .collect();
    let reason = format!(
        "an I/O is charged for its share of the rates that last (from {}), and not of a burst",
        parameters(&rates)
    );
    Ok(Decided::new(coefficients.join(" "), parameter, reason))
}

/// The issue rate may move in this range of the model, in percent: the measured rates are the rates that last.
const RANGE: &str = "min=50.00 max=100.00";

/// A target without a model would rest on the kernel's guess.
fn qos(case: &Case<'_>) -> Decision {
    let reads = case.read_target()?;
    model(case)?;
    let target = ((reads.ns / 1e3).ceil() as u64).max(1);
    let reason = format!(
        "{}; slower ones mean that the drive is saturated",
        reads.said
    );
    let value = format!("rpct=99.00 rlat={target} wpct=0.00 wlat={target} {RANGE}");
    Ok(Decided::new(value, reads.parameter, reason))
}
