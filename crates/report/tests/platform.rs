//! Tests the report of what an I/O costs a machine: its text to the byte, its page, and drawing in a browser.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails like the test")]

mod browser;
mod machine;

use browser::{all_drawn, chromium, complaints, data, open};
use fathom_platform::{Interface, Layer};
use fathom_report::platform::{Limit, Limited, Others, Path, PlatformReport, Tracing, page, text};
use fathom_report::screen::Screen;
use machine::{everything, nothing};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A name that breaks a page wherever it is not escaped, and a terminal wherever it is not cleaned.
const NASTY: &str = "</script><script>alert(1)</script><b>&\"'\u{1b}[2J";

fn of_width(report: &PlatformReport, width: usize) -> String {
    let screen = Screen {
        width: Some(width),
        ..Screen::default()
    };
    text(report, screen)
}

fn figure(page: &str, id: &str) -> Value {
    let found = data(page).into_iter().find(|figure| figure["id"] == id);
    found.unwrap_or_else(|| panic!("no figure {id}"))
}

fn ids(page: &str) -> Vec<String> {
    let figures = data(page);
    figures
        .iter()
        .map(|figure| figure["id"].as_str().unwrap().to_owned())
        .collect()
}

/// Returns the parts of each stack of a figure by name.
fn parts(figure: &Value) -> Vec<BTreeMap<String, f64>> {
    let names = figure["x"]["names"].as_array().unwrap();
    let mut stacks = vec![BTreeMap::new(); names.len()];
    for series in figure["series"].as_array().unwrap() {
        assert_eq!(series["mode"], "stack");
        let (x, y) = (
            series["x"].as_array().unwrap(),
            series["y"].as_array().unwrap(),
        );
        assert_eq!(x.len(), y.len());
        for (x, y) in x.iter().zip(y) {
            let stack = &mut stacks[x.as_u64().unwrap() as usize];
            let name = series["name"].as_str().unwrap().to_owned();
            assert!(stack.insert(name, y.as_f64().unwrap()).is_none());
        }
    }
    stacks
}

fn sum(parts: &BTreeMap<String, f64>) -> f64 {
    parts.values().sum()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * b.abs()
}

#[test]
fn the_text_of_everything() {
    insta::assert_snapshot!(of_width(&everything(), 100));
}

#[test]
fn the_text_of_nothing_says_what_is_missing_and_what_to_do() {
    insta::assert_snapshot!(of_width(&nothing(), 100));
    let html = page(&nothing());
    assert!(ids(&html).is_empty());
    assert!(html.contains("Nothing could be measured") && html.contains("mount -t tracefs"));
    let bare = PlatformReport::default();
    assert!(text(&bare, Screen::default()).contains("There is no figure."));
    assert!(page(&bare).contains("There is no figure."));
}

#[test]
fn the_first_sentence_says_the_result() {
    let mut report = everything();
    report.latency.truncate(1);
    report.scaling.clear();
    let first = |report: &PlatformReport| {
        let text = text(
            report,
            Screen {
                width: Some(1000),
                ..Screen::default()
            },
        );
        text.lines().nth(1).unwrap().to_owned()
    };
    let takes = "A 4-KiB read takes 76.8 µs, of which the machine takes 10.6 µs (14 %)";
    let does = "a processor does 72,000 (pread) to 240,000 (io_uring, polled) direct reads of 4 KiB a second.";
    assert_eq!(first(&report), format!("{takes}; {does}"));
    report.costs.clear();
    assert_eq!(first(&report), format!("{takes}."));
    // What no phase accounts for is nobody's.
    report.latency[0].latency_ns += 20_000.0;
    assert_eq!(first(&report), "A 4-KiB read takes 96.8 µs.");
    report.latency[0].latency_ns -= 20_000.0;
    report.latency[0].phases.clear();
    assert_eq!(first(&report), "A 4-KiB read takes 76.8 µs.");
    report.others = Some(Others {
        programs: 0.4,
        host: 0.0,
    });
    let busy = "The machine was not quiet: other programs used 40 % of its processors, and its host took 0 %";
    assert!(first(&report).contains(busy));
    let costs = PlatformReport {
        latency: Vec::new(),
        scaling: Vec::new(),
        ..everything()
    };
    assert_eq!(
        first(&costs),
        "A processor does 72,000 (pread) to 240,000 (io_uring, polled) direct reads of 4 KiB a second."
    );
}

