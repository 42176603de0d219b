//! Finds the line of a key in a drive file, with a small subset of TOML.
//!
//! It recognises `key = ...` under `[table]` headers, as drive files are written. Other notations (inline tables, quoted or
//! dotted keys) are located by their table or not at all; the error then gives the key alone.

use std::ops::Range;

/// Iterates over the lines of a text, each with its byte offset.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let begin = *at;
        *at += line.len();
        Some((begin, line.trim_end()))
    })
}

fn table_of(line: &str) -> Option<&str> {
    let inner = line.trim_start().strip_prefix('[')?;
    Some(inner.split(']').next().unwrap_or_default().trim())
}

fn key_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let key = line.split('=').next()?.trim_end();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (line.contains('=') && !key.is_empty() && key.chars().all(plain)).then_some(key)
}

/// Returns the line of a byte offset, counted from 1.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|&b| b == b'\n').count() + 1
}

/// Returns the byte offset of a line and a column, both counted from 1.
pub(super) fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let begin = lines(text).nth(line.saturating_sub(1));
    let at = begin.map_or(text.len(), |(at, _)| at + column.saturating_sub(1));
    at.min(text.len())
}

/// Returns the range of the token at an offset: a word, a value or a string.
pub(super) fn token_at(text: &str, at: usize) -> Range<usize> {
    let at = (0..=at)
        .rev()
        .find(|&i| text.is_char_boundary(i))
        .unwrap_or(0);
    let rest = &text[at..];
    let line = rest.split('\n').next().unwrap_or_default();
    let len = match line.find([' ', '=', '#', ',', ']']) {
        Some(0) | None => line.trim_end().len(),
        Some(end) => end,
    };
    at..at + len
}

/// Returns the key set on a line (counted from 1), with its table.
pub(super) fn key_at(text: &str, line: usize) -> Option<String> {
    let mut table = "";
    for (_, content) in lines(text).take(line) {
        table = table_of(content).unwrap_or(table);
    }
    let (_, content) = lines(text).nth(line.checked_sub(1)?)?;
    match (key_of(content), table) {
        (Some(key), "") => Some(key.to_owned()),
        (Some(key), table) => Some(format!("{table}.{key}")),
        (None, _) => table_of(content).map(str::to_owned),
    }
}

/// Returns the range of the line that sets `table.key`, or of the table's header if the key is not set.
pub(super) fn span_of(text: &str, key: &str) -> Option<Range<usize>> {
    let (wanted_table, wanted_key) = key.rsplit_once('.').unwrap_or(("", key));
    let span = |at: usize, line: &str| {
        let begin = at + line.len() - line.trim_start().len();
        begin..at + line.len()
    };
    let (mut table, mut header) = ("", None);
    for (at, line) in lines(text) {
        if let Some(found) = table_of(line) {
            table = found;
            if found == wanted_table {
                header = Some(span(at, line));
            }
        } else if table == wanted_table && key_of(line) == Some(wanted_key) {
            return Some(span(at, line));
        }
    }
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "# a drive\ncapacity = \"1GiB\"\n\n[flash]\n  page = 4 # small\n[flash.deep]\npage = 5\n";

    #[test]
    fn a_key_is_found_in_its_own_table() {
        let at = |key| span_of(TEXT, key).map(|s| &TEXT[s]);
        assert_eq!(at("capacity"), Some("capacity = \"1GiB\""));
        assert_eq!(at("flash.page"), Some("page = 4 # small"));
        assert_eq!(at("flash.deep.page"), Some("page = 5"));
        assert_eq!(at("flash.absent"), Some("[flash]"));
        assert_eq!(at("host.absent"), None);
    }

    #[test]
    fn a_line_is_named_by_its_key() {
        assert_eq!(key_at(TEXT, 2).as_deref(), Some("capacity"));
        assert_eq!(key_at(TEXT, 5).as_deref(), Some("flash.page"));
        assert_eq!(key_at(TEXT, 6).as_deref(), Some("flash.deep"));
        assert_eq!(key_at(TEXT, 1), None);
        assert_eq!(key_at(TEXT, 99), None);
    }

    #[test]
    fn places_stay_within_the_text() {
        assert_eq!(line_of(TEXT, offset_of(TEXT, 5, 3)), 5);
        assert_eq!(&TEXT[token_at(TEXT, offset_of(TEXT, 5, 3))], "page");
        assert_eq!(offset_of(TEXT, 99, 1), TEXT.len());
        assert_eq!(token_at("ü", 1), 0..2);
        assert_eq!(token_at("", 0), 0..0);
    }
}
