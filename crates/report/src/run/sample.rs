//! An empty record for tests.

use fathom_run::RunRecord;

/// Returns a run without accesses and without a block layer.
pub(super) fn nothing() -> RunRecord {
    let text = r#"{
        "fathom": "",
        "plan": { "target": "", "workload": {}, "arrival": "open", "precondition": "fresh", "seed": 0 },
        "totals": { "others": 0, "duration": "0ns", "bucket": "0ns", "timeline": [] },
        "notes": []
    }"#;
    serde_json::from_str(text).unwrap()
}
