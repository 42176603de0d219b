//! Prints a profile to standard output.

use crate::failure::Failure;
use crate::out;
use fathom_probe::profile::Evidence;
use fathom_probe::record::Target;
use fathom_probe::{Cost, Estimate, Marks, Method, Parameter, Profile, Unit, Value, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;

/// The profile with every key present, `null` for missing values.
#[derive(Serialize)]
struct Answer<'a> {
    fathom: &'a str,
    seed: u64,
    method: Method,
    target: &'a Target,
    cost: Cost,
    parameters: BTreeMap<Parameter, Answered<'a>>,
    skipped: &'a BTreeMap<Parameter, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    marked: &'a BTreeMap<Parameter, Marks>,
}

#[derive(Serialize)]
struct Answered<'a> {
    value: Option<&'a Value>,
    unit: Unit,
    low: Option<&'a Value>,
    high: Option<&'a Value>,
    verdict: Verdict,
    method: Method,
    evidence: &'a Evidence,
    cost: Cost,
}

impl<'a> From<&'a Estimate> for Answered<'a> {
    fn from(estimate: &'a Estimate) -> Self {
        Self {
            value: estimate.value.as_ref(),
            unit: estimate.unit,
            low: estimate.low.as_ref(),
            high: estimate.high.as_ref(),
            verdict: estimate.verdict,
            method: estimate.method,
            evidence: &estimate.evidence,
            cost: estimate.cost,
        }
    }
}

/// Prints a profile: as JSON, or as a table followed by `after`.
///
/// # Errors
/// As for [`out::data`].
pub(crate) fn print(profile: &Profile, json: bool, after: &str) -> Result<(), Failure> {
    if !json {
        let table = fathom_report::text::summary(profile, out::screen());
        return out::text(&(table + after));
    }
    out::json(&Answer {
        fathom: &profile.fathom,
        seed: profile.seed,
        method: profile.method,
        target: &profile.target,
        cost: profile.cost,
        parameters: profile
            .parameters
            .iter()
            .map(|(parameter, estimate)| (*parameter, estimate.into()))
            .collect(),
        skipped: &profile.skipped,
        marked: &profile.marked,
    })
}
