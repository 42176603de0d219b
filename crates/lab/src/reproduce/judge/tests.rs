//! Tests of the verdicts, on made-up runs.

use super::super::assume::judge;
use super::super::expected::Statements;
use super::*;
use crate::study::{self, Finished, Study};
use Verdict::{CannotBeTold, DirectionOnly, DoesNotHold, Holds};
use fathom_base::Dur;
use fathom_run::{Interval, RunRecord, Side, Totals};

const STUDY: &str = r#"
name = "s"
drive = "model:ssd-a"
axis = [
    { name = "setting", point = [{ name = "a" }, { name = "b" }] },
    { name = "scheme", point = [{ name = "lru" }, { name = "epo" }] },
]
workload = [{ name = "w", generate = { generator = "uniform" } }]
"#;

/// Totals of 1 MB in `ms` milliseconds, with a mean response time of `ms`.
fn totals(ms: f64, half_ms: f64) -> Totals {
    let mean = ms * 1e6;
    let response_ns = Interval {
        mean,
        low: Some(mean - half_ms * 1e6),
        high: Some(mean + half_ms * 1e6),
    };
    Totals {
        all: Some(Side {
            count: 100,
            bytes: 1_000_000,
            response_ns,
            service_mean_ns: mean,
            p50_ns: 0,
            p90_ns: 0,
            p99_ns: 0,
            p999_ns: 0,
            max_ns: 0,
        }),
        duration: Dur(mean as u64),
        ..Totals::default()
    }
}

/// LRU takes 1.0 and 1.2 ms, EPO takes `epo` ms at both points.
fn runs(epo: [f64; 2], half: f64) -> Vec<Finished> {
    let runs = study::plan(&Study::from_toml(STUDY).unwrap()).unwrap();
    let finished = runs.into_iter().zip([1.0, epo[0], 1.2, epo[1]]);
    finished
        .map(|(run, ms)| Finished {
            record: RunRecord {
                fathom: String::new(),
                plan: run.plan.with(run.plan.workload.record()),
                drive: None,
                totals: totals(ms, half),
                reshaped: None,
                host: None,
                queue: None,
                counters: Vec::new(),
                work: None,
                wear: None,
                cut_short: None,
                notes: Vec::new(),
                warnings: Vec::new(),
            },
            run,
        })
        .collect()
}

/// Judges a statement on the mean response time, or on the metric in `more`.
fn judged(more: &str, test: &str, runs: &[Finished]) -> Judged {
    let metric = match more.contains("metric") {
        true => "",
        false => "metric = \"mean-response\"",
    };
    let text = format!(
        r#"
paper = "p"
[[row]]
name = "row"
axis = "setting"
title = "t"
points = {{ a = 1, b = 2 }}
[[figure]]
id = "1"
title = "t"
says = "it is so"
found = "it is"
[[figure.claim]]
text = "it is so"
study = "s"
{metric}
{more}
test = {{ {test} }}
"#
    );
    let statements = Statements::from_toml(&text).unwrap();
    let runs = Look {
        runs: runs.iter().collect(),
        rows: &statements.rows,
        within: true,
    };
    judge(&statements.figures[0].claims[0], &runs)
}

fn verdict(test: &str, runs: &[Finished]) -> Verdict {
    judged("", test, runs).verdict
}

const GAIN: &str = r#"kind = "gain", of = { scheme = "epo" }, than = { scheme = "lru" }, over = "row", claimed = { near = { value = 40.0, within = 5.0 } }"#;

#[test]
fn a_gain_holds_in_size_in_direction_or_not_at_all() {
    // 40 % at both points; 10 and 20 %; slower.
    assert_eq!(verdict(GAIN, &runs([0.6, 0.72], 0.0)), Holds);
    assert_eq!(verdict(GAIN, &runs([0.9, 0.96], 0.0)), DirectionOnly);
    assert_eq!(verdict(GAIN, &runs([1.5, 1.5], 0.0)), DoesNotHold);
    // 30 and 50 % give 40 % on average.
    let judged = judged("", GAIN, &runs([0.7, 0.6], 0.0));
    assert_eq!(judged.verdict, Holds);
    assert_eq!(judged.measured, "40.0 %");
    assert_eq!(judged.size, Some(40.0));
}

