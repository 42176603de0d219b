//! The terminal's texts, to the byte.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails like the test")]

mod common;

use common::{KIB, MIB};
use fathom_probe::Parameter;
use fathom_probe::{Value, Verdict};
use fathom_report::diff::{Outcome, diff};
use fathom_report::screen::Screen;
use fathom_report::{diff as difference, text};

#[test]
fn the_table_is_aligned_and_no_wider_than_it_says() {
    let mut profile = common::profile(&common::record());
    profile.parameters.remove(&Parameter::Prefetch);
    let table = text::summary(&profile);
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
    let mut styled = text::summary_on(&profile, coloured);
    assert!(styled.contains("\u{1b}[32midentified\u{1b}[0m"));
    for code in ["[32m", "[36m", "[33m", "[31m", "[0m"] {
        styled = styled.replace(&format!("\u{1b}{code}"), "");
    }
    assert_eq!(styled, text::summary(&profile));
}

#[test]
fn an_empty_profile_says_so() {
    let mut profile = common::profile(&common::record());
    profile.parameters.clear();
    assert!(text::summary(&profile).contains("No parameter was measured."));
}

#[test]
fn a_drive_name_reaches_the_terminal_without_control_characters() {
    let mut profile = common::profile(&common::record());
    profile.target.name = "disk\u{1b}]0;owned\u{7}".to_owned();
    let fifo = profile.parameters.get_mut(&Parameter::WritePolicy).unwrap();
    fifo.value = Some(Value::Word("\u{1b}[2J".to_owned()));
    let all = text::summary(&profile) + &difference::text(&diff(&profile, &profile));
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
    insta::assert_snapshot!(difference::text(&diff));
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
