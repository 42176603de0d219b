//! The page of a study: which point is the fastest, figures, and the table.

use fathom_lab::study::{Finished, Row, Study};
use fathom_report::chart::{Axis, Chart, Interval, Mode, Scale, Series, Unit};
use fathom_report::study::{Section, StudyPage, render};
use fathom_report::table::Table;
use fathom_report::text::human_duration;
use std::collections::BTreeSet;

/// A measure of a row.
type Measure = fn(&Row) -> Option<f64>;

/// The page. `cells` is the table of the terminal, the head first.
pub(super) fn page(
    study: &Study,
    finished: &[Finished],
    rows: &[Row],
    mut cells: Vec<Vec<String>>,
) -> String {
    let workloads = in_order(rows.iter().map(|row| row.workload.clone()));
    let fastest = workloads.iter().filter_map(|name| fastest(name, rows));
    let table = Table {
        title: "All rows".into(),
        note: "A row for each workload and point, over its seeds. The interval holds the true mean in 95 of 100 cases.".into(),
        head: cells.remove(0),
        rows: cells,
    };
    render(&StudyPage {
        title: study.name.clone(),
        about: study.about.clone(),
        facts: facts(study, finished),
        warnings: warnings(finished),
        sections: vec![Section {
            title: "Results".into(),
            points: fastest.collect(),
            charts: charts(study, rows, &workloads),
            tables: vec![table],
            ..Section::default()
        }],
        ..StudyPage::default()
    })
}

/// A figure for each measure that there is, with a series for each workload.
fn charts(study: &Study, rows: &[Row], workloads: &[String]) -> Vec<Chart> {
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
            look,
            interval: (*unit == Unit::Ns).then(|| interval(name, rows)),
            ..series(name, rows, &places, *of)
        });
        Chart {
            title: (*title).to_owned(),
            x: Axis::names(&axes(study), places.clone()),
            y: Axis::new(title, *unit, Scale::Zero),
            series: series.collect(),
            ..Chart::default()
        }
    };
    there.map(chart).collect()
}

fn facts(study: &Study, finished: &[Finished]) -> Vec<(String, String)> {
    let fathom = finished.first().map(|run| run.record.fathom.clone());
    let seeds: Vec<String> = study.seeds.iter().map(ToString::to_string).collect();
    [
        ("drive", study.drive.clone()),
        ("runs", finished.len().to_string()),
        ("seeds", seeds.join(", ")),
        ("Fathom", fathom.unwrap_or_default()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

/// What a reader must know of any of the runs, once.
fn warnings(finished: &[Finished]) -> Vec<String> {
    let all = finished.iter().flat_map(|run| &run.record.warnings);
    let all: BTreeSet<&String> = all.collect();
    all.into_iter().cloned().collect()
}

/// The point of each axis.
fn place(row: &Row) -> String {
    let points: Vec<&str> = row.points.iter().map(|(_, point)| point.as_str()).collect();
    match points.is_empty() {
        true => "as the study says".to_owned(),
        false => points.join(", "),
    }
}

fn axes(study: &Study) -> String {
    let names: Vec<&str> = study.axes.iter().map(|axis| axis.name.as_str()).collect();
    names.join(", ")
}

/// Each once, in the order in which they come.
fn in_order(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    all.filter(|one| seen.insert(one.clone())).collect()
}

fn of_workload<'a>(name: &'a str, rows: &'a [Row]) -> impl Iterator<Item = &'a Row> {
    rows.iter().filter(move |row| row.workload == name)
}

/// A workload in a figure.
fn series(name: &str, rows: &[Row], places: &[String], of: Measure) -> Series {
    let at = |row: &Row| places.iter().position(|one| *one == place(row));
    Series {
        name: name.to_owned(),
        mode: Mode::Marks,
        x: of_workload(name, rows)
            .map(|row| at(row).unwrap_or(0) as f64)
            .collect(),
        y: of_workload(name, rows).map(of).collect(),
        ..Series::default()
    }
}

/// The intervals of the mean response times of a workload.
fn interval(name: &str, rows: &[Row]) -> Interval {
    let end = |of: fn(fathom_run::Interval) -> Option<f64>| {
        let each = of_workload(name, rows).map(move |row| row.response_ns.and_then(of));
        each.map(|end| end.unwrap_or(f64::NAN)).collect()
    };
    Interval {
        what: "95 % interval".into(),
        drawn: true,
        low: end(|response| response.low),
        high: end(|response| response.high),
    }
}

/// Which point of a workload has the shortest mean response time, and what the longest is; nothing where there is one point.
fn fastest(name: &str, rows: &[Row]) -> Option<String> {
    let mean = |row: &Row| row.response_ns.map(|response| response.mean);
    let mut all: Vec<(f64, String)> = of_workload(name, rows)
        .filter_map(|row| Some((mean(row)?, place(row))))
        .collect();
    all.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let ((shortest, fast), (longest, slow)) = (all.first()?, all.last()?);
    let time = |ns: &f64| human_duration(ns.round() as u64);
    (all.len() > 1).then(|| {
        format!(
            "{name}: {fast} has the shortest mean response time, {}; {slow} the longest, {}, {:.2} times as long.",
            time(shortest),
            time(longest),
            longest / shortest
        )
    })
}