#[test]
fn a_gain_is_over_the_best_of_the_others() {
    // LRU's best is 1.0 ms.
    let best = r#"kind = "gain", of = { scheme = "epo", setting = "b" }, than = [{ setting = "b", scheme = "lru" }, { setting = "a", scheme = "lru" }], claimed = { near = { value = 20.0, within = 1.0 } }"#;
    assert_eq!(verdict(best, &runs([9.0, 0.8], 0.0)), Holds);
    let taken = |take: &str, percent: f64| {
        let test = format!(
            r#"kind = "gain", of = {{ scheme = "epo" }}, than = {{ scheme = "lru" }}, over = "setting", take = "{take}", claimed = {{ near = {{ value = {percent:?}, within = 0.1 }} }}"#
        );
        verdict(&test, &runs([0.7, 0.6], 0.0))
    };
    assert_eq!(taken("highest", 50.0), Holds);
    assert_eq!(taken("lowest", 30.0), Holds);
}

#[test]
fn wide_intervals_and_missing_runs_leave_a_claim_open_and_say_why() {
    let open = judged("", GAIN, &runs([0.9, 0.96], 0.5));
    assert_eq!(open.verdict, CannotBeTold);
    assert_eq!(open.why, "the interval does not decide");
    let mut missing = runs([0.6, 0.72], 0.0);
    missing.pop();
    let missing = judged("", GAIN, &missing);
    assert_eq!(missing.verdict, CannotBeTold);
    assert_eq!(missing.why, "a run that it needs was left out");
    let mut never_full = runs([0.6, 0.72], 0.0);
    never_full[3].record.totals.all = None;
    let never_full = judged("", GAIN, &never_full);
    assert_eq!(never_full.verdict, CannotBeTold);
    assert!(
        never_full.why.contains("buffer never was full"),
        "{never_full:?}"
    );
    let none = judged("assuming = [\"scheme\"]", GAIN, &[]);
    assert_eq!(none.verdict, CannotBeTold);
    assert_eq!(none.why, "the runs that it needs were left out");
}

#[test]
fn rates_gain_the_other_way_round() {
    for metric in ["throughput", "inverse-response"] {
        let metric = format!("metric = \"{metric}\"");
        let test = GAIN.replace("40.0, within = 5.0", "100.0, within = 1.0");
        let of = |epo| judged(&metric, &test, &runs(epo, 0.0)).verdict;
        assert_eq!(of([0.5, 0.6]), Holds);
        assert_eq!(of([2.0, 2.0]), DoesNotHold);
    }
}

#[test]
fn changes_have_a_sign() {
    let change = |claimed: &str| {
        let test = format!(
            r#"kind = "change", of = {{ setting = "b" }}, than = {{ setting = "a" }}, claimed = {{ {claimed} }}"#
        );
        judged("at = { scheme = \"lru\" }", &test, &runs([1.0, 1.0], 0.0)).verdict
    };
    // It grows by 20 %.
    assert_eq!(change("near = { value = 20.0, within = 1.0 }"), Holds);
    assert_eq!(
        change("near = { value = 60.0, within = 1.0 }"),
        DirectionOnly
    );
    assert_eq!(
        change("near = { value = -20.0, within = 1.0 }"),
        DoesNotHold
    );
    assert_eq!(change("at-least = 10.0"), Holds);
    assert_eq!(change("at-least = 30.0"), DoesNotHold);
    assert_eq!(change("at-most = -10.0"), DoesNotHold);
    // It improves by at most 5 %: 20 % worse, 17 % better, 3 % better.
    let not_better = |scheme: &str, from: &str, to: &str| {
        let test = format!(
            r#"kind = "change", of = {{ setting = "{to}" }}, than = {{ setting = "{from}" }}, claimed = {{ at-least = -5.0 }}"#
        );
        let at = format!("at = {{ scheme = \"{scheme}\" }}");
        judged(&at, &test, &runs([1.0, 0.97], 0.0)).verdict
    };
    assert_eq!(not_better("lru", "a", "b"), Holds);
    assert_eq!(not_better("lru", "b", "a"), DoesNotHold);
    assert_eq!(not_better("epo", "a", "b"), Holds);
}

