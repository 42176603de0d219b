//! Computes the answers from a record.

use crate::condition::Condition;
use crate::plan;
use crate::session::{Ending, marks};
use crate::{
    Cost, Estimate, Marks, Method, Parameter, Probe, Profile, Record, Space, Step, Verdict,
};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Returns the answers of all parameters of a record. Needs no drive.
pub fn solve(record: &Record) -> Profile {
    let parameters = plan::in_order(&record.meta.parameters);
    let mut cost = Cost::default();
    record.steps.iter().for_each(|step| cost += step.cost);
    if let Some(look) = &record.meta.look {
        cost += look.cost;
    }
    for reference in &record.meta.references {
        cost += reference.cost;
    }
    let skipped: BTreeMap<Parameter, String> = parameters
        .iter()
        .filter_map(|parameter| match marks::ending(record, *parameter) {
            Ending::Skipped(why) => Some((*parameter, why)),
            _ => None,
        })
        .collect();
    Profile {
        fathom: record.meta.fathom.clone(),
        seed: record.meta.seed,
        method: record.meta.method,
        target: record.meta.target.clone(),
        cost,
        parameters: parameters
            .into_iter()
            .filter(|parameter| !skipped.contains_key(parameter))
            .map(|parameter| (parameter, answer(record, parameter)))
            .collect(),
        marked: marked(record),
        skipped,
    }
}

/// Returns the parameters during which something was wrong with the drive.
fn marked(record: &Record) -> BTreeMap<Parameter, Marks> {
    let mut marked: BTreeMap<Parameter, Marks> = BTreeMap::new();
    for step in record.steps.iter().filter(|step| !step.marks.is_none()) {
        let marks = marked.entry(step.parameter).or_default();
        *marks = marks.with(step.marks);
    }
    marked
}

/// Returns the answer of one parameter, from the record alone; *inconclusive* if it was not measured to its end.
pub fn answer(record: &Record, parameter: Parameter) -> Estimate {
    let method = record.meta.method;
    let inconclusive = |reason: &str| Estimate::inconclusive(reason);
    let about = parameter.about();
    let estimate = match (about.probe(method), marks::ending(record, parameter)) {
        (None, _) => inconclusive("this method has no probe for it"),
        (Some(probe), Ending::Whole) => solved(probe, record, parameter),
        (Some(_), Ending::Stopped(reason)) => inconclusive(&reason),
        (Some(_), Ending::Skipped(reason)) => inconclusive(&format!("skipped: {reason}")),
        (Some(_), Ending::Open) => {
            inconclusive("the run ended before this was measured; resume it")
        }
    };
    debug_assert!(
        estimate
            .value
            .as_ref()
            .is_none_or(|value| value.unit() == about.unit)
    );
    Estimate {
        unit: about.unit,
        method,
        cost: record.cost_of(parameter),
        ..estimate
    }
}

fn solved(probe: &dyn Probe, record: &Record, parameter: Parameter) -> Estimate {
    let seen = seen(probe, record);
    let mut estimate = probe.solve(&seen, &|other| answer(&seen, other));
    if let (Cow::Owned(part), false) = (&seen, estimate.verdict == Verdict::Identified) {
        let mib = Space::of(part).bytes() >> 20;
        let within = format!("; looked for in {mib} MiB, because of the budget");
        estimate.evidence.reason.push_str(&within);
    }
    let is_marked = |step: &&Step| step.parameter == parameter && !step.marks.is_none();
    if record.steps.iter().any(|step| is_marked(&step))
        && let Some(said) = Condition::of(record, parameter).said()
    {
        let reason = &mut estimate.evidence.reason;
        reason.truncate(reason.trim_end_matches('.').len());
        reason.push_str(&format!("; {said}"));
    }
    match record.meta.thin {
        0 | 1 => estimate,
        _ if record.meta.method == Method::Robust => estimate,
        thin => estimate.figure("thin", f64::from(thin)),
    }
}

/// Returns the record as a run in only the part of the region that the probe was given would have made it.
fn seen<'r>(probe: &dyn Probe, record: &'r Record) -> Cow<'r, Record> {
    let space = Space::of(record);
    let part = plan::region(probe, &space);
    if !record.meta.cheapest_first || record.meta.read_only || part == space.region {
        return Cow::Borrowed(record);
    }
    let mut record = record.clone();
    record.meta.region = Some([part.start, part.end]);
    Cow::Owned(record)
}
