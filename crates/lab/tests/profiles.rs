//! Profiles that somebody has edited: what is wrong is named with its line and its key.

use crate::store::profile;
use fathom_lab::store::{PROFILE_FILE, StoreError, encode_profile, load_profile};
use fathom_probe::profile::Estimate;
use fathom_probe::{Parameter, Profile, Value, Verdict};
use std::fs;

/// Returns a profile with these answers alone.
fn with<const N: usize>(answers: [(Parameter, Estimate); N]) -> Profile {
    Profile {
        parameters: answers.into(),
        ..profile()
    }
}

#[test]
fn a_broken_profile_is_named_by_line() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(PROFILE_FILE), "fathom = '1'\nseed = 'x'\n").unwrap();
    let error = load_profile(dir.path()).unwrap_err();
    assert!(
        matches!(error, StoreError::Profile { line: Some(2), .. }),
        "{error:?}"
    );
}

/// An edited profile: the line and the key are those of what was edited, and the number is shown as it was written.
#[test]
fn an_edited_answer_is_named_with_its_key_and_number() {
    let eight = Estimate::identified(Value::Count(8), "");
    let eight = eight.between(Value::Count(7), Value::Count(9));
    let profile = with([(Parameter::Parallelism, eight)]);
    let text = encode_profile(&profile).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join(PROFILE_FILE);
    let line = |key: &str| {
        let head = text.find(&format!("\n{key} = ")).unwrap() + 1;
        text[..head].matches('\n').count() + 1
    };
    for (key, was, edited, words) in [
        (
            "value",
            "8",
            "-5.0",
            "`value`: `-5.0` is no whole number of at least 0",
        ),
        ("value", "8", "-5", "`value`: `-5` is no whole number"),
        ("value", "8", "true", "`value`: it takes a number or a word"),
        (
            "value",
            "8",
            "80",
            "`value`: `80` is outside of its interval, which ends at 9",
        ),
        (
            "value",
            "8",
            "5",
            "`value`: `5` is outside of its interval, which begins at 7",
        ),
        (
            "value",
            "8",
            "0",
            "`value`: `0` is outside of its interval, which begins at 7",
        ),
        (
            "low",
            "7",
            "12",
            "`low`: `12` begins an interval that ends at 9",
        ),
    ] {
        let broken = text.replacen(
            &format!("\n{key} = {was}\n"),
            &format!("\n{key} = {edited}\n"),
            1,
        );
        assert_ne!(broken, text);
        fs::write(&place, broken).unwrap();
        let error = load_profile(dir.path()).unwrap_err();
        let StoreError::Profile {
            line: at, detail, ..
        } = &error
        else {
            panic!("{error:?}");
        };
        assert!(detail.contains(words), "{detail}");
        assert_eq!(*at, Some(line(key)), "{detail}");
        assert!(error.help().contains("fathom solve"), "{}", error.help());
    }
}

/// A size of 0 would be divided by, and a value that is not there would be looked for.
#[test]
fn an_identified_answer_has_a_value_above_0() {
    let some = Estimate::identified(Value::Bytes(4096), "");
    let some = some.between(Value::Bytes(0), Value::Bytes(8192));
    let profile = with([(Parameter::FastCache, some)]);
    let text = encode_profile(&profile).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join(PROFILE_FILE);
    fs::write(&place, &text).unwrap();
    assert_eq!(load_profile(dir.path()).unwrap().value, profile);
    for (was, edited, words) in [
        ("value = 4096", "value = 0", "`value`: `0` is no size"),
        (
            "value = 4096\n",
            "",
            "`fast_cache` is identified and has no `value`",
        ),
        (
            "\"identified\"",
            "\"absent\"",
            "`fast_cache` has the value `4096` although it is absent",
        ),
    ] {
        let broken = text.replacen(was, edited, 1);
        assert_ne!(broken, text);
        fs::write(&place, broken).unwrap();
        let error = load_profile(dir.path()).unwrap_err();
        assert!(
            matches!(error, StoreError::Profile { line: Some(_), .. }),
            "{error:?}"
        );
        assert!(error.to_string().contains(words), "{error}");
    }
    let endless = text
        .replacen("unit = \"B\"", "unit = \"ratio\"", 1)
        .replacen("high = 8192", "high = inf", 1);
    fs::write(&place, endless).unwrap();
    let error = load_profile(dir.path()).unwrap_err();
    assert!(error.to_string().contains("not finite"), "{error}");
}

#[test]
fn two_equal_faults_of_a_profile_are_named_both() {
    let answer = || {
        Estimate::identified(Value::Bytes(4096), "").between(Value::Bytes(4096), Value::Bytes(8192))
    };
    let answers = [Parameter::ReadUnit, Parameter::StripeUnit].map(|of| (of, answer()));
    let profile = with(answers);
    let text = encode_profile(&profile)
        .unwrap()
        .replace("\nvalue = 4096\n", "\nvalue = 9999\n");
    let lines: Vec<usize> = (text.lines().zip(1..))
        .filter_map(|(line, number)| (line == "value = 9999").then_some(number))
        .collect();
    assert_eq!(lines.len(), 2);
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(PROFILE_FILE), text).unwrap();
    let StoreError::Profile { line, detail, .. } = load_profile(dir.path()).unwrap_err() else {
        panic!("another fault");
    };
    assert_eq!(line, Some(lines[0]), "{detail}");
    assert!(
        detail.contains("`value`: `9999` is outside of its interval, which ends at 8192"),
        "{detail}"
    );
    assert!(
        detail.contains(&format!("also line {}: `value`", lines[1])),
        "{detail}"
    );
}

/// What another answer has is named among what a verdict may be, and is not at fault.
#[test]
fn a_wrong_verdict_is_named_where_it_stands() {
    let answers = [
        (
            Parameter::ReadUnit,
            Estimate::without_value(Verdict::NotIdentifiable, ""),
        ),
        (
            Parameter::StripeUnit,
            Estimate::without_value(Verdict::Absent, ""),
        ),
    ];
    let profile = with(answers);
    let text = encode_profile(&profile).unwrap();
    let broken = text.replace("verdict = \"absent\"", "verdict = \"certain\"");
    let at = broken
        .lines()
        .position(|line| line == "verdict = \"certain\"")
        .unwrap()
        + 1;
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(PROFILE_FILE), broken).unwrap();
    let StoreError::Profile { line, detail, .. } = load_profile(dir.path()).unwrap_err() else {
        panic!("another fault");
    };
    assert_eq!(line, Some(at), "{detail}");
}