#[test]
fn a_drift_is_from_the_first_point_and_each_counts() {
    let drift = |schemes: &str, epo: [f64; 2], half: f64| {
        let test = format!(
            r#"kind = "drift", of = {schemes}, over = "row", claimed = {{ within = 21.0 }}"#
        );
        judged("", &test, &runs(epo, half))
    };
    let lru = r#"{ scheme = "lru" }"#;
    let epo = r#"{ scheme = "epo" }"#;
    let both = r#"[{ scheme = "lru" }, { scheme = "epo" }]"#;
    assert_eq!(drift(lru, [0.9, 1.1], 0.0).verdict, Holds);
    assert_eq!(drift(epo, [0.9, 1.1], 0.0).verdict, DoesNotHold);
    let failed = drift(both, [0.9, 1.1], 0.0);
    assert_eq!(failed.verdict, DoesNotHold);
    assert_eq!(
        failed.measured,
        "20.0 % (lru, b), 22.2 % (epo, b); as claimed in 1 of 2"
    );
    assert_eq!(failed.why, "fails for epo, b");
    // A figure that does not depend on the axis has no interval.
    assert_eq!(drift(epo, [1.0, 1.0], 0.9).verdict, Holds);
    assert_eq!(drift(epo, [1.0, 1.01], 0.9).verdict, CannotBeTold);
}

#[test]
fn the_best_is_the_best_everywhere() {
    let ranked = |claimed: &str, scheme: &str, other: &str, epo: [f64; 2]| {
        let test = format!(
            r#"kind = "gain", of = {{ scheme = "{scheme}" }}, than = {{ scheme = "{other}" }}, over = "row", take = "each", claimed = "{claimed}""#
        );
        judged("", &test, &runs(epo, 0.0))
    };
    let epo = [0.9, 1.1];
    assert_eq!(ranked("better", "epo", "lru", epo).verdict, Holds);
    assert_eq!(ranked("better", "lru", "epo", epo).verdict, DoesNotHold);
    assert_eq!(ranked("worse", "lru", "epo", epo).verdict, Holds);
    // Half a percent is not better, and a scheme is not better than itself.
    assert_eq!(
        ranked("better", "epo", "lru", [0.995, 1.194]).verdict,
        DoesNotHold
    );
    assert_eq!(ranked("better", "epo", "epo", epo).verdict, DoesNotHold);
    let one = ranked("better", "epo", "lru", [0.9, 1.3]);
    assert_eq!(one.verdict, DoesNotHold);
    assert_eq!(one.why, "fails for lru, b");
}

#[test]
fn values_ratios_and_spreads() {
    let runs = runs([0.9, 1.1], 0.0);
    let value = |ms: f64| {
        let test = format!(
            r#"kind = "value", of = {{ scheme = "lru", setting = "b" }}, claimed = {{ about = {{ value = {ms:?}, within = {:?} }} }}"#,
            ms / 10.0
        );
        verdict(&test, &runs)
    };
    assert_eq!(value(1.25), Holds);
    assert_eq!(value(1.5), DoesNotHold);
    let at_least = |ms: f64| {
        let test = format!(
            r#"kind = "value", of = [{{ scheme = "lru" }}, {{ scheme = "epo" }}], claimed = {{ at-least = {ms:?} }}"#
        );
        judged("at = { setting = \"a\" }", &test, &runs).verdict
    };
    assert_eq!(at_least(0.9), Holds);
    assert_eq!(at_least(0.95), DoesNotHold);
    let ratio = r#"kind = "ratio", of = { setting = "b" }, than = { setting = "a" }, claimed = { about = { value = 1.2, within = 0.01 } }"#;
    let lru = "at = { scheme = \"lru\" }";
    assert_eq!(judged(lru, ratio, &runs).verdict, Holds);
    let spread = r#"kind = "spread", over = "scheme", claimed = { at-least = 11.0 }"#;
    let at = "at = { setting = \"a\" }";
    assert_eq!(judged(at, spread, &runs).measured, "11.1 %");
}
