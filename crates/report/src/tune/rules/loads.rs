//! The rates of a drive under the six loads of a linear cost model: bytes per second, sequential and random operations of
//! 4 KiB per second, for reads and for writes.
//!
//! A rate is taken from the first parameter that has it. A limit of the provider binds all loads, so it comes first; the
//! rate of a fast cache is no rate that lasts, so the one behind it is taken.

use crate::tune::advice::Undecided;
use crate::tune::case::Case;
use std::collections::BTreeSet;

/// A load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    ReadBytes,
    ReadSequential,
    ReadRandom,
    WriteBytes,
    WriteSequential,
    WriteRandom,
}

/// A rate per second, and what it comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rate {
    pub(super) per_second: u64,
    pub(super) parameter: &'static str,
}

/// A figure of a parameter; an empty one stands for the value itself.
struct Source(&'static str, &'static str);

/// A provider's limits, of requests and of bytes.
const LIMIT: &str = "rate_limit";
const BANDWIDTH: &str = "bandwidth_limit";

impl Load {
    pub(super) const ALL: [Load; 6] = [
        Load::ReadBytes,
        Load::ReadSequential,
        Load::ReadRandom,
        Load::WriteBytes,
        Load::WriteSequential,
        Load::WriteRandom,
    ];

    /// The name of the coefficient in `io.cost.model` (Linux, Documentation/admin-guide/cgroup-v2.rst).
    pub(super) const fn coefficient(self) -> &'static str {
        match self {
            Load::ReadBytes => "rbps",
            Load::ReadSequential => "rseqiops",
            Load::ReadRandom => "rrandiops",
            Load::WriteBytes => "wbps",
            Load::WriteSequential => "wseqiops",
            Load::WriteRandom => "wrandiops",
        }
    }

    fn sources(self) -> &'static [Source] {
        match self {
            Load::ReadBytes => &[Source(BANDWIDTH, "")],
            Load::ReadSequential => &[Source(LIMIT, "")],
            Load::ReadRandom => &[Source(LIMIT, ""), Source("queue_knee", "iops")],
            Load::WriteBytes => &[
                Source(BANDWIDTH, ""),
                Source("fast_cache", "slow_bytes_per_s"),
            ],
            Load::WriteSequential => &[Source(LIMIT, "")],
            Load::WriteRandom => &[Source(LIMIT, "")],
        }
    }

    /// Returns the rate under this load.
    pub(super) fn rate(self, case: &Case<'_>) -> Option<Rate> {
        self.sources().iter().find_map(|Source(parameter, figure)| {
            let rate = match figure.is_empty() {
                true => case.measured.known(parameter).ok()?.value as f64,
                false => case.measured.figure(parameter, figure)?,
            };
            let per_second = rate as u64;
            (per_second > 0).then_some(Rate {
                per_second,
                parameter,
            })
        })
    }

    /// Returns the rates under several loads.
    ///
    /// # Errors
    /// The loads whose rates are not known.
    pub(super) fn rates(loads: &[Load], case: &Case<'_>) -> Result<Vec<Rate>, Undecided> {
        let found: Vec<Option<Rate>> = loads.iter().map(|load| load.rate(case)).collect();
        let missing: Vec<&str> = loads
            .iter()
            .zip(&found)
            .filter(|(_, rate)| rate.is_none())
            .map(|(load, _)| load.words())
            .collect();
        if missing.is_empty() {
            return Ok(found.into_iter().flatten().collect());
        }
        Err(Undecided {
            parameter: LIMIT,
            verdict: case.measured.get(LIMIT).map(|answer| answer.verdict),
            why: format!(
                "no lasting rate is known of {}, and a part of them would be worse than none",
                missing.join(", ")
            ),
        })
    }

    const fn words(self) -> &'static str {
        match self {
            Load::ReadBytes => "long reads",
            Load::ReadSequential => "sequential reads",
            Load::ReadRandom => "random reads",
            Load::WriteBytes => "long writes",
            Load::WriteSequential => "sequential writes",
            Load::WriteRandom => "random writes",
        }
    }
}

/// Returns the parameters behind rates, each once, in words.
pub(super) fn parameters(rates: &[Rate]) -> String {
    let names: BTreeSet<&str> = rates.iter().map(|rate| rate.parameter).collect();
    let names: Vec<&str> = names.into_iter().collect();
    names.join(", ").replace('_', " ")
}
