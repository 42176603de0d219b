//! The rate over threads, processors, adapters and drives.

use super::forms::{NONE, percent, positive, time, whole};
use super::limits::evidence;
use super::names::{Names, Way, short_names};
use super::part::Part;
use super::{PlatformReport, Scaling, rises};
use crate::table::Table;
use crate::words::count;

/// Returns the figures, the table and the evidence of the limits.
pub(super) fn part(report: &PlatformReport) -> Option<Part> {
    let all = &report.scaling;
    if all.is_empty() {
        return None;
    }
    let names = named(all);
    let differ = names.each.iter().any(|name| *name != names.each[0]);
    let first = differ.then(|| "way".to_owned());
    let head = [
        "threads",
        "depth",
        "processors",
        "adapters",
        "drives",
        "IOPS",
        "busy",
        "latency",
        "limit",
    ];
    let head = first.into_iter().chain(head.map(str::to_owned));
    let rows = all.iter().zip(&names.each);
    let rows = rows.map(|(row, name)| {
        let name = differ.then(|| name.clone());
        name.into_iter().chain(cells(row)).collect()
    });
    let table = Table {
        rows: rows.collect(),
        ..Table::new(
            "Rate over threads, processors and drives",
            &note(&names, differ),
            head,
        )
    };
    Some(Part {
        charts: rises::charts(all),
        table,
        rest: evidence(all, differ.then_some(names.each.as_slice())),
        ..Part::default()
    })
}

/// Returns the names of the ways.
fn named(all: &[Scaling]) -> Names {
    let way = |row: &Scaling| Way {
        block_bytes: Some(row.block_bytes),
        ..Way::of(row.path)
    };
    short_names(&all.iter().map(way).collect::<Vec<_>>())
}

fn cells(row: &Scaling) -> [String; 9] {
    let n = |n: u32| count(u64::from(n));
    let or_none =
        |value: f64, show: fn(f64) -> String| positive(value).map_or_else(|| NONE.to_owned(), show);
    let by = row.limit.as_ref().map(|found| found.by.words().to_owned());
    [
        n(row.threads),
        n(row.depth),
        n(row.cores),
        row.adapters.map_or_else(|| NONE.to_owned(), n),
        n(row.drives),
        or_none(row.iops, whole),
        percent(row.utilisation),
        or_none(row.latency_ns, time),
        by.unwrap_or_default(),
    ]
}

fn note(names: &Names, differ: bool) -> String {
    let depth = "Depth: I/Os in flight of each thread. Busy: the share of their time in which the processors compute. Latency: \
                 the mean; the threads may run on any of the processors.";
    let all = match differ {
        true => names.shared.clone(),
        // All rows have the same name.
        false => {
            let name = names.each.first().map_or("", String::as_str);
            [name, &names.shared]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join(", ")
        }
    };
    match all.is_empty() {
        true => depth.to_owned(),
        false => format!("{depth} All: {all}."),
    }
}
