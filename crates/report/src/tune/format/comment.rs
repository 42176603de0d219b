//! Comments of the forms: what they are about, the reason of each line, and why a line is missing.

use crate::tune::{Advice, Tuning};
use crate::wrap::clean;
use std::fmt::Write as _;

/// Returns the first comment of a file: the drive, where its figures come from, and where the file belongs.
pub(super) fn head(found: &Tuning, belongs: &str) -> String {
    let drive = match (&found.drive.name, &found.drive.model) {
        (Some(name), Some(model)) => format!("{name}, {model}"),
        (Some(name), None) => name.clone(),
        (None, _) => "a drive that is not here".to_owned(),
    };
    line(&format!(
        "Fathom {}: for {drive}, from the profile of {}.",
        found.fathom, found.profile
    )) + &line(belongs)
}

/// Returns the reason of a setting.
pub(super) fn reason(advice: &Advice) -> String {
    line(&format!(
        "{} ({}): {}.",
        advice.setting, advice.parameter, advice.reason
    ))
}

/// Returns why settings of these families are missing.
pub(super) fn open(found: &Tuning, families: &[&str]) -> String {
    let of = |family: &str| families.contains(&family);
    let mut text = String::new();
    for open in found.open.iter().filter(|open| of(&open.family)) {
        let _ = write!(
            text,
            "{}",
            line(&format!(
                "No {} {}: {}.",
                open.family, open.setting, open.why
            ))
        );
    }
    text
}

/// Returns a line of comment. A drive's identity must not end it.
pub(super) fn line(text: &str) -> String {
    format!("# {}\n", clean(text))
}

/// Returns the advice of a family.
pub(super) fn of<'a>(
    found: &'a Tuning,
    family: &'a str,
) -> impl Iterator<Item = &'a Advice> + Clone {
    let advice = found.advice.iter();
    advice.filter(move |advice| advice.family == family)
}
