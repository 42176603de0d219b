//! Runs of a study that share a prepared drive equal those that prepare one of their own.

use fathom_lab::replay::{Watch, prepared, run_model};
use fathom_lab::study::{Study, Watcher, plan, run};

struct Quiet;

impl Watcher for Quiet {}

/// Drives that draw nothing, and drives that draw from each of their generators; filled, and overwritten at random.
const STUDY: &str = r#"
name = "shared"
drive = "model:ssd-a"
seeds = [1, 2, 3]
arrival = { closed = { outstanding = 3 } }

[set]
capacity = "72MiB"
"mapping.over_provisioning_percent" = 25.0
"noise.command_percent" = 0.0
"noise.flash_percent" = 0.0
"noise.background_interval" = "0s"
"noise.background_duration" = "0s"

[[axis]]
name = "state"
[[axis.point]]
name = "filled"
precondition = "filled"
[[axis.point]]
name = "random"
precondition = { random = { times = 0.02, bytes = "64KiB" } }

[[axis]]
name = "drive"
[[axis.point]]
name = "fast"
set = { "mapping.kind" = "fast" }
[[axis.point]]
name = "block"
set = { "mapping.kind" = "block" }
[[axis.point]]
name = "noise"
set = { "mapping.kind" = "page", "noise.flash_percent" = 2.0 }
[[axis.point]]
name = "commands"
set = { "mapping.kind" = "page", "noise.command_percent" = 2.0 }
[[axis.point]]
name = "background"
set = { "mapping.kind" = "page", "noise.background_interval" = "20ms", "noise.background_duration" = "3ms" }
[[axis.point]]
name = "retries"
set = { "mapping.kind" = "page", "faults.read_retry" = 0.1, "faults.read_retries_max" = 3 }
[[axis.point]]
name = "bad"
set = { "mapping.kind" = "page", "faults.factory_bad_percent" = 15.0 }
[[axis.point]]
name = "failures"
set = { "mapping.kind" = "page", "faults.program_fail" = 0.001 }
[[axis.point]]
name = "d-choices"
set = { "mapping.kind" = "page", "gc.victim" = "d-choices" }

[[workload]]
name = "random"
generate = { generator = "uniform", accesses = 1500, sizes = "16KiB", read-percent = 20.0, range = { start = "0B", len = "72MiB" } }

[[workload]]
name = "hot"
generate = { generator = "zipf", accesses = 300, read-percent = 20.0, range = { start = "0B", len = "72MiB" } }
"#;

#[test]
fn a_shared_state_changes_no_run() {
    let (study, dir) = (
        Study::from_toml(STUDY).unwrap(),
        tempfile::tempdir().unwrap(),
    );
    let runs = plan(&study).unwrap();
    let finished = run(&study, &runs, dir.path(), &Quiet, || false).unwrap();
    assert_eq!(finished.len(), 2 * 2 * 9 * 3);
    for one in finished {
        let (model, plan) = (&one.run.model, &one.run.plan);
        let drive = model.build(plan.seed).unwrap();
        let drive = prepared(drive, plan.precondition, plan.seed).unwrap();
        let watch = Watch {
            stop: || false,
            seen: None,
        };
        let alone = run_model(model, drive, plan, None, watch).unwrap();
        let text = |record| serde_json::to_string(record).unwrap();
        assert_eq!(text(&one.record), text(&alone), "{}", one.run.name);
    }
}
