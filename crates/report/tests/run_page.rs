//! Tests the pages of runs of workloads: their text, forbidden content, and drawing in a browser.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails like the test")]

mod browser;
mod common;

use browser::{all_drawn, chromium, complaints, data, drawing, open, up};
use common::NASTY;
use fathom_base::{Dur, Time};
use fathom_block::DriveStats;
use fathom_iosched::{Bundled, Dispatched, QueueStats};
use fathom_report::{compare, run};
use fathom_run::compare::{Named, compare as compared};
use fathom_run::{Bucket, Distribution, Interval, Process, Quantile, RunRecord, Side, Waiting};
use serde_json::json;
use std::collections::BTreeMap;

/// A run without accesses.
fn nothing(workload: &str) -> RunRecord {
    let interval = Dur::ZERO;
    serde_json::from_value(json!({
        "fathom": "0.1.0",
        "plan": {
            "target": "model:small", "workload": { "name": workload }, "arrival": "open", "precondition": "fresh", "seed": 0
        },
        "drive": "capacity = \"1GiB\"",
        "totals": {
            "all": null, "reads": null, "writes": null, "others": 0, "duration": interval, "bucket": interval, "timeline": []
        },
        "work": null, "wear": null, "notes": ["3 records were left out"], "warnings": ["the drive began empty"]
    }))
    .unwrap()
}

/// A hundred milliseconds with one access each, except for one.
fn plain(slower: f64) -> RunRecord {
    let bucket = |i: u64| Bucket {
        // One of the stretches has no completed access.
        count: u64::from(i != 7),
        bytes: (40_000.0 / slower) as u64,
        response_ns: (slower * (100_000.0 + 1_000.0 * (i % 9) as f64)) as u64,
        max_ns: (slower * 900_000.0) as u64 + i,
        // Three milliseconds without write amplification, then twice the bytes written.
        drive: DriveStats {
            host_bytes_written: 1000 * i,
            flash_bytes_programmed: 1000 * (i + i.saturating_sub(3)),
            ..DriveStats::default()
        },
        queue: None,
    };
    let points = [
        (0.0, 50_000),
        (0.5, 90_000),
        (0.9, 120_000),
        (0.99, 400_000),
        (1.0, 900_000),
    ];
    let kind = |factor: u64| {
        let point = |(share, ns)| Quantile {
            share,
            ns: ns * factor,
        };
        points.map(point).into()
    };
    let mut run = nothing("uniform");
    run.totals.bucket = Dur(1_000_000);
    run.totals.duration = Dur(100_000_000);
    run.totals.timeline = (0..100).map(bucket).collect();
    run.totals.distribution = Distribution {
        reads: kind(1),
        writes: kind(3),
        ..Distribution::default()
    };
    let mean = slower * 100_000.0;
    let reads = Some(Side {
        count: 1000,
        bytes: 4_000_000,
        response_ns: Interval {
            mean,
            low: Some(mean - 1_000.0),
            high: Some(mean + 1_000.0),
        },
        service_mean_ns: mean,
        p50_ns: 90_000,
        p90_ns: 120_000,
        p99_ns: 400_000,
        p999_ns: 800_000,
        max_ns: 900_000,
    });
    (run.totals.reads, run.totals.all) = (reads, reads);
    run.work = Some(DriveStats {
        full_merges: 40207,
        ..DriveStats::default()
    });
    run
}

/// The same with a block layer, two processes and a drive that merges.
fn queued(waiting: u64, at_drive: u64) -> RunRecord {
    let mut run = plain(1.0);
    for (i, bucket) in (0..).zip(&mut run.totals.timeline) {
        bucket.queue = Some(Waiting {
            at: Time(i * 1_000_000),
            held_ns: i * waiting * 1_000_000,
            in_flight_ns: i * at_drive * 1_000_000,
        });
        bucket.drive.partial_merges = i;
        bucket.drive.full_merges = 3 * i;
        bucket.drive.erases = 7 * i;
    }
    let process = Process {
        timeline: vec![2000, 2000, 2000, 4000, 4000, 4000],
        finished: Dur(6_000_000),
        ..Process::default()
    };
    run.totals.processes = vec![process.clone(), process];
    let sizes = |sizes: &[(u64, u64)]| Dispatched {
        by_len: sizes.iter().copied().collect(),
        ..Dispatched::default()
    };
    run.queue = Some(QueueStats {
        reads: sizes(&[(4096, 30)]),
        writes: sizes(&[(4096, 1), (12288, 1)]),
        bundles: Some(Bundled {
            by_bytes: BTreeMap::from([(1 << 20, 5)]),
            ..Bundled::default()
        }),
        ..QueueStats::default()
    });
    run
}

/// Returns the page of runs side by side.
fn beside(runs: Vec<(&str, RunRecord)>) -> String {
    let named = |(name, run): (&str, RunRecord)| Named {
        name: name.to_owned(),
        run,
        responses: None,
    };
    let runs: Vec<Named> = runs.into_iter().map(named).collect();
    compare::page(&compared(&runs), &runs)
}

