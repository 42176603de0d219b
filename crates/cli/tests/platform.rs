//! Tests of `fathom platform --model`, and of what it and `fathom plan` refuse of a platform.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
use crate::common::{fathom, names, schema};
use crate::hints::tells;
use serde_json::Value;
use std::fs::{self, File};
use std::path::Path;

fn printed(dir: &Path, args: &str) -> (Option<i32>, String) {
    let out = fathom(dir).args(args.split(' ')).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&out.stderr), "", "{args}");
    (out.status.code(), String::from_utf8(out.stdout).unwrap())
}

fn without_version(text: &str) -> String {
    text.replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

#[test]
fn a_modelled_platform_is_the_same_each_time() {
    let dir = tempfile::tempdir().unwrap();
    let run = |args: &str| {
        let (code, text) = printed(dir.path(), &format!("platform --quiet --model {args}"));
        assert_eq!(code, Some(0));
        text
    };
    let text = run("x5570-sas,cores=1 --out a");
    insta::assert_snapshot!("platform_model", without_version(&text));
    // The platform that was stored is the one that was shown.
    let json = run("a/platform.toml --json --out b");
    let file = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
    assert_eq!(file("a/platform.json"), file("b/platform.json"));
    assert_eq!(file("a/platform.json"), json);
    assert_eq!(file("a/report.html"), file("b/report.html"));
    // The platform with its settings is stored, and has no samples.
    let stored = names(&dir.path().join("a"));
    let all = ["platform.json", "platform.toml", "report.html", "sums.txt"];
    assert_eq!(stored, all);
    assert!(file("a/platform.toml").contains("\ncores = 1\n"));
    is_one_file(&file("a/report.html"));
    let found = serde_json::from_str(&json).unwrap();
    schema::check("platform", &found);
    agrees_with_the_paper(&found);
}

/// Checks the sum of the clocks in `ssd-ready-platforms` section 4.2. A handler that finds several completions is called once
/// for them. The drive does 44,000 reads a second, the processor 118,000 and the adapter 177,000.
fn agrees_with_the_paper(found: &Value) {
    let clocks = found["costs"][0]["clocks"].as_f64().unwrap();
    assert!((clocks - 25_000.0).abs() < 500.0, "{clocks}");
    let latency = &found["latency"][0];
    let phases = latency["phases"].as_object().unwrap().values();
    let sum: f64 = phases.map(|ns| ns.as_f64().unwrap()).sum();
    assert!(
        (sum - latency["latency_ns"].as_f64().unwrap()).abs() < 1.0,
        "{latency}"
    );
    let last = found["scaling"].as_array().unwrap().last().unwrap();
    assert_eq!(last["limit"]["by"], "drives", "{last}");
}

/// Checks that a page refers to nothing outside it.
fn is_one_file(page: &str) {
    // The fills of a figure's bars are within it.
    let page = page.replace("url(#", "");
    for outside in ["src=", "<link", "@import", "url(", "fetch(", "import("] {
        assert!(!page.contains(outside), "{outside}");
    }
    let mut links = page.split("href=\"").skip(1);
    assert!(links.all(|rest| rest.starts_with('#')));
    // The name of SVG is no place to go to.
    let rest = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!rest.contains("http://") && !rest.contains("https://"));
}

#[test]
fn a_wrong_platform_is_refused_with_advice() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("own.toml"), "clok = \"3GHz\"\n").unwrap();
    let cases: [(&str, &[&str]); 12] = [
        ("x5570", &["`x5570`", "did you mean x5570-sas"]),
        ("x5570-sas,coers=1", &["no key `coers`", "`cores`"]),
        ("x5570-sas,cores=0", &["`cores=0`", "at least 1"]),
        ("x5570-sas,clock=3", &["`clock`", "no unit", "3GHz"]),
        ("x5570-sas,clocks.blok=1", &["`clocks.blok`", "`block`"]),
        ("x5570-sas,cores=2,cores=3", &["`cores=3`", "set twice"]),
        (
            "x5570-sas,cores=",
            &["`cores=`", "no value", "adapter.iops"],
        ),
        ("x5570-sas,stripe=6KiB", &["`stripe`", "multiple of 4KiB"]),
        ("missing.toml", &["cannot read missing.toml"]),
        ("own.toml", &["own.toml: line 1", "clok", "fathom explain"]),
        ("x5570-sas --drive ssd-a", &["did you mean model:ssd-a?"]),
        ("x5570-sas --bs 0B", &["`--bs 0B`", "512B to 1MiB"]),
    ];
    for (platform, says) in cases {
        tells(dir.path(), &format!("platform --model {platform}"), says);
        let plan = format!("plan --iops 1000 --platform {platform}");
        tells(dir.path(), &plan, says);
    }
    let run = "run generate:uniform --on model:nvme --platform x5570-sas";
    let of_run =
        |setting: &str, says: &[&str]| tells(dir.path(), &format!("{run},{setting}"), says);
    of_run("drive=nope", &["`drive=nope`", "drive of its own"]);
    of_run(
        "interrupts.time=5us",
        &["`interrupts.time`", "interrupts.count"],
    );
    of_run("stripe=1TiB", &["`stripe` is 1TiB", "capacity of a drive"]);
    let more: [(&str, &[&str]); 2] = [
        ("platform --model x5570-sas --no-trace", &["--no-trace"]),
        ("platform --model x5570-sas disk", &["[TARGET]"]),
    ];
    for (args, says) in more {
        tells(dir.path(), args, says);
    }
}

#[test]
fn what_cannot_be_measured_is_refused_with_advice() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes| {
        let file = File::create(dir.path().join(name)).unwrap();
        file.set_len(bytes).unwrap();
    };
    file("small", 1 << 20);
    file("large", 64 << 20);
    fs::write(dir.path().join("full"), vec![7; 16 << 20]).unwrap();
    let cases: [(&str, &[&str]); 8] = [
        (".", &["it is a directory", "at least 16 MiB"]),
        ("missing", &["missing: no such file"]),
        ("small", &["1048576 bytes", "at least 16 MiB"]),
        ("large --bs 3000", &["no unit", "3000B or 16KiB"]),
        ("large --bs 3000B", &["`--bs 3000B`", "multiple of 512B"]),
        ("large --time 0ms", &["too short", "at least 10ms"]),
        ("large", &["has holes", "write it once"]),
        ("full full", &["it is named twice"]),
    ];
    for (args, says) in cases {
        tells(dir.path(), &format!("platform {args}"), says);
    }
}
