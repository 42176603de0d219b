//! The latency of one I/O at a time, by phase.

use super::forms::{NONE, interval, percent, time, whole};
use super::names::{Names, Way, names};
use super::part::{Part, row, unattributed};
use super::{Latency, PlatformReport};
use crate::table::Table;
use fathom_platform::Phase;

/// Returns the table.
pub(super) fn part(report: &PlatformReport) -> Option<Part> {
    let all = &report.latency;
    if all.is_empty() {
        return None;
    }
    let names = named(all);
    let head = std::iter::once("phase".to_owned()).chain(names.each.clone());
    let phases = Phase::ALL.into_iter().filter_map(|phase| {
        let cell = |one: &Latency| of_phase(one, one.phases.get(&phase).copied());
        row(phase.words(), all.iter().map(cell))
    });
    let rest = |one: &Latency| of_phase(one, others(one).filter(|_| !one.phases.is_empty()));
    let machine = |one: &Latency| of_phase(one, own(one));
    let below = [
        row("not attributed", all.iter().map(rest)),
        row("latency", all.iter().map(|one| time(one.latency_ns))),
        row(
            "95 % interval",
            all.iter().map(|one| interval(one.interval_ns, time)),
        ),
        row("mean", all.iter().map(|one| of_all(one.mean_ns))),
        row("99 % are below", all.iter().map(|one| of_all(one.p99_ns))),
        row("without the device", all.iter().map(machine)),
        row("reads", all.iter().map(|one| whole(one.ios as f64))),
    ];
    let table = Table {
        rows: phases.chain(below.into_iter().flatten()).collect(),
        ..Table::new("Latency by phase", &note(report, &names), head)
    };
    Some(Part {
        table,
        ..Part::default()
    })
}

/// What no phase accounts for.
pub(super) fn others(latency: &Latency) -> Option<f64> {
    unattributed(latency.latency_ns, latency.phases.values().copied())
}

/// Most of a latency that may be unattributed, for the machine's part to be told.
const REST_MAX: f64 = 0.1;

/// The time of a read outside the device: that of the other phases. What is not attributed is nobody's.
pub(super) fn own(latency: &Latency) -> Option<f64> {
    let known = latency.phases.contains_key(&Phase::Device);
    let rest = others(latency).unwrap_or_default();
    let phases = latency.phases.iter();
    let own: f64 = phases
        .filter(|(phase, _)| **phase != Phase::Device)
        .map(|(_, ns)| ns)
        .sum();
    let told = known && own.is_finite() && rest.abs() <= REST_MAX * latency.latency_ns;
    told.then_some(own)
}

/// Returns the names of the ways.
pub(super) fn named(all: &[Latency]) -> Names {
    names(&all.iter().map(|one| Way::of(one.path)).collect::<Vec<_>>())
}

fn note(report: &PlatformReport, names: &Names) -> String {
    let how = match report.measured {
        true => {
            "One read at a time, from the program's call to its return: the median without tracing, and the phases \
                 without the cost of tracing. The device's time includes adapter and transfer."
        }
        false => {
            "One read at a time, from the program's call to its return: means. The machine is all but the device."
        }
    };
    match names.shared.is_empty() {
        true => how.to_owned(),
        false => format!("{how} All: {}.", names.shared),
    }
}

/// A figure of all reads.
fn of_all(ns: Option<f64>) -> String {
    ns.map_or_else(|| NONE.to_owned(), time)
}

/// A time with its share of the latency.
fn of_phase(latency: &Latency, ns: Option<f64>) -> String {
    match ns {
        Some(ns) if ns.is_finite() => {
            let share = percent(ns / latency.latency_ns);
            match share == NONE {
                true => time(ns),
                false => format!("{} {:>8}", time(ns), format!("({share})")),
            }
        }
        _ => NONE.to_owned(),
    }
}
