//! Tests the terminal's texts, byte for byte.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails like the test")]

mod common;

use common::{KIB, MIB};
use fathom_probe::{Estimate, Method, Parameter, Value, Verdict};
use fathom_report::accuracy::{self, Campaign, Family, MethodTally, Plan, Tally};
use fathom_report::diff::{Outcome, diff};
use fathom_report::screen::Screen;
use fathom_report::{diff as difference, text};
use std::collections::BTreeMap;

#[test]
fn the_table_is_aligned_and_no_wider_than_it_says() {
    let mut profile = common::profile(&common::record());
    profile.parameters.remove(&Parameter::Prefetch);
    let table = text::summary(&profile, Screen::default());
    assert!(
        table.lines().all(|l| l.chars().count() <= text::WIDTH),
        "{table}"
    );
    insta::assert_snapshot!(table);
}

#[test]
fn colour_changes_nothing_but_colour() {
    let profile = common::profile(&common::record());
    let coloured = Screen {
        colour: true,
        ..Screen::default()
    };
    let mut styled = text::summary(&profile, coloured);
    assert!(styled.contains("\u{1b}[32midentified\u{1b}[0m"));
    for code in ["[32m", "[36m", "[33m", "[31m", "[0m"] {
        styled = styled.replace(&format!("\u{1b}{code}"), "");
    }
    assert_eq!(styled, text::summary(&profile, Screen::default()));
}

#[test]
fn an_empty_profile_says_so() {
    let mut profile = common::profile(&common::record());
    profile.parameters.clear();
    assert!(text::summary(&profile, Screen::default()).contains("No parameter was measured."));
}

#[test]
fn a_drive_name_reaches_the_terminal_without_control_characters() {
    let mut profile = common::profile(&common::record());
    profile.target.name = "disk\u{1b}]0;owned\u{7}".to_owned();
    let fifo = profile.parameters.get_mut(&Parameter::WritePolicy).unwrap();
    fifo.value = Some(Value::Word("\u{1b}[2J".to_owned()));
    let all = text::summary(&profile, Screen::default())
        + &difference::text(&diff(&profile, &profile), Screen::default());
    assert!(!all.contains('\u{1b}') && !all.contains('\u{7}'));
}

#[test]
fn every_case_of_a_comparison() {
    let left = common::profile(&common::record());
    let mut right = left.clone();
    right.target.name = "/dev/sdx".to_owned();
    right.seed = 7;
    let answers = &mut right.parameters;
    answers.insert(
        Parameter::ClusteredPage,
        common::size(32 * KIB, 32 * KIB, 32 * KIB),
    );
    answers.insert(
        Parameter::ClusteredBlock,
        common::size(4 * MIB + 768 * KIB, 4 * MIB + 512 * KIB, 5 * MIB),
    );
    answers.insert(
        Parameter::ReadBuffer,
        common::estimate(None, None, Verdict::Absent),
    );
    answers.remove(&Parameter::LogicalBlock);
    let cache = Some(Value::Word("cache".to_owned()));
    answers.insert(
        Parameter::WritePolicy,
        common::estimate(cache, None, Verdict::Identified),
    );

    let diff = diff(&left, &right);
    let outcomes: Vec<_> = diff
        .parameters
        .iter()
        .map(|p| (p.outcome, p.intervals_overlap))
        .collect();
    assert_eq!(
        outcomes,
        [
            (Outcome::Differs, Some(false)),   // 16 KiB against 32 KiB
            (Outcome::Agrees, Some(true)),     // touching at 4.5 MiB
            (Outcome::CannotTell, None),       // missing
            (Outcome::Differs, None),          // identified against absent
            (Outcome::CannotTell, Some(true)), // both inconclusive
            (Outcome::Agrees, None),           // both absent
            (Outcome::Differs, None),          // buffer against cache
        ]
    );
    insta::assert_snapshot!(difference::text(&diff, Screen::default()));
    let json = serde_json::to_string(&diff).unwrap();
    assert_eq!(
        serde_json::from_str::<fathom_report::diff::Diff>(&json).unwrap(),
        diff
    );
}

