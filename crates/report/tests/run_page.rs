//! The page of a run of a workload: its text, what may not be in it, and that a browser draws it.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails like the test")]

mod browser;
mod common;

use browser::{all_drawn, chromium, complaints, data, drawing, open, up};
use common::NASTY;
use fathom_report::run::{
    Distribution, Given, ProcessLine, RunLines, RunPage, Stretch, Table, render,
};
use serde_json::json;
use std::collections::BTreeMap;

fn lines(name: &str, slower: f64) -> RunLines {
    let stretch = |i: u64| Stretch {
        at_ns: i * 1_000_000,
        // Nothing ended in one of the stretches.
        mean_ns: (i != 7).then_some(slower * (100_000.0 + 1_000.0 * (i % 9) as f64)),
        max_ns: (i != 7).then_some((slower * 900_000.0) as u64 + i),
        bytes_per_second: 4e7 / slower,
        write_amplification: (i % 4 == 2).then_some(1.0 + i as f64 / 100.0),
        ..Stretch::default()
    };
    let points = [
        (0.0, 50_000),
        (0.5, 90_000),
        (0.9, 120_000),
        (0.99, 400_000),
        (1.0, 900_000),
    ];
    let kind = |name: &str, factor: u64| Distribution {
        name: name.to_owned(),
        points: points.map(|(share, ns)| (share, ns * factor)).into(),
    };
    RunLines {
        name: name.to_owned(),
        stretches: (0..100).map(stretch).collect(),
        distributions: vec![kind("reads", 1), kind("writes", 3)],
        ..RunLines::default()
    }
}

/// The same under a block layer, by two processes, on a drive that merges.
fn queued(name: &str, waiting: f64) -> RunLines {
    let mut run = lines(name, 1.0);
    for (i, stretch) in run.stretches.iter_mut().enumerate() {
        (stretch.not_done, stretch.at_drive) = (Some(waiting), Some(2.0));
        if i % 4 == 2 {
            stretch.merges_per_second = Some([0.0, 1.0, 3.0]);
            stretch.erases_per_second = Some(7.0);
        }
    }
    let process = |name: &str| ProcessLine {
        name: name.to_owned(),
        points: vec![(1_000_000, 2e6), (3_000_000, 4e6)],
    };
    run.processes = vec![process("process 1"), process("process 2")];
    run.given = Given {
        reads: BTreeMap::from([(4096, 30)]),
        writes: BTreeMap::from([(4096, 1), (12288, 1)]),
        bundles: BTreeMap::from([(1 << 20, 5)]),
    };
    run
}

