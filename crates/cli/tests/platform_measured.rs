//! Tests of `fathom platform` on a loop device: measurements agree with themselves, change neither the target nor the kernel's
//! tracing, and say what is missing.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking; a skipped one says why"
)]

use crate::capture::tracefs;
use crate::common::{LoopDevice, names, pause, schema};
use serde_json::Value;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

/// How often a noisy machine may try again.
const TRIES: usize = 3;

/// A loop device over random data in memory. Its reads take little and vary little.
struct Disk {
    device: LoopDevice,
    instances: PathBuf,
    dir: tempfile::TempDir,
    data: Vec<u8>,
    modified: SystemTime,
}

impl Disk {
    fn new() -> Option<Self> {
        let Some(tracing) = tracefs() else {
            eprintln!("skipped: tracefs is not mounted");
            return None;
        };
        let Ok(dir) = tempfile::tempdir_in("/dev/shm") else {
            eprintln!("skipped: there is no /dev/shm");
            return None;
        };
        let device = LoopDevice::new(dir.path(), 64 << 20)?;
        let mut state = 1_u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 56) as u8
        };
        let data: Vec<u8> = (0..64 << 20).map(|_| next()).collect();
        // Not truncated: the device keeps its size.
        let file = File::options().write(true).open(dir.path().join("disk"));
        let mut file = file.unwrap();
        file.write_all(&data).unwrap();
        Some(Self {
            device,
            instances: tracing.join("instances"),
            modified: file.metadata().unwrap().modified().unwrap(),
            dir,
            data,
        })
    }

    /// Starts a measurement.
    fn start(&self, more: &str) -> Child {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("fathom"));
        command.args(["platform", &self.device.path, "--json", "--quiet"]);
        command.args(more.split(' ')).current_dir(self.dir.path());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Finishes a measurement, which leaves everything as it was.
    fn measured(&self, more: &str) -> Value {
        let child = self.start(more);
        let process = child.id();
        let out = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "{said}");
        assert_eq!(self.instances_of(process), Vec::<String>::new());
        let found = serde_json::from_slice(&out.stdout).unwrap();
        schema::check("platform", &found);
        found
    }

    /// Instances of one process; other tests and programs have theirs at the same time.
    fn instances_of(&self, process: u32) -> Vec<String> {
        let (first, more) = (format!("fathom-{process}"), format!("fathom-{process}-"));
        let mut all = names(&self.instances);
        all.retain(|name| *name == first || name.starts_with(&more));
        all
    }

    /// Waits until a process records.
    fn records(&self, child: &mut Child) {
        while self.instances_of(child.id()).is_empty() {
            assert!(child.try_wait().unwrap().is_none(), "it ended too early");
            pause(Duration::from_millis(1));
        }
    }
}

fn numbers(of: &Value) -> Vec<(&str, f64)> {
    let all = of.as_object().unwrap().iter();
    all.map(|(name, n)| (name.as_str(), n.as_f64().unwrap()))
        .collect()
}

/// Checks what must hold however busy the machine is.
fn is_consistent(found: &Value) {
    let (latency, costs) = (&found["latency"], &found["costs"]);
    assert_eq!(latency.as_array().unwrap().len(), 2, "{found:#}");
    assert!(costs.as_array().unwrap().len() >= 4, "{found:#}");
    for one in latency.as_array().unwrap() {
        let phases = numbers(&one["phases"]);
        assert!(phases.iter().all(|(_, ns)| *ns >= 0.0), "{one:#}");
    }
    for one in costs.as_array().unwrap() {
        let layers = numbers(&one["layers"]);
        if layers.is_empty() {
            // Withheld with a reason, or not traced.
            assert!(
                one["tracing"].is_null() || one["tracing"]["doubt"].is_string(),
                "{one:#}"
            );
            continue;
        }
        assert!(layers.iter().all(|(_, clocks)| *clocks >= 0.0), "{one:#}");
        let of_io = |name: &str| !["other", "idle"].contains(&name);
        let sum = layers.iter().filter(|(name, _)| of_io(name));
        let sum: f64 = sum.map(|(_, clocks)| clocks).sum();
        let clocks = one["clocks"].as_f64().unwrap();
        assert!((sum - clocks).abs() <= 1e-6 * clocks, "{one:#}");
    }
}

