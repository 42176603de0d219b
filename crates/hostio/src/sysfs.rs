//! Attributes in sysfs and procfs: small files of one line.

use std::fs;
use std::path::Path;

/// The names in a directory, in order; none where it cannot be read.
pub(crate) fn names_in(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// What an attribute says; `None` where it is empty or not there.
pub(crate) fn text(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let trimmed = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!trimmed.is_empty()).then(|| trimmed.to_owned())
}

/// An attribute that is a number.
pub(crate) fn number(path: &Path) -> Option<u64> {
    text(path)?.parse().ok()
}

/// The word in brackets of `none [mq-deadline] kyber`; all of it where there are none.
pub(crate) fn chosen(text: &str) -> String {
    let inside = text.split_once('[').and_then(|(_, t)| t.split_once(']'));
    inside.map_or(text, |(word, _)| word).to_owned()
}
