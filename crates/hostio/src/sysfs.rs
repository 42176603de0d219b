//! Reads attributes in sysfs and procfs: small files of one line.

use std::fs;
use std::path::Path;

/// Returns the names in a directory, sorted; empty if it cannot be read.
pub(crate) fn names_in(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Returns the trimmed text of an attribute; `None` if it is empty or missing.
pub(crate) fn text(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let trimmed = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!trimmed.is_empty()).then(|| trimmed.to_owned())
}

/// Returns the value of a numeric attribute.
pub(crate) fn number(path: &Path) -> Option<u64> {
    text(path)?.parse().ok()
}

/// Returns the word in brackets, as in `none [mq-deadline] kyber`, or the whole text if there are no brackets.
pub(crate) fn chosen(text: &str) -> String {
    let inside = text.split_once('[').and_then(|(_, t)| t.split_once(']'));
    inside.map_or(text, |(word, _)| word).to_owned()
}
