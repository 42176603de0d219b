//! Formats the counters of a program.

use crate::screen::Screen;
use crate::words::{bytes, duration};
use fathom_run::Counted;

/// Returns a counter's name for people.
pub(super) fn name(name: &str) -> String {
    name.replace('-', " ")
}

/// Returns a counter's value with its unit.
pub(super) fn value(counted: &Counted) -> String {
    match (counted.unit.as_str(), counted.value) {
        ("B", value) => bytes(value as u64),
        ("s", seconds) => duration((seconds * 1e9) as u64),
        ("", value) => value.to_string(),
        (unit, value) => format!("{value:.2} {unit}"),
    }
}

/// Returns all counters in two columns, filled one after the other, or in one column if two are too wide; empty if there are
/// none.
pub(super) fn text(counters: &[Counted], screen: Screen) -> String {
    if counters.is_empty() {
        return String::new();
    }
    let two = lines(counters, counters.len().div_ceil(2));
    let fits = |line: &str| {
        screen
            .width
            .is_none_or(|width| line.chars().count() <= width)
    };
    let set = match two.lines().all(fits) {
        true => two,
        false => lines(counters, counters.len()),
    };
    format!("\nwhat the program counted\n{set}\n")
}

/// Lays out the counters in columns of `rows` each.
fn lines(counters: &[Counted], rows: usize) -> String {
    let columns: Vec<Vec<String>> = counters.chunks(rows).map(column).collect();
    let line = |index: usize| {
        let cells = columns.iter().filter_map(|column| column.get(index));
        let cells: Vec<&str> = cells.map(String::as_str).collect();
        format!("  {}\n", cells.join("    "))
    };
    (0..rows).map(line).collect()
}

/// Aligns names left and values right.
fn column(counters: &[Counted]) -> Vec<String> {
    let rows: Vec<(String, String)> = counters.iter().map(|c| (name(&c.name), value(c))).collect();
    let width = |of: fn(&(String, String)) -> &str| {
        let widths = rows.iter().map(|row| of(row).chars().count());
        widths.max().unwrap_or(0)
    };
    let (left, right) = (width(|row| &row.0), width(|row| &row.1));
    let rows = rows.iter();
    rows.map(|(name, value)| format!("{name:<left$}  {value:>right$}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_stand_in_two_columns_that_are_as_wide_as_they_must() {
        let counted = |name: &str, value, unit: &str| Counted {
            name: name.into(),
            value,
            unit: unit.into(),
        };
        let counters = [
            counted("transactions", 500.0, ""),
            counted("bytes-read", 2048.0, "B"),
            counted("of-it", 1.5, "s"),
            counted("rate", 2.3456, "MB/s"),
            counted("files", 7.0, ""),
        ];
        let expected = "\nwhat the program counted
  transactions    500    rate   2.35 MB/s
  bytes read    2 KiB    files          7
  of it         1.5 s\n\n";
        let wide = Screen::default();
        assert_eq!(text(&counters, wide), expected);
        assert_eq!(text(&[], wide), "");
        let narrow = Screen {
            width: Some(40),
            ..wide
        };
        assert_eq!(text(&counters, narrow).lines().count(), 3 + counters.len());
    }
}
