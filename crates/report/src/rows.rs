//! The rows of a study: as text, as a page with the fastest points and a figure per measure, and as comma-separated values
//! (RFC 4180) for spreadsheets and other programs.

use crate::chart::{Axis, Chart, Interval, Mode, Scale, Series, Unit};
use crate::run::words::{ends, time};
use crate::screen::Screen;
use crate::study::{Section, StudyPage, render};
use crate::table::Table;

use fathom_run::compare::Row;
use std::collections::BTreeSet;

/// A finished study.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyRows<'a> {
    /// Name of the study.
    pub name: &'a str,
    /// Description; may be empty.
    pub about: &'a str,
    /// Facts as (name, value), in display order.
    pub facts: Vec<(String, String)>,
    /// Warnings about its runs.
    pub warnings: Vec<String>,
    /// Names of its axes.
    pub axes: Vec<&'a str>,
    /// A row for each workload and combination of points, one point per axis.
    pub rows: &'a [Row],
}

/// Extracts a measure from a row; `None` if the row lacks it.
type Measure = fn(&Row) -> Option<f64>;

/// Returns the study as text with a table.
pub fn text(study: &StudyRows<'_>, screen: Screen) -> String {
    let mut text = format!("{}\n", study.name);
    if !study.about.is_empty() {
        text += &format!("{}\n", study.about);
    }
    text + "\n" + &table(study).text(screen)
}

/// Returns the page of the study.
pub fn page(study: &StudyRows<'_>) -> String {
    let workloads = in_order(study.rows.iter().map(|row| row.workload.clone()));
    let fastest = workloads.iter();
    let fastest = fastest.filter_map(|name| fastest_of(name, study.rows));
    render(&StudyPage {
        title: study.name.to_owned(),
        about: study.about.to_owned(),
        facts: study.facts.clone(),
        warnings: study.warnings.clone(),
        sections: vec![Section {
            title: "Results".into(),
            points: fastest.collect(),
            charts: charts(study, &workloads),
            tables: vec![table(study)],
            ..Section::default()
        }],
        ..StudyPage::default()
    })
}

/// A column: its name and its content.
type Column<T> = (&'static str, fn(&Row) -> Option<T>);

/// Columns of the table after the points.
const SHOWN: [Column<String>; 6] = [
    ("mean response", |row| row.response_ns.map(|r| time(r.mean))),
    ("95 % interval", |row| {
        row.response_ns.map(|r| ends(r.low, r.high, time))
    }),
    ("p99", |row| row.p99_ns.map(time)),
    ("accesses/s", |row| {
        Some(format!("{:.0}", row.accesses_per_second))
    }),
    ("write amplification", |row| {
        row.write_amplification.map(|w| format!("{w:.3}"))
    }),
    ("erases", |row| Some(format!("{:.0}", row.erases))),
];

/// Columns of the comma-separated values after the points.
const WRITTEN: [Column<f64>; 8] = [
    ("seeds", |row| Some(row.seeds as f64)),
    ("mean_response_ns", |row| row.response_ns.map(|r| r.mean)),
    ("mean_response_low_ns", |row| row.response_ns?.low),
    ("mean_response_high_ns", |row| row.response_ns?.high),
    ("p99_ns", |row| row.p99_ns),
    ("accesses_per_second", |row| Some(row.accesses_per_second)),
    ("write_amplification", |row| row.write_amplification),
    ("erases", |row| Some(row.erases)),
];

/// Returns the names of the columns.
fn head<'a, T>(
    study: &'a StudyRows<'_>,
    columns: &'a [Column<T>],
) -> impl Iterator<Item = &'a str> {
    let first = std::iter::once("workload").chain(study.axes.iter().copied());
    first.chain(columns.iter().map(|(name, _)| *name))
}

/// Returns the cells of a row: the workload, the points, and these.
fn cells(row: &Row, more: impl IntoIterator<Item = String>) -> Vec<String> {
    let points = row.points.iter().map(|(_, point)| point.clone());
    let first = std::iter::once(row.workload.clone()).chain(points);
    first.chain(more).collect()
}

fn table(study: &StudyRows<'_>) -> Table {
    let row = |row: &Row| {
        cells(
            row,
            SHOWN.map(|(_, of)| of(row).unwrap_or_else(|| "-".to_owned())),
        )
    };
    Table {
        rows: study.rows.iter().map(row).collect(),
        ..Table::new(
            "All rows",
            "A row for each workload and point, over its seeds. The interval holds the true mean in 95 of 100 cases.",
            head(study, &SHOWN),
        )
    }
}

