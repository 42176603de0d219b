//! Differences between the settings of two runs: plans and drive files, key by key.

use crate::prepare::Precondition;
use crate::record::RunRecord;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A key with its two values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The key: in the drive file as in `--set`, in the plan with the prefix `plan.`.
    pub key: String,
    /// The value in the base; `None` if the base does not have the key.
    pub base: Option<String>,
    /// The value in the other run; `None` if it does not have the key.
    pub run: Option<String>,
}

/// Returns every key whose values differ: those of the drive first, then those of the plan.
pub fn changes(base: &RunRecord, run: &RunRecord) -> Vec<Change> {
    let mut all = differ(&drive(base), &drive(run));
    all.extend(differ(&plan(base), &plan(run)));
    let version = |run: &RunRecord| BTreeMap::from([("fathom".into(), run.fathom.clone())]);
    all.extend(differ(&version(base), &version(run)));
    all
}

/// Returns the reasons why the ratio of two runs may be misleading.
pub fn warnings(base: &RunRecord, run: &RunRecord) -> Vec<String> {
    let (a, b) = (&base.plan, &run.plan);
    let mut warnings = Vec::new();
    if !a.workload.same_accesses(&b.workload) {
        warnings.push("the workloads differ: the runs did not do the same work");
    }
    if a.arrival != b.arrival {
        warnings.push("the accesses were handed over in another way (arrival)");
    }
    if a.seed != b.seed {
        warnings.push("the seeds differ: what is drawn at random is another draw");
    }
    if a.precondition != b.precondition {
        warnings.push("the drives were prepared in another way (precondition)");
    }
    if a.target != b.target {
        warnings.push("the drives differ as a whole, not in one setting (target)");
    }
    if base.fathom != run.fathom {
        warnings.push("the runs were made by different versions of Fathom");
    }
    warnings.into_iter().map(str::to_owned).collect()
}

fn differ(base: &BTreeMap<String, String>, run: &BTreeMap<String, String>) -> Vec<Change> {
    let mut keys: Vec<&String> = base.keys().chain(run.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.into_iter()
        .map(|key| Change {
            key: key.clone(),
            base: base.get(key).cloned(),
            run: run.get(key).cloned(),
        })
        .filter(|change| change.base != change.run)
        .collect()
}

fn plan(run: &RunRecord) -> BTreeMap<String, String> {
    let mut keys = BTreeMap::new();
    // Plain data with names as keys: the conversion to JSON cannot fail.
    let mut value = serde_json::to_value(&run.plan).unwrap_or_default();
    value["arrival"] = run.plan.arrival.to_string().into();
    value["precondition"] = precondition(run.plan.precondition).into();
    flatten("plan", &value, &mut keys);
    keys
}

fn precondition(state: Precondition) -> String {
    match state {
        Precondition::AsIs => "as-is".into(),
        Precondition::Fresh => "fresh".into(),
        Precondition::Filled => "filled".into(),
        Precondition::Random { times, bytes } => format!("random:{times} in pieces of {bytes}"),
    }
}

fn drive(run: &RunRecord) -> BTreeMap<String, String> {
    let mut keys = BTreeMap::new();
    let text = run.drive.as_deref().unwrap_or_default();
    // A damaged drive file has no keys; the figures of the run are valid nevertheless.
    let table: toml::Table = text.parse().unwrap_or_default();
    let value = serde_json::to_value(table).unwrap_or_default();
    flatten("", &value, &mut keys);
    keys
}

/// Collects every value under its path, such as `flash.read` or `zones[2].sectors`.
fn flatten(at: &str, value: &Value, keys: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let dot = if at.is_empty() { "" } else { "." };
                flatten(&format!("{at}{dot}{key}"), value, keys);
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                flatten(&format!("{at}[{index}]"), value, keys);
            }
        }
        Value::Null => {}
        Value::String(text) if !at.is_empty() => {
            keys.insert(at.to_owned(), text.clone());
        }
        value if !at.is_empty() => {
            keys.insert(at.to_owned(), value.to_string());
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(toml: &str) -> BTreeMap<String, String> {
        let mut keys = BTreeMap::new();
        let table: toml::Table = toml.parse().unwrap();
        flatten("", &serde_json::to_value(table).unwrap(), &mut keys);
        keys
    }

    #[test]
    fn keys_that_differ_are_named_as_a_setting_is() {
        let base = flat("[write_buffer]\npolicy = 'lru'\ncapacity = '8MiB'\n[[zones]]\nn = 1\n");
        let run = flat(
            "[write_buffer]\npolicy = 'epo'\ncapacity = '8MiB'\n[[zones]]\nn = 2\n[gc]\nx = 1\n",
        );
        let lines: Vec<_> = differ(&base, &run)
            .into_iter()
            .map(|c| (c.key, c.base, c.run))
            .collect();
        let some = |text: &str| Some(text.to_owned());
        let wanted = [
            ("gc.x".to_owned(), None, some("1")),
            ("write_buffer.policy".to_owned(), some("lru"), some("epo")),
            ("zones[0].n".to_owned(), some("1"), some("2")),
        ];
        assert_eq!(lines, wanted);
        assert_eq!(differ(&base, &base), []);
    }
}
