//! Claims judged on made-up runs.

use super::*;
use crate::reproduce::traces::Kind;
use fathom_run::{Interval, Reshaped};

fn cell(setting: &str, scheme: &str, ms: f64, half_ms: f64) -> Cell {
    let mean = ms * 1e6;
    Cell {
        workload: "w".into(),
        points: vec![
            ("setting".into(), setting.into()),
            ("scheme".into(), scheme.into()),
        ],
        requests: 100,
        mean_ns: Some(Interval {
            mean,
            low: Some(mean - half_ms * 1e6),
            high: Some(mean + half_ms * 1e6),
        }),
        reads_ns: None,
        writes_ns: Some(mean),
        accesses_per_second: 1e3 / ms,
        bytes_per_second: 1e6 / ms,
        busy: None,
        busy_over_time: Vec::new(),
        padded: None,
        write_amplification: None,
        host_wait_ns: None,
        pages_per_busy_second: None,
        reshaped: Reshaped::default(),
    }
}

/// LRU at 1.0 and 1.2 ms, EPO at `epo` ms at both points.
fn cells(epo: [f64; 2], half: f64) -> Vec<Cell> {
    vec![
        cell("a", "lru", 1.0, half),
        cell("b", "lru", 1.2, half),
        cell("a", "epo", epo[0], half),
        cell("b", "epo", epo[1], half),
    ]
}

fn verdict(test: &str, cells: &[Cell]) -> Verdict {
    let text = format!(
        r#"
paper = "p"
[[figure]]
id = "1"
title = "t"
x = "x"
points = [{{ setting = "a", x = 1 }}, {{ setting = "b", x = 2 }}]
[[claim]]
id = "c"
place = "here"
text = "it is so"
figure = "1"
test = {{ {test} }}
"#
    );
    let expected = Expected::from_toml(&text).unwrap();
    let source = Source {
        name: "w".into(),
        of: "w".into(),
        kind: Kind::Generator,
    };
    let judged = judge(&expected, &[source], cells);
    assert_eq!(judged.len(), 1);
    judged[0].verdict
}

const GAIN: &str = r#"kind = "gain", metric = "mean-response", scheme = "epo", than = "lru", percent = 40.0, tolerance = 5.0"#;

#[test]
fn a_gain_holds_in_size_in_direction_or_not_at_all() {
    // 40 % at both points; 10 and 20 %; slower.
    assert_eq!(verdict(GAIN, &cells([0.6, 0.72], 0.0)), Verdict::Holds);
    assert_eq!(
        verdict(GAIN, &cells([0.9, 0.96], 0.0)),
        Verdict::DirectionOnly
    );
    assert_eq!(verdict(GAIN, &cells([1.5, 1.5], 0.0)), Verdict::DoesNotHold);
    // 30 and 50 % make 40 % on average.
    assert_eq!(verdict(GAIN, &cells([0.7, 0.6], 0.0)), Verdict::Holds);
}

#[test]
fn wide_intervals_and_missing_runs_leave_a_claim_open() {
    assert_eq!(
        verdict(GAIN, &cells([0.9, 0.96], 0.5)),
        Verdict::CannotBeTold
    );
    let mut missing = cells([0.6, 0.72], 0.0);
    missing.pop();
    assert_eq!(verdict(GAIN, &missing), Verdict::CannotBeTold);
    let mut never_full = cells([0.6, 0.72], 0.0);
    never_full[3].mean_ns = None;
    assert_eq!(verdict(GAIN, &never_full), Verdict::CannotBeTold);
}

#[test]
fn rates_gain_the_other_way_round() {
    for metric in ["throughput", "reciprocal"] {
        let test = format!(
            r#"kind = "gain", metric = "{metric}", scheme = "epo", than = "lru", percent = 100.0, tolerance = 1.0"#
        );
        assert_eq!(verdict(&test, &cells([0.5, 0.6], 0.0)), Verdict::Holds);
        assert_eq!(
            verdict(&test, &cells([2.0, 2.0], 0.0)),
            Verdict::DoesNotHold
        );
    }
}

