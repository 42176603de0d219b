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
    let rest = |one: &Latency| of_phase(one, others(one));
    let machine = |one: &Latency| of_phase(one, own(one));
    let below = [
        row("not attributed", all.iter().map(rest)),
        row("latency", all.iter().map(|one| time(one.latency_ns))),
        row(
            "95 % interval",
            all.iter().map(|one| interval(one.interval_ns, time)),
        ),
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

/// The time of a read outside the device.
pub(super) fn own(latency: &Latency) -> Option<f64> {
    let device = latency.phases.get(&Phase::Device)?;
    let own = latency.latency_ns - device;
    (own.is_finite() && own >= 0.0).then_some(own)
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