fn page(runs: Vec<RunLines>) -> RunPage {
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    RunPage {
        title: "uniform on model:small".into(),
        about: "The base is lru.".into(),
        facts: vec![("seed".into(), "0".into())],
        warnings: vec!["the seeds differ".into()],
        tables: vec![Table {
            title: "Response times".into(),
            note: "Below 1 is faster.".into(),
            head: words(&["run", "mean"]),
            rows: vec![words(&["lru", "47.1 µs"])],
        }],
        runs,
        beneath: vec![Table {
            title: "What the drive did".into(),
            head: words(&["", "lru"]),
            rows: vec![words(&["full merges", "40207"])],
            ..Table::default()
        }],
        notes: vec!["3 records were left out".into()],
        details: vec![("The modelled drive".into(), "capacity = \"1GiB\"".into())],
    }
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
fn everything_that_was_given_is_on_the_page() {
    let given = page(vec![lines("", 1.0)]);
    let html = render(&given);
    assert_eq!(html, render(&given.clone()));
    for text in [
        "uniform on model:small",
        "The base is lru.",
        "the seeds differ",
        "Below 1 is faster.",
        "47.1 µs",
        "40207",
        "3 records were left out",
        "capacity = &quot;1GiB&quot;",
    ] {
        assert!(html.contains(text), "{text}");
    }
    assert_eq!(
        ids(&html),
        ["response", "throughput", "distribution", "amplification"]
    );
    let figures = data(&html);
    let response = &figures[0]["series"];
    assert_eq!(
        (&response[0]["name"], &response[1]["name"]),
        (&"mean".into(), &"longest".into())
    );
    assert_eq!(response[0]["y"][7], serde_json::Value::Null);
    assert_eq!(figures[1]["series"][0]["y"][0], 40_000_000);
    // A point every fourth stretch, and a line through them: between gaps there would be nothing to see.
    let amplified = figures[3]["series"][0]["y"].as_array().unwrap();
    assert_eq!(amplified.len(), 25);
    assert_eq!(amplified[1], 1.06);
    // The share above; the longest access of all has none.
    let tail = figures[2]["series"][1]["y"].as_array().unwrap();
    assert_eq!(tail.len(), 4);
    assert_eq!(tail[1], 0.5);
}

#[test]
fn several_runs_lie_over_one_another() {
    let html = render(&page(vec![lines("lru", 1.0), lines("epo", 0.7)]));
    assert_eq!(
        ids(&html),
        [
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
    let html = render(&page(vec![queued("", 9.0)]));
    assert_eq!(
        ids(&html),
        [
            "response",
            "throughput",
            "waiting",
            "processes",
            "distribution",
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
    // Lines of one run are told apart by their colours.
    assert_eq!(waiting["series"][1]["look"], 1);
    assert_eq!(names(&html, "processes"), ["process 1", "process 2"]);
    let second = &figure(&html, "processes")["series"][1];
    assert_eq!(
        (&second["y"][1], &second["look"]),
        (&4_000_000.into(), &1.into())
    );
    // A quarter of the bytes of writes in one of 4 KiB; one of 12 KiB is up to 16 KiB.
    let sizes = figure(&html, "sizes");
    assert_eq!(sizes["x"]["names"], json!(["4 KiB", "8 KiB", "16 KiB"]));
    let writes = &sizes["series"][1];
    assert_eq!(writes["x"], json!([0, 2]));
    assert_eq!(writes["y"], json!([25, 75]));
    // There was no switch merge.
    assert_eq!(names(&html, "merges"), ["partial", "full"]);
    assert_eq!(figure(&html, "erases")["series"][0]["y"][0], 7);
}

#[test]
fn stacks_side_by_side_have_a_line_each() {
    let html = render(&page(vec![
        queued("noop", 9.0),
        queued("bfq", 5.0),
        lines("none", 1.0),
    ]));
    for id in [
        "waiting",
        "at-drive",
        "sizes-reads",
        "sizes-writes",
        "bundles",
        "merges",
        "erases",
    ] {
        assert_eq!(names(&html, id), ["noop", "bfq"], "{id}");
    }
    let second = &figure(&html, "waiting")["series"][1];
    assert_eq!((&second["y"][0], &second["look"]), (&5.into(), &1.into()));
    // All kinds together.
    assert_eq!(figure(&html, "merges")["series"][0]["y"][0], 4);
    assert!(!ids(&html).contains(&"processes".to_owned()));
    // One at a time, everywhere: nothing to see.
    let mut alone = vec![queued("noop", 9.0), queued("bfq", 5.0)];
    for stretch in alone.iter_mut().flat_map(|run| &mut run.stretches) {
        stretch.at_drive = Some(1.0);
        stretch.merges_per_second = Some([0.0; 3]);
    }
    let ids = ids(&render(&page(alone)));
    assert!(
        !ids.iter().any(|id| id == "at-drive" || id == "merges"),
        "{ids:?}"
    );
}

#[test]
fn what_cannot_be_drawn_is_left_out() {
    let mut run = lines("", 1.0);
    run.distributions.clear();
    for stretch in &mut run.stretches {
        stretch.write_amplification = None;
        // Neither has a place on a logarithmic axis.
        (stretch.mean_ns, stretch.max_ns) = (Some(0.0), None);
    }
    assert_eq!(ids(&render(&page(vec![run]))), ["throughput"]);
    let empty = render(&page(Vec::new()));
    assert!(ids(&empty).is_empty() && empty.contains("nothing to draw"));
}

#[test]
fn names_from_outside_are_escaped_and_nothing_is_fetched() {
    let mut nasty = page(vec![lines(NASTY, 1.0), lines(NASTY, 2.0)]);
    let plain = render(&nasty).matches("<script").count();
    (nasty.title, nasty.about) = (NASTY.into(), NASTY.into());
    nasty.facts.push((NASTY.into(), NASTY.into()));
    nasty.tables[0].rows.push(vec![NASTY.into(), NASTY.into()]);
    nasty.details.push((NASTY.into(), NASTY.into()));
    nasty.notes.push(NASTY.into());
    nasty.warnings.push(NASTY.into());
    let html = render(&nasty);
    assert!(!html.contains("alert(1)</script>"));
    assert_eq!(html.matches("<script").count(), plain);
    assert!(html.contains("default-src 'none'") && !html.contains(" src=\"http"));
}

#[test]
fn a_browser_draws_every_figure_without_an_error() {
    let Some(browser) = chromium() else {
        println!("skipped: no chromium in /usr/bin");
        return;
    };
    let runs = [
        ("one-run", vec![lines("", 1.0)]),
        (
            "more-runs",
            vec![lines(NASTY, 1.0), lines("epo", 0.7), lines("c", 2.0)],
        ),
        ("one-stack", vec![queued("", 9.0)]),
        ("more-stacks", vec![queued(NASTY, 9.0), queued("bfq", 5.0)]),
    ];
    for (name, runs) in runs {
        let html = render(&page(runs));
        let (dom, log) = open(&browser, name, &html);
        assert_eq!(complaints(&log), [""; 0]);
        all_drawn(&dom, &html);
    }
}

/// SVG 2, 8.2: `y` grows downwards.
#[test]
fn the_slow_tail_is_where_its_sentence_says() {
    let html = render(&page(vec![lines("", 1.0)]));
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
    let html = render(&page(vec![lines("", 1.0)]))
        .replace("states.forEach(draw)", "states.forEach(missing)");
    let (dom, log) = open(&browser, "run-fails", &html);
    assert!(
        !complaints(&log).is_empty(),
        "the other test would not have seen it"
    );
    assert!(dom.contains("data-error=") && dom.contains("A figure could not be drawn"));
}