fn figure(page: &str, id: &str) -> serde_json::Value {
    let found = data(page).into_iter().find(|f| f["id"] == id);
    found.unwrap_or_else(|| panic!("no figure {id}"))
}

fn names(page: &str, id: &str) -> Vec<String> {
    let figure = figure(page, id);
    let lines = figure["series"].as_array().unwrap().iter();
    lines
        .map(|line| line["name"].as_str().unwrap().to_owned())
        .collect()
}

fn ids(page: &str) -> Vec<String> {
    let figures = data(page);
    figures
        .iter()
        .map(|f| f["id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn everything_that_is_known_of_a_run_is_on_its_page() {
    let given = plain(1.0);
    let html = run::page(&given);
    assert_eq!(html, run::page(&given.clone()));
    for text in [
        "uniform on model:small",
        "Half of 1000 reads and writes took up to 90\u{a0}µs, and one in a hundred longer than 400\u{a0}µs; 10000 accesses a second.",
        "the drive began empty",
        "40207",
        "3 records were left out",
        "capacity = &quot;1GiB&quot;",
    ] {
        assert!(html.contains(text), "{text}");
    }
    assert_eq!(
        ids(&html),
        ["distribution", "response", "throughput", "amplification"]
    );
    let figures = data(&html);
    let response = &figures[1]["series"];
    assert_eq!(
        (&response[0]["name"], &response[1]["name"]),
        (&"mean".into(), &"longest".into())
    );
    assert_eq!(response[0]["y"][7], serde_json::Value::Null);
    assert_eq!(figures[2]["series"][0]["y"][0], 40_000_000);
    // A point every third stretch except for the last, joined by a line: isolated points between gaps would be invisible.
    let amplified = figures[3]["series"][0]["y"].as_array().unwrap();
    assert_eq!(amplified.len(), 33);
    assert_eq!((&amplified[0], &amplified[1]), (&1.into(), &2.into()));
    // The share above each point; nothing is above the longest access, so it has no point.
    let tail = figures[0]["series"][1]["y"].as_array().unwrap();
    assert_eq!(tail.len(), 4);
    assert_eq!(tail[1], 0.5);
}

#[test]
fn several_runs_lie_over_one_another() {
    let html = beside(vec![("a/lru", plain(1.0)), ("a/epo", plain(0.7))]);
    // Standard errors of about 1 % each.
    let verdict =
        "The mean response time of epo is 0.700 times that of lru (95\u{a0}% interval 0.6";
    assert!(html.contains(verdict) && html.contains("): faster."));
    assert_eq!(names(&html, "ratios"), ["reads"]);
    let ratios = &figure(&html, "ratios")["series"][0]["y"];
    assert_eq!((&ratios[0], &ratios[1]), (&1.into(), &json!(0.7)));
    // A run that is not faster must not be called the fastest.
    let slower = beside(vec![
        ("a", plain(1.0)),
        ("b", plain(2.0)),
        ("c", plain(3.0)),
    ]);
    assert!(slower.contains("The base is a. No run is found to be faster."));
    assert_eq!(
        ids(&html),
        [
            "ratios",
            "response",
            "longest",
            "throughput",
            "distribution-reads",
            "distribution-writes",
            "amplification"
        ]
    );
    for id in ["response", "distribution-reads", "distribution-writes"] {
        assert_eq!(names(&html, id), ["lru", "epo"]);
    }
    let first = |id| figure(&html, id)["series"][1]["x"][0].as_f64();
    assert_eq!(first("distribution-reads"), Some(50_000.0));
    assert_eq!(first("distribution-writes"), Some(150_000.0));
}

#[test]
fn what_waits_and_what_each_process_got_is_drawn_of_a_run_under_a_block_layer() {
    let html = run::page(&queued(9, 2));
    assert_eq!(
        ids(&html),
        [
            "distribution",
            "response",
            "throughput",
            "waiting",
            "processes",
            "sizes",
            "bundles",
            "amplification",
            "merges",
            "erases"
        ]
    );
    assert_eq!(names(&html, "waiting"), ["not done", "at the drive"]);
    let waiting = figure(&html, "waiting");
    assert_eq!(waiting["series"][0]["y"][5], 9);
    assert_eq!(waiting["series"][1]["y"][5], 2);
    // The lines of one run differ in colour.
    assert_eq!(waiting["series"][1]["look"], 1);
    assert_eq!(names(&html, "processes"), ["process 0", "process 1"]);
    let second = &figure(&html, "processes")["series"][1];
    assert_eq!(
        (&second["y"][1], &second["look"]),
        (&4_000_000.into(), &1.into())
    );
    // A quarter of the bytes written is in writes of 4 KiB; 12 KiB counts as up to 16 KiB.
    let sizes = figure(&html, "sizes");
    assert_eq!(sizes["x"]["names"], json!(["4 KiB", "8 KiB", "16 KiB"]));
    let writes = &sizes["series"][1];
    assert_eq!(writes["x"], json!([0, 2]));
    assert_eq!(writes["y"], json!([25, 75]));
    // No switch merge took place.
    assert_eq!(names(&html, "merges"), ["partial", "full"]);
    assert_eq!(figure(&html, "erases")["series"][0]["y"][1], 7000);
}

#[test]
fn stacks_side_by_side_have_a_line_each() {
    let html = beside(vec![
        ("noop", queued(9, 2)),
        ("bfq", queued(5, 2)),
        ("none", plain(1.0)),
    ]);
    for id in [
        "waiting",
        "at-drive",
        "sizes-reads",
        "sizes-writes",
        "bundles",
    ] {
        assert_eq!(names(&html, id), ["noop", "bfq"], "{id}");
    }
    let second = &figure(&html, "waiting")["series"][1];
    assert_eq!((&second["y"][0], &second["look"]), (&5.into(), &1.into()));
    // All kinds of merges together.
    assert_eq!(figure(&html, "merges")["series"][0]["y"][1], 4000);
    assert!(!ids(&html).contains(&"processes".to_owned()));
    // One request at a time everywhere and no merges: there is nothing to draw.
    let idle = |mut run: RunRecord| {
        for bucket in &mut run.totals.timeline {
            (bucket.drive.partial_merges, bucket.drive.full_merges) = (0, 0);
        }
        run
    };
    let alone = vec![("noop", idle(queued(9, 1))), ("bfq", idle(queued(5, 1)))];
    let ids = ids(&beside(alone));
    assert!(
        !ids.iter().any(|id| id == "at-drive" || id == "merges"),
        "{ids:?}"
    );
}

#[test]
fn what_cannot_be_drawn_is_left_out() {
    let mut none = plain(1.0);
    none.totals.distribution = Distribution::default();
    none.work = None;
    for bucket in &mut none.totals.timeline {
        // A logarithmic axis cannot show zero.
        (bucket.response_ns, bucket.max_ns) = (0, 0);
    }
    assert_eq!(ids(&run::page(&none)), ["throughput"]);
    let empty = run::page(&nothing("uniform"));
    assert!(ids(&empty).is_empty() && empty.contains("nothing to draw"));
}

#[test]
fn names_from_outside_are_escaped_and_nothing_is_fetched() {
    let mut nasty = nothing(NASTY);
    let scripts = |html: &str| html.matches("<script").count();
    let plain_page = scripts(&run::page(&plain(1.0)));
    nasty.plan.target = NASTY.into();
    nasty.drive = Some(NASTY.into());
    nasty.notes.push(NASTY.into());
    nasty.warnings.push(NASTY.into());
    for html in [
        run::page(&nasty),
        beside(vec![(NASTY, nasty.clone()), ("b", plain(2.0))]),
    ] {
        assert!(!html.contains("alert(1)</script>"));
        assert_eq!(scripts(&html), plain_page);
        assert!(html.contains("default-src 'none'") && !html.contains(" src=\"http"));
    }
}

#[test]
fn a_browser_draws_every_figure_without_an_error() {
    let Some(browser) = chromium() else {
        println!("skipped: no chromium in /usr/bin");
        return;
    };
    let pages = [
        ("one-run", run::page(&plain(1.0))),
        (
            "more-runs",
            beside(vec![
                (NASTY, plain(1.0)),
                ("epo", plain(0.7)),
                ("c", plain(2.0)),
            ]),
        ),
        ("one-stack", run::page(&queued(9, 2))),
        (
            "more-stacks",
            beside(vec![(NASTY, queued(9, 2)), ("bfq", queued(5, 2))]),
        ),
    ];
    for (name, html) in pages {
        let (dom, log) = open(&browser, name, &html);
        assert_eq!(complaints(&log), [""; 0]);
        all_drawn(&dom, &html);
    }
}

/// SVG 2, 8.2: `y` grows downwards.
#[test]
fn the_slow_tail_is_where_its_sentence_says() {
    let html = run::page(&plain(1.0));
    assert!(html.contains("The slow tail is at the top: at 99\u{a0}%"));
    let Some(browser) = chromium() else {
        println!("skipped: no chromium in /usr/bin");
        return;
    };
    let (dom, log) = open(&browser, "tail", &html);
    assert_eq!(complaints(&log), [""; 0]);
    let ticks = up(drawing(&dom, "distribution"));
    let at = |name: &str| ticks.iter().find(|(text, _)| text == name).unwrap().1;
    assert!(
        at("99 %") < at("90 %") && at("90 %") < at("50 %"),
        "{ticks:?}"
    );
}

#[test]
fn a_failing_script_is_seen_on_the_page() {
    let Some(browser) = chromium() else {
        println!("skipped: no chromium in /usr/bin");
        return;
    };
    let html = run::page(&plain(1.0)).replace("states.forEach(draw)", "states.forEach(missing)");
    let (dom, log) = open(&browser, "run-fails", &html);
    assert!(
        !complaints(&log).is_empty(),
        "the other test would not have seen it"
    );
    assert!(dom.contains("data-error=") && dom.contains("A figure could not be drawn"));
}