/// Says what a busy machine can break: others take the processor between the traced and the untraced reads, or from a read
/// so that it cannot be attributed.
fn disturbed(found: &Value) -> Option<String> {
    let latency = found["latency"].as_array().unwrap().iter();
    let wrong = latency.clone().find(|one| {
        if one["tracing"]["doubt"].is_string() {
            // The load changed too much: the command says so, and gives no phases.
            return !numbers(&one["phases"]).is_empty();
        }
        let sum: f64 = numbers(&one["phases"]).iter().map(|(_, ns)| ns).sum();
        let number = |key: &str| one["tracing"][key].as_f64().unwrap();
        let whole = one["latency_ns"].as_f64().unwrap();
        let cost = (number("traced") - number("untraced")).abs();
        // A device as fast as memory can take no longer than its events cost.
        let device = one["phases"].get("device");
        device.is_none() || (sum - whole).abs() > cost.max(0.05 * whole)
    });
    let all = latency.chain(found["costs"].as_array().unwrap());
    let attributed = |one: &&Value| one["tracing"]["attributed"].as_f64().unwrap() <= 0.5;
    wrong
        .or_else(|| all.clone().find(attributed))
        .map(|one| format!("{one:#}"))
}

#[test]
fn phases_and_layers_sum_to_what_was_measured_and_nothing_is_changed() {
    let Some(disk) = Disk::new() else {
        return;
    };
    let mut wrong = None;
    for _ in 0..TRIES {
        let found = disk.measured("--time 60ms");
        is_consistent(&found);
        wrong = disturbed(&found);
        if wrong.is_none() {
            break;
        }
    }
    assert_eq!(wrong, None);
    let file = disk.dir.path().join("disk");
    let modified = fs::metadata(&file).unwrap().modified().unwrap();
    assert_eq!(modified, disk.modified);
    assert!(fs::read(&file).unwrap() == disk.data, "it was written");
}

#[test]
fn without_tracing_phases_and_layers_are_missing() {
    let Some(disk) = Disk::new() else {
        return;
    };
    // On a busy machine 10 ms may pass without a single request.
    let mut tries = (0..TRIES).map(|_| disk.measured("--time 30ms --no-trace"));
    let has_all = |found: &Value| {
        let parts = ["latency", "costs"].map(|part| found[part].as_array().unwrap());
        parts.iter().all(|all| !all.is_empty())
    };
    let found = tries.find(has_all).expect("nothing was measured");
    for (part, key) in [("latency", "phases"), ("costs", "layers")] {
        for one in found[part].as_array().unwrap() {
            assert_eq!(numbers(&one[key]), []);
            assert_eq!(one["tracing"], Value::Null);
        }
    }
    let missing = &found["missing"][0];
    assert_eq!(
        missing["what"],
        "layers and phases: tracing was not asked for"
    );
    assert_eq!(missing["help"], "leave `--no-trace` out");
}

#[test]
fn an_interrupted_measurement_leaves_no_instance() {
    let Some(disk) = Disk::new() else {
        return;
    };
    let mut child = disk.start("--time 2s");
    disk.records(&mut child);
    let process = child.id();
    let mut kill = Command::new("kill");
    assert!(
        kill.args(["-INT", &process.to_string()])
            .status()
            .unwrap()
            .success()
    );
    let out = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.contains("Interrupted"), "{said}");
    assert!(out.stdout.is_empty());
    assert_eq!(disk.instances_of(process), Vec::<String>::new());
}

/// That a killed process leaves one is not asserted: another test's process may have removed it by then.
#[test]
fn what_a_killed_measurement_has_left_goes_with_the_next_one() {
    let Some(disk) = Disk::new() else {
        return;
    };
    let mut child = disk.start("--time 2s");
    disk.records(&mut child);
    let process = child.id();
    child.kill().unwrap();
    child.wait().unwrap();
    disk.measured("--time 10ms");
    assert_eq!(disk.instances_of(process), Vec::<String>::new());
}