#[test]
fn changes_have_a_sign() {
    let change = |percent: &str| {
        let test = format!(
            r#"kind = "change", metric = "mean-response", scheme = "lru", from = "a", to = "b", percent = {percent}"#
        );
        verdict(&test, &cells([1.0, 1.0], 0.0))
    };
    // It grows by 20 %.
    assert_eq!(change("20.0, tolerance = 1.0"), Verdict::Holds);
    assert_eq!(change("60.0, tolerance = 1.0"), Verdict::DirectionOnly);
    assert_eq!(change("-20.0, tolerance = 1.0"), Verdict::DoesNotHold);
    assert_eq!(change("10.0"), Verdict::Holds);
    assert_eq!(change("30.0"), Verdict::DoesNotHold);
    assert_eq!(change("-10.0"), Verdict::DoesNotHold);
    let not_better = |scheme: &str, from: &str, to: &str| {
        let test = format!(
            r#"kind = "not-better", metric = "mean-response", scheme = "{scheme}", from = "{from}", to = "{to}", percent = 5.0"#
        );
        verdict(&test, &cells([1.0, 0.97], 0.0))
    };
    // By 20 % worse, by 17 % better, by 3 % better.
    assert_eq!(not_better("lru", "a", "b"), Verdict::Holds);
    assert_eq!(not_better("lru", "b", "a"), Verdict::DoesNotHold);
    assert_eq!(not_better("epo", "a", "b"), Verdict::Holds);
}

#[test]
fn flat_best_worst_and_values() {
    let cells = cells([0.9, 1.1], 0.0);
    let flat = |schemes: &str, percent: &str| {
        let test = format!(
            r#"kind = "flat", metric = "mean-response", schemes = {schemes}, percent = {percent}"#
        );
        verdict(&test, &cells)
    };
    assert_eq!(flat(r#"["lru"]"#, "21.0"), Verdict::Holds);
    assert_eq!(flat(r#"["epo"]"#, "21.0"), Verdict::DoesNotHold);
    assert_eq!(flat(r#"["lru", "epo"]"#, "21.0"), Verdict::DoesNotHold);
    let ranked = |kind: &str, scheme: &str, other: &str| {
        let test = format!(
            r#"kind = "{kind}", metric = "mean-response", scheme = "{scheme}", among = ["{other}"]"#
        );
        verdict(&test, &cells)
    };
    assert_eq!(ranked("best", "epo", "lru"), Verdict::Holds);
    assert_eq!(ranked("best", "lru", "epo"), Verdict::DoesNotHold);
    assert_eq!(ranked("worst", "lru", "epo"), Verdict::Holds);
    // By half a percent is not better.
    let near = r#"kind = "best", metric = "mean-response", scheme = "epo", among = ["lru"]"#;
    assert_eq!(
        verdict(near, &self::cells([0.995, 1.194], 0.0)),
        Verdict::DoesNotHold
    );
    // A scheme is no better than itself.
    assert_eq!(ranked("best", "epo", "epo"), Verdict::DoesNotHold);
    let value = |ms: &str| {
        let test = format!(
            r#"kind = "value", scheme = "lru", setting = "b", ms = {ms}, tolerance = 10.0"#
        );
        verdict(&test, &cells)
    };
    assert_eq!(value("1.25"), Verdict::Holds);
    assert_eq!(value("1.5"), Verdict::DoesNotHold);
    let at_least = |ms: &str| {
        let test =
            format!(r#"kind = "at-least", schemes = ["lru", "epo"], setting = "a", ms = {ms}"#);
        verdict(&test, &cells)
    };
    assert_eq!(at_least("0.9"), Verdict::Holds);
    assert_eq!(at_least("0.95"), Verdict::DoesNotHold);
}