#[test]
fn every_part_of_a_stack_is_in_the_page_and_all_are_the_whole() {
    let report = everything();
    let html = page(&report);
    let latency = parts(&figure(&html, "latency"));
    assert_eq!(latency.len(), report.latency.len());
    for (found, given) in latency.iter().zip(&report.latency) {
        for (phase, ns) in &given.phases {
            assert!(near(found[phase.words()], *ns), "{phase:?}");
        }
        assert!(near(sum(found), given.latency_ns));
    }
    assert!(near(latency[2]["not attributed"], 1_204.0));
    let costs = parts(&figure(&html, "layers"));
    assert_eq!(costs.len(), report.costs.len());
    for (found, given) in costs.iter().zip(&report.costs) {
        for (layer, clocks) in &given.layers {
            assert!(near(found[layer.words()], *clocks), "{layer:?}");
        }
        assert!(near(sum(found), given.clocks));
    }
    // Layers that could not be told apart are one part.
    let last = costs.last().unwrap();
    assert_eq!(last.keys().collect::<Vec<_>>(), ["not attributed"]);
}

#[test]
fn a_part_below_zero_is_told_and_not_drawn() {
    let mut report = everything();
    let note = "A part below zero is not drawn; the table has it.";
    assert!(!page(&report).contains(note));
    *report.costs[0].layers.get_mut(&Layer::Driver).unwrap() = -120.0;
    // More phases than latency.
    report.latency[1].latency_ns -= 2_000.0;
    let html = page(&report);
    assert_eq!(html.matches(note).count(), 2);
    assert!(!parts(&figure(&html, "layers"))[0].contains_key("driver, issue"));
    let text = of_width(&report, 100);
    assert!(
        text.contains(" -120 ") && text.contains("-2 µs (-2.6 %)"),
        "{text}"
    );
}

#[test]
fn one_layer_and_thirteen() {
    let thirteen = Layer::ALL.into_iter().filter(|layer| layer.is_of_io());
    let thirteen: BTreeMap<Layer, f64> = thirteen.zip((1..).map(f64::from)).collect();
    let one = BTreeMap::from([(Layer::Block, 1_000.0)]);
    let path = |interface| Path {
        interface,
        ..Path::default()
    };
    let mut idle = machine::cost(path(Interface::IoUring), one.clone());
    // Waiting for nothing is no cost.
    idle.layers.insert(Layer::Idle, 70_000.0);
    let report = PlatformReport {
        clock_hz: Some(1_000_000_000),
        costs: vec![
            machine::cost(path(Interface::Pread), thirteen.clone()),
            machine::cost(path(Interface::Libaio), one),
            idle,
        ],
        ..nothing()
    };
    let figure = figure(&page(&report), "layers");
    // The order of the stack is that of the way, and no two parts look the same.
    let series = figure["series"].as_array().unwrap();
    let names: Vec<&str> = series
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        thirteen
            .keys()
            .map(|layer| layer.words())
            .collect::<Vec<_>>()
    );
    let mut looks: Vec<u64> = series
        .iter()
        .map(|one| one["look"].as_u64().unwrap())
        .collect();
    looks.sort_unstable();
    looks.dedup();
    assert_eq!(looks.len(), 13);
    let stacks = parts(&figure);
    assert_eq!(
        stacks.iter().map(sum).collect::<Vec<_>>(),
        [91.0, 1_000.0, 1_000.0]
    );
    let text = of_width(&report, 100);
    let row = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let cells = line.unwrap_or_default().split_whitespace();
        cells.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("total "), ["91", "1,000", "1,000"]);
    assert_eq!(row("idle, not in the total"), ["-", "-", "70,000"]);
    let rates = ["10,989,011", "1,000,000", "1,000,000"];
    assert_eq!(row("IOPS of a processor"), rates);
}