#[test]
fn a_profile_agrees_with_itself_where_it_knows_something() {
    let profile = common::profile(&common::record());
    let diff = diff(&profile, &profile);
    assert_eq!(diff.count(Outcome::Differs), 0);
    assert_eq!(diff.count(Outcome::Agrees), 6); // all but the inconclusive write buffer
}

#[test]
fn a_value_of_every_unit_is_shown_and_compared() {
    let record = common::record();
    let of = |values: [(Value, Value); 5]| {
        let answers =
            values.map(|(low, high)| Estimate::identified(low.clone(), "").between(low, high));
        let mut profile = common::profile(&record);
        profile.parameters = Parameter::PAPERS.into_iter().zip(answers).collect();
        profile
    };
    let left = of([
        (Value::Count(32), Value::Count(12_345)),
        (Value::Ratio(0.25), Value::Ratio(0.5)),
        (Value::Nanoseconds(47_100), Value::Nanoseconds(1_200_000)),
        (
            Value::BytesPerSecond(512 * MIB),
            Value::BytesPerSecond(1024 * MIB),
        ),
        (Value::PerSecond(0.5), Value::PerSecond(8_000.0)),
    ]);
    let right = of([
        (Value::Count(12_346), Value::Count(20_000)),
        (Value::Ratio(0.5), Value::Ratio(0.75)),
        (Value::Nanoseconds(0), Value::Nanoseconds(47_100)),
        (Value::BytesPerSecond(1), Value::BytesPerSecond(2)),
        (Value::Ratio(0.5), Value::Ratio(0.75)),
    ]);
    let table = text::summary(&left, Screen::default());
    let page = fathom_report::html::render(&record, &left);
    for shown in [
        "32 – 12,345",
        "0.25 – 0.5",
        "47.1 µs – 1.2 ms",
        "512 MiB/s – 1 GiB/s",
        "0.5/s – 8,000/s",
    ] {
        assert!(
            table.contains(shown) && page.contains(shown),
            "{shown} in {table}"
        );
    }
    let outcomes = diff(&left, &right)
        .parameters
        .into_iter()
        .map(|p| p.outcome);
    let expected = [
        Outcome::Differs,
        Outcome::Agrees,
        Outcome::Agrees,
        Outcome::Differs,
        Outcome::CannotTell, // in different units
    ];
    assert_eq!(outcomes.collect::<Vec<_>>(), expected);
}

/// A row for each parameter and method that answers it, Fathom's own first; of many methods only the robust one has tables
/// of its own.
#[test]
fn the_methods_of_a_campaign_stand_side_by_side() {
    let tally = |found: u64, wrong: u64, gib: u64| Tally {
        drives: 4,
        answers: 4,
        identifiable: 3,
        identified: found + wrong,
        found,
        wrong,
        denied: 1,
        open: 3 - found,
        missed: 2 - found.min(2),
        bytes_written: (gib << 30, gib << 32),
        device_ns: (90_000_000_000, 360_000_000_000),
        ..Tally::default()
    };
    let of = |method, rows: &[(Parameter, Tally)]| MethodTally {
        method,
        parameters: rows.iter().cloned().collect(),
        axes: BTreeMap::new(),
        all: rows[0].1.clone(),
    };
    let tallies = [
        of(
            Method::Robust,
            &[
                (Parameter::QueueKnee, tally(2, 0, 2)),
                (Parameter::FastCache, tally(3, 0, 20)),
            ],
        ),
        of(Method::SniaPts, &[(Parameter::FastCache, tally(1, 2, 5))]),
        of(Method::Knee95, &[(Parameter::QueueKnee, tally(1, 1, 0))]),
    ];
    let plan = Plan {
        family: Family::Modern,
        seed: 7,
        skip: 0,
        drives: 4,
        methods: tallies.iter().map(|tally| tally.method).collect(),
        thin: 16,
        parameters: vec![Parameter::QueueKnee, Parameter::FastCache],
    };
    let campaign = Campaign {
        plan: &plan,
        done: 4,
        refused: 0,
        tallies: &tallies,
        answers: &[],
    };
    insta::assert_snapshot!(accuracy::text(&campaign, Screen::default()));
}