/// Returns a header line and a line per row. Times are in nanoseconds; unknown values are empty.
pub fn csv(study: &StudyRows<'_>) -> String {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let row = |row: &Row| line(cells(row, WRITTEN.map(|(_, of)| number(of(row)))));
    let head = line(head(study, &WRITTEN).map(str::to_owned));
    head + &study.rows.iter().map(row).collect::<String>()
}

fn line(cells: impl IntoIterator<Item = String>) -> String {
    let cells: Vec<String> = cells.into_iter().map(|cell| quoted(&cell)).collect();
    cells.join(",") + "\n"
}

fn quoted(cell: &str) -> String {
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

/// Returns a figure for each measure that some row has, with a series per workload.
fn charts(study: &StudyRows<'_>, workloads: &[String]) -> Vec<Chart> {
    let rows = study.rows;
    let places = in_order(rows.iter().map(place));
    let measures: [(&str, Unit, Measure); 3] = [
        ("mean response time", Unit::Ns, |row| {
            Some(row.response_ns?.mean)
        }),
        ("accesses per second", Unit::Number, |row| {
            Some(row.accesses_per_second)
        }),
        ("write amplification", Unit::Number, |row| {
            row.write_amplification
        }),
    ];
    let there = measures
        .iter()
        .filter(|(.., of)| rows.iter().any(|row| of(row).is_some()));
    let chart = |(title, unit, of): &(&str, Unit, Measure)| {
        let series = (0..).zip(workloads).map(|(look, name)| Series {
            interval: (*unit == Unit::Ns).then(|| interval(name, rows)),
            ..series(name, look, rows, &places, *of)
        });
        Chart {
            title: (*title).to_owned(),
            x: Axis::names(&study.axes.join(", "), places.clone()),
            y: Axis::new(title, *unit, Scale::Zero),
            series: series.collect(),
            ..Chart::default()
        }
    };
    there.map(chart).collect()
}

/// Returns the label of a row: its point on each axis.
fn place(row: &Row) -> String {
    let points: Vec<&str> = row.points.iter().map(|(_, point)| point.as_str()).collect();
    match points.is_empty() {
        true => "as the study says".to_owned(),
        false => points.join(", "),
    }
}

/// Removes duplicates, keeping the first occurrences in order.
fn in_order(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    all.filter(|one| seen.insert(one.clone())).collect()
}

fn of_workload<'a>(name: &'a str, rows: &'a [Row]) -> impl Iterator<Item = &'a Row> {
    rows.iter().filter(move |row| row.workload == name)
}

/// Returns the series of a workload.
fn series(name: &str, look: usize, rows: &[Row], places: &[String], of: Measure) -> Series {
    let at = |row: &Row| places.iter().position(|one| *one == place(row));
    let point = |row: &Row| (at(row).unwrap_or(0) as f64, of(row));
    Series::new(name, look, Mode::Marks, of_workload(name, rows).map(point))
}

/// Returns the intervals of a workload's mean response times.
fn interval(name: &str, rows: &[Row]) -> Interval {
    let end = |of: fn(fathom_run::Interval) -> Option<f64>| {
        let each = of_workload(name, rows).map(move |row| row.response_ns.and_then(of));
        each.map(|end| end.unwrap_or(f64::NAN)).collect()
    };
    Interval::of_95_percent(end(|response| response.low), end(|response| response.high))
}

/// Returns a sentence on the points of a workload with the shortest and the longest mean response time; `None` if there is
/// only one point.
fn fastest_of(name: &str, rows: &[Row]) -> Option<String> {
    let mean = |row: &Row| row.response_ns.map(|response| response.mean);
    let mut all: Vec<(f64, String)> = of_workload(name, rows)
        .filter_map(|row| Some((mean(row)?, place(row))))
        .collect();
    all.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let ((shortest, fast), (longest, slow)) = (all.first()?, all.last()?);
    (all.len() > 1).then(|| {
        format!(
            "{name}: {fast} has the shortest mean response time, {}; {slow} the longest, {}, {:.2} times as long.",
            time(*shortest),
            time(*longest),
            longest / shortest
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_commas_and_quotes_are_quoted() {
        let cells = ["a", "b,c", "say \"d\"", ""].map(str::to_owned);
        assert_eq!(line(cells), "a,\"b,c\",\"say \"\"d\"\"\",\n");
    }
}
