//! The cost of copies: a line through the clocks of buffered I/O over its length.

use super::forms::{NONE, Work, decimal, interval, percent};
use super::part::Part;
use super::{Copy, PlatformReport, charts};
use crate::table::Table;
use crate::words::bytes;

/// Returns the sentence, the figure and the points.
pub(super) fn part(report: &PlatformReport) -> Option<Part> {
    let copy = report.copy.as_ref()?;
    let work = Work::of(report);
    let unit = match work {
        Work::Clocks => " (clocks)",
        Work::Time => "",
    };
    let head = ["size", "buffered beyond direct", "line"].map(|name| match name {
        "size" => name.to_owned(),
        name => format!("{name}{unit}"),
    });
    let rows = copy.points.iter().filter(|[size, _]| size.is_finite());
    let rows = rows.map(|&[size, clocks]| {
        let line = copy.fixed + copy.per_byte * size;
        vec![bytes(size as u64), work.cell(clocks), work.cell(line)]
    });
    let table = Table {
        rows: rows.collect(),
        ..Table::new("Copies through the page cache", "", head)
    };
    Some(Part {
        lead: vec![told(copy, work)],
        charts: charts::copy(copy, work).into_iter().collect(),
        table,
        ..Part::default()
    })
}

fn told(copy: &Copy, work: Work) -> String {
    if !copy.per_byte.is_finite() {
        return "The cost of copies could not be told.".to_owned();
    }
    let between = interval(copy.interval, decimal).replace('–', "to");
    let between = match between == NONE {
        true => String::new(),
        false => format!(" (95 % interval {between})"),
    };
    let fixed = match copy.fixed.is_finite() {
        true => format!(" and {} for each read", work.told(copy.fixed)),
        false => String::new(),
    };
    let explains = match percent(copy.r_squared) {
        none if none == NONE => String::new(),
        share => format!(" The line explains {share} of the variance."),
    };
    let unit = match work {
        Work::Clocks => "clocks",
        Work::Time => "ns",
    };
    format!(
        "A buffered read costs more than a direct one: {} {unit} for each byte{between}{fixed}.{explains}",
        decimal(copy.per_byte)
    )
}
