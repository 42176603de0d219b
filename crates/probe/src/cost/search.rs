//! The logical block by the search of `greedy-space` IV.A, as the probe runs it with the papers' method.

use super::types::{Block, CostError, Rate, Source};
use crate::paper::rates;
use crate::plan::Plan;
use crate::record::Record;
use crate::{Method, Observer, Parameter, RunConfig, Value, run};
use fathom_block::{Device, DeviceInfo};

const PARAMETER: Parameter = Parameter::LogicalBlock;
/// The size with which the model is tried if the search finds none.
const ASSUMED_BYTES: u64 = 4 << 20;

fn config(seed: u64) -> RunConfig {
    RunConfig {
        seed,
        method: Method::Paper,
        parameters: vec![PARAMETER],
        ..RunConfig::default()
    }
}

/// Returns the most bytes that the search writes.
pub(super) fn bound(seed: u64, info: &DeviceInfo) -> u64 {
    Plan::of(&config(seed), info).announcement().bound_bytes
}

/// A search that came to its end.
pub(super) struct Searched {
    pub(super) block: Block,
    pub(super) bytes_written: u64,
}

/// Searches the logical block. A size of fewer than `least_bytes` cannot be fitted and is replaced.
pub(super) fn search(
    device: &mut dyn Device,
    seed: u64,
    least_bytes: u64,
    stopped: &dyn Fn() -> bool,
) -> Result<Searched, CostError> {
    let record = run::run(device, &config(seed), None, &mut Stopping(stopped))?;
    if !record.meta.complete {
        return Err(CostError::Interrupted);
    }
    let found = match run::answer(&record, PARAMETER).value {
        Some(Value::Bytes(bytes)) if bytes >= least_bytes => Some(bytes),
        _ => None,
    };
    Ok(Searched {
        block: Block {
            bytes: found.unwrap_or(ASSUMED_BYTES.max(least_bytes)),
            source: found.map_or(Source::Assumed, |_| Source::Search),
            clustered_bytes: None,
            search: search_rates(&record),
        },
        bytes_written: record
            .steps
            .iter()
            .map(|step| step.cost.bytes_written)
            .sum(),
    })
}

fn search_rates(record: &Record) -> Vec<Rate> {
    let rate = |pair: crate::paper::rules::RatePair| Rate {
        bytes: pair.x_bytes,
        sequential_bytes_per_s: pair.sequential_bytes_per_s,
        random_bytes_per_s: pair.random_bytes_per_s,
    };
    rates(record, PARAMETER).into_iter().map(rate).collect()
}

/// Passes on the caller's wish to stop.
struct Stopping<'a>(&'a dyn Fn() -> bool);

impl Observer for Stopping<'_> {
    fn interrupted(&self) -> bool {
        (self.0)()
    }
}
