//! A part of the report: a table with sentences and figures, for terminal and page alike.

use crate::chart::Chart;
use crate::table::Table;

/// A part.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    /// Sentences above the table.
    pub(super) lead: Vec<String>,
    /// Its figures; only the page has them.
    pub(super) charts: Vec<Chart>,
    /// Its table, with the heading of the part.
    pub(super) table: Table,
    /// Sentences below the table.
    pub(super) rest: Vec<String>,
}

/// What a whole has beyond its parts, if that is more than rounding; negative if the parts are more.
pub(super) fn unattributed(whole: f64, parts: impl Iterator<Item = f64>) -> Option<f64> {
    const ROUNDING: f64 = 1e-3;
    let rest = whole - parts.filter(|part| part.is_finite()).sum::<f64>();
    (rest.abs() > ROUNDING * whole.abs() && rest.is_finite()).then_some(rest)
}

/// A row of cells, unless there is nothing in it.
pub(super) fn row(name: &str, cells: impl Iterator<Item = String>) -> Option<Vec<String>> {
    let row: Vec<String> = std::iter::once(name.to_owned()).chain(cells).collect();
    let something = row[1..].iter().any(|cell| cell != super::forms::NONE);
    something.then_some(row)
}
