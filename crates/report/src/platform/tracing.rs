//! What tracing cost, and what could not be attributed.

use super::forms::{Work, percent, several, time, whole};
use super::part::Part;
use super::{PlatformReport, Tracing};
use crate::table::Table;
use crate::words::count;
use crate::wrap::clean;

/// Returns the table.
pub(super) fn part(report: &PlatformReport) -> Option<Part> {
    let work = Work::of(report);
    let latency = named(
        super::latency::named(&report.latency).each,
        "latency",
        report.latency.iter().map(|one| &one.tracing),
    );
    let costs = named(
        super::cost::named(&report.costs).each,
        work.name(),
        report.costs.iter().map(|one| &one.tracing),
    );
    let show = |ns: f64| time(ns);
    let latency: Vec<(String, &Tracing)> = latency.collect();
    let costs: Vec<(String, &Tracing)> = costs.collect();
    if latency.is_empty() && costs.is_empty() {
        return None;
    }
    let rows = latency.iter().map(|(name, of)| cells(name, of, &show));
    let of_costs = costs
        .iter()
        .map(|(name, of)| cells(name, of, &|n| work.cell_with_unit(n)));
    let head = [
        "figure",
        "traced",
        "untraced",
        "cost",
        "events a read",
        "attributed",
        "events lost",
    ];
    let note = "Tracing slows a read down. Its cost is subtracted above; a figure is from the reads that could be attributed. Latency is the median; the costs here are those of the program's own threads.";
    let table = Table {
        rows: rows.chain(of_costs).collect(),
        ..Table::new("What tracing cost", note, head)
    };
    let rest = latency
        .iter()
        .chain(&costs)
        .flat_map(|(name, of)| told(name, of));
    Some(Part {
        rest: rest.collect(),
        table,
        ..Part::default()
    })
}

/// Returns what tracing cost each figure that was traced.
fn named<'a>(
    names: Vec<String>,
    what: &'a str,
    all: impl Iterator<Item = &'a Option<Tracing>> + 'a,
) -> impl Iterator<Item = (String, &'a Tracing)> {
    let traced = names.into_iter().zip(all);
    traced.filter_map(move |(name, of)| Some((format!("{what}: {name}"), of.as_ref()?)))
}

fn cells(name: &str, of: &Tracing, show: &dyn Fn(f64) -> String) -> Vec<String> {
    vec![
        name.to_owned(),
        show(of.traced),
        show(of.untraced),
        percent((of.traced - of.untraced) / of.untraced),
        several(of.events),
        percent(of.attributed),
        whole(of.lost as f64),
    ]
}

/// Returns the reasons why reads could not be attributed.
fn rejected(name: &str, of: &Tracing) -> Option<String> {
    let reasons: Vec<String> = of
        .rejected
        .iter()
        .map(|(why, n)| format!("{} {}", count(*n), clean(why)))
        .collect();
    (!reasons.is_empty()).then(|| {
        format!(
            "{name}: reads that could not be attributed, by reason: {}.",
            reasons.join("; ")
        )
    })
}

/// Returns the parts that took no longer than their events cost.
fn hidden(name: &str, of: &Tracing) -> Option<String> {
    let parts: Vec<_> = of.hidden.iter().map(|part| clean(part)).collect();
    (!parts.is_empty()).then(|| {
        format!(
            "{name}: shorter than what tracing costs, and left out: {}.",
            parts.join(", ")
        )
    })
}

/// Returns all remarks on a figure.
fn told(name: &str, of: &Tracing) -> impl Iterator<Item = String> {
    let doubt = of.doubt.as_ref();
    let doubt = doubt.map(|why| format!("{name}: not divided into parts: {}.", clean(why)));
    let hidden = hidden(name, of).filter(|_| of.doubt.is_none());
    rejected(name, of).into_iter().chain(hidden).chain(doubt)
}