#[test]
fn without_a_clock_the_costs_are_times() {
    let report = PlatformReport {
        clock_hz: None,
        ..everything()
    };
    let html = page(&report);
    let text = text(&report, Screen::default());
    for all in [&html, &text] {
        let body = all.split("<script").next().unwrap();
        assert!(!body.contains("locks"), "{body}");
    }
    assert_eq!(figure(&html, "layers")["y"]["unit"], "ns");
    assert_eq!(figure(&html, "copies")["y"]["unit"], "ns");
    // 28,999 ns of a processor for a read.
    assert!(text.contains("29 µs") && text.contains("34,484"), "{text}");
}

/// Replaces every number that can be by one that is no number.
fn odd(value: f64) -> PlatformReport {
    let mut report = everything();
    let tracing = |of: &mut Option<Tracing>| {
        if let Some(of) = of {
            (of.traced, of.untraced, of.events, of.attributed) = (value, value, value, value);
        }
    };
    for one in &mut report.latency {
        (one.latency_ns, one.interval_ns) = (value, Some([value, value]));
        one.phases.values_mut().for_each(|ns| *ns = value);
        tracing(&mut one.tracing);
    }
    for one in &mut report.costs {
        (one.iops, one.clocks, one.utilisation) = (value, value, value);
        (one.switches, one.system_calls) = (Some(value), Some(value));
        one.interval = Some([value, value]);
        one.layers.values_mut().for_each(|clocks| *clocks = value);
        tracing(&mut one.tracing);
    }
    for row in &mut report.scaling {
        (row.utilisation, row.latency_ns) = (value, value);
    }
    for row in report.scaling.iter_mut().step_by(2) {
        row.iops = value;
    }
    if let Some(copy) = &mut report.copy {
        (copy.per_byte, copy.fixed, copy.r_squared) = (value, value, value);
        copy.interval = Some([value, value]);
        copy.points.push([value, 7.0]);
        copy.points.push([4096.0, value]);
    }
    report
}

#[test]
fn what_is_no_number_is_a_dash() {
    let values = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e300];
    let mut pages = Vec::new();
    for value in values {
        let report = odd(value);
        let html = page(&report);
        let body = html.split("<script id=").next().unwrap();
        let body = &body[body.find("<body").unwrap()..];
        for all in [body, &of_width(&report, 80)] {
            let words = all.split(|c: char| !c.is_alphanumeric());
            let bad =
                |word: &&str| ["nan", "inf", "infinity"].contains(&word.to_lowercase().as_str());
            assert_eq!(words.filter(bad).count(), 0, "{value}: {all}");
        }
        pages.push(html);
    }
    let text = of_width(&odd(f64::NAN), 100);
    assert!(
        text.contains("The cost of copies could not be told."),
        "{text}"
    );
    let Some(browser) = chromium() else {
        println!("skipped: no chromium in /usr/bin");
        return;
    };
    for (html, value) in pages.iter().zip(values) {
        let (dom, log) = open(&browser, "platform-odd", html);
        assert_eq!(complaints(&log), [""; 0], "{value}");
        browser::drawn(&dom, data(html).len());
    }
}

#[test]
fn no_line_is_wider_than_the_screen() {
    let report = everything();
    for width in [40, 48, 60, 80, 100, 160] {
        let text = of_width(&report, width);
        // A command is not broken, and a word may be longer.
        let long = text.lines().filter(|line| line.chars().count() > width);
        assert_eq!(long.count(), 0, "{width}\n{text}");
    }
}

