//! Tests of `fathom platform` and `fathom plan`: a modelled host, a measured one on a loop device, and refusals.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking; a skipped one says why"
)]

use crate::common::{self, fathom, names};
use crate::hints::tells;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

const MODEL: &str = "platform --model x5570-sas,cores=1 --quiet";

fn json(dir: &Path, args: &str) -> Value {
    let out = fathom(dir).args(args.split(' ')).output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

fn sum(parts: &Value, left_out: &[&str]) -> f64 {
    let parts = parts.as_object().unwrap();
    let counts = parts
        .iter()
        .filter(|(name, _)| !left_out.contains(&name.as_str()));
    counts.map(|(_, part)| part.as_f64().unwrap()).sum()
}

#[test]
fn a_modelled_host_is_shown_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let found = json(dir.path(), &format!("{MODEL} --json --out one"));
    // `ssd-ready-platforms` section 4.2. A handler that finds several completions is called once for them.
    let pread = &found["costs"][0];
    assert!(
        (pread["clocks"].as_f64().unwrap() - 25_000.0).abs() < 500.0,
        "{pread}"
    );
    let latency = &found["latency"][0];
    let whole = latency["latency_ns"].as_f64().unwrap();
    assert!(
        (sum(&latency["phases"], &[]) - whole).abs() < 1.0,
        "{latency}"
    );
    let last = found["scaling"].as_array().unwrap().last().unwrap();
    // The drive does 44,000 reads a second, the processor 118,000 and the adapter 177,000.
    assert_eq!(last["limit"]["by"], "drives", "{last}");
    assert_eq!(
        names(&dir.path().join("one")),
        ["platform.json", "report.html", "sums.txt"]
    );
}

#[test]
fn a_plan_names_what_a_rate_takes() {
    let dir = tempfile::tempdir().unwrap();
    let found = json(
        dir.path(),
        "plan --iops 100000 --platform x5570-sas --json --quiet",
    );
    let takes = &found["takes"];
    assert_eq!(
        (&takes["cores"], &takes["adapters"]),
        (&1.into(), &1.into()),
        "{takes}"
    );
    assert!(takes["iops"].as_f64().unwrap() >= 100_000.0, "{takes}");
    assert!(!found["changes"].as_array().unwrap().is_empty());
    assert!(!found["sensitivity"].as_array().unwrap().is_empty());
}

#[test]
fn what_is_wrong_is_named_with_advice() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("small"), [7; 1 << 20]).unwrap();
    let cases: [(&str, &[&str]); 9] = [
        (
            "platform --model x5570-sas --bs 0B",
            &["`--bs 0B`", "512B to 1MiB"],
        ),
        (
            "plan --iops 1000 --bs 2M --platform x5570-sas",
            &["`--bs 2MiB`"],
        ),
        ("platform small --time 0us", &["too short", "10ms"]),
        (
            "platform --model x5570-sass",
            &["no platform `x5570-sass`", "x5570-sas"],
        ),
        (
            "platform --model x5570-sas,cores=0",
            &["`cores` is 0", "at least 1"],
        ),
        (
            "platform --model x5570-sas,clock=3",
            &["has no unit", "3GHz"],
        ),
        (
            "plan --iops 1000 --platform nowhere.toml",
            &["cannot read nowhere.toml"],
        ),
        ("platform small", &["1048576 bytes", "at least 16 MiB"]),
        ("platform .", &["it is a directory", "block device"]),
    ];
    for (args, parts) in cases {
        tells(dir.path(), args, parts);
    }
}

/// A loop device in memory, so that reads are fast and the machine is what is measured.
fn device() -> Option<(tempfile::TempDir, common::LoopDevice)> {
    if !common::root() {
        eprintln!("skipped: a loop device needs root");
        return None;
    }
    let shm = Path::new("/dev/shm");
    let dir = if shm.is_dir() {
        tempfile::tempdir_in(shm)
    } else {
        tempfile::tempdir()
    };
    let dir = dir.unwrap();
    let device = common::LoopDevice::new(dir.path(), 64 << 20)?;
    Some((dir, device))
}

fn instances() -> Option<Vec<String>> {
    let all = std::fs::read_dir("/sys/kernel/tracing/instances").ok()?;
    let names = all.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let ours = names.filter(|name| name.starts_with("fathom-"));
    Some(ours.collect())
}

/// The parts agree with the wholes, which were measured without tracing: within 5 %, or what tracing cost, or, on a machine
/// on which other tests run, a third.
#[test]
fn this_machine_is_measured_and_its_parts_sum_to_the_whole() {
    let Some((dir, device)) = device() else {
        return;
    };
    let args = format!(
        "platform /dev/{} --time 60ms --quiet --json --out here",
        device.name
    );
    let found = json(dir.path(), &args);
    for one in found["latency"].as_array().unwrap() {
        let whole = one["latency_ns"].as_f64().unwrap();
        assert!(whole > 100.0, "{one}");
        if one["tracing"].is_null() {
            eprintln!("skipped: phases need tracefs");
            continue;
        }
        let cost = (one["tracing"]["traced"].as_f64().unwrap() - whole).abs();
        let off = (sum(&one["phases"], &[]) - whole).abs();
        assert!(off <= cost.max(whole / 3.0), "{one:#}");
    }
    for one in found["costs"].as_array().unwrap() {
        let layers = one["layers"].as_object().unwrap();
        assert!(
            layers.values().all(|clocks| clocks.as_f64().unwrap() > 0.0),
            "{one:#}"
        );
        if !layers.is_empty() {
            let whole = one["clocks"].as_f64().unwrap();
            let off = sum(&one["layers"], &["other", "idle"]) / whole - 1.0;
            assert!(off.abs() < 1e-6, "{one:#}");
        }
    }
    assert!(names(&dir.path().join("here")).contains(&"report.html".to_owned()));
}

#[test]
fn without_tracing_the_rest_is_measured_and_the_lack_is_said() {
    let Some((dir, device)) = device() else {
        return;
    };
    let args = format!(
        "platform /dev/{} --time 30ms --no-trace --quiet --json",
        device.name
    );
    let found = json(dir.path(), &args);
    assert!(
        found["latency"][0]["phases"]
            .as_object()
            .unwrap()
            .is_empty()
    );
    assert!(found["costs"][0]["layers"].as_object().unwrap().is_empty());
    assert!(found["costs"][0]["clocks"].as_f64().unwrap() > 0.0);
    let missing = found["missing"].to_string();
    assert!(missing.contains("layers and phases"), "{missing}");
}

#[test]
fn an_interrupted_measurement_leaves_no_trace_instance() {
    let (Some((dir, device)), Some(before)) = (device(), instances()) else {
        eprintln!("skipped: needs root and tracefs");
        return;
    };
    let path = format!("/dev/{}", device.name);
    let args = ["platform", &path, "--time", "400ms", "--quiet"];
    let (code, said) = common::interrupt(dir.path(), &args, Duration::from_millis(700));
    assert_eq!(code, Some(1), "{said}");
    let after = instances().unwrap();
    let new: Vec<&String> = after.iter().filter(|name| !before.contains(name)).collect();
    // Those of other tests come and go; this one's process has ended.
    let left = new.iter().filter(|name| {
        let process = name
            .trim_start_matches("fathom-")
            .split('-')
            .next()
            .unwrap();
        !Path::new(&format!("/proc/{process}")).exists()
    });
    assert_eq!(left.count(), 0, "{new:?}");
}