#[test]
fn thirty_rows_make_lines_by_threads_and_by_machine() {
    let report = everything();
    assert_eq!(report.scaling.len(), 30);
    let html = page(&report);
    assert_eq!(
        ids(&html),
        [
            "latency",
            "layers",
            "copies",
            "iops",
            "busy",
            "machines-0",
            "throughput-0"
        ]
    );
    let iops = figure(&html, "iops");
    let names = |figure: &Value| -> Vec<String> {
        let series = figure["series"].as_array().unwrap().iter();
        series
            .map(|one| one["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        names(&iops),
        [
            "4 KiB, 1 processor, 1 adapter, 3 drives",
            "4 KiB, 8 processors, 1 adapter, 8 drives"
        ]
    );
    // Seven rows between the powers of two are sorted in.
    let x = iops["series"][1]["x"].as_array().unwrap();
    assert_eq!(x.len(), 15);
    assert!(
        x.windows(2).all(|two| two[0].as_f64() < two[1].as_f64()),
        "{x:?}"
    );
    // Machines of which all grows alike; 8 / 1 / 8 is none of them.
    let machines = figure(&html, "machines-0");
    assert_eq!(
        machines["x"]["names"],
        json!(["1 / 1 / 3", "2 / 2 / 6", "3 / 3 / 9", "4 / 4 / 12"])
    );
    assert_eq!(names(&machines), ["linear", "4 KiB", "linear", "64 KiB"]);
    let [ideal, reached] = [0, 1].map(|at| machines["series"][at]["y"].as_array().unwrap());
    assert_eq!(ideal[0], reached[0]);
    assert!(near(
        ideal[3].as_f64().unwrap(),
        4.0 * ideal[0].as_f64().unwrap()
    ));
}

#[test]
fn processors_and_drives_that_grow_apart_have_a_figure_each() {
    let mut report = everything();
    let row = report.scaling[0].clone();
    let of = |cores, drives| {
        let mut row = row.clone();
        (row.cores, row.drives, row.adapters) = (cores, drives, None);
        row.limit = Some(Limited {
            by: Limit::Unknown,
            evidence: String::new(),
        });
        row
    };
    report.scaling = vec![of(1, 1), of(2, 1), of(4, 1), of(1, 2), of(1, 4)];
    let html = page(&report);
    assert_eq!(figure(&html, "machines-0")["x"]["title"], "processors");
    assert_eq!(figure(&html, "machines-1")["x"]["title"], "drives");
    assert!(!ids(&html).contains(&"iops".to_owned()));
    let text = of_width(&report, 200);
    assert!(
        text.contains("1 thread, 4 processors, 1 drive: what limits the rate is unknown."),
        "{text}"
    );
}

#[test]
fn names_from_outside_are_escaped_and_control_nothing() {
    let mut report = everything();
    let scripts = |html: &str| html.matches("<script").count();
    let plain = scripts(&page(&report));
    report.subject = NASTY.into();
    report.facts[0].name = NASTY.into();
    report.facts[0].value = NASTY.into();
    report.missing[0].what = NASTY.into();
    report.missing[0].help = NASTY.into();
    report.notes.push(NASTY.into());
    let limited = report.scaling.iter_mut().find_map(|row| row.limit.as_mut());
    limited.unwrap().evidence = NASTY.into();
    let tracing = report.latency[0].tracing.as_mut().unwrap();
    tracing.rejected = BTreeMap::from([(NASTY.into(), 3)]);
    let html = page(&report);
    assert!(!html.contains("alert(1)</script>"));
    assert_eq!(scripts(&html), plain);
    let text = text(&report, Screen::default());
    assert!(text.contains("alert(1)") && !text.contains('\u{1b}'));
}

#[test]
fn a_browser_draws_every_figure_without_an_error() {
    let reports = [
        everything(),
        PlatformReport {
            clock_hz: None,
            ..everything()
        },
        nothing(),
    ];
    for (at, report) in reports.iter().enumerate() {
        let html = page(report);
        assert_eq!(html, page(&report.clone()));
        let Some(browser) = chromium() else {
            println!("skipped: no chromium in /usr/bin");
            return;
        };
        let (dom, log) = open(&browser, &format!("platform-{at}"), &html);
        assert_eq!(complaints(&log), [""; 0]);
        all_drawn(&dom, &html);
    }
}
