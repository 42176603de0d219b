//! The work of the host: clocks by layer and time by phase.

use crate::screen::Screen;
use crate::table::Table;
use crate::words::duration;
use fathom_platform::{HostWork, Layer, Phase, Platform};
use std::fmt::Write as _;

/// Returns what the host did, in a sentence.
fn summary(work: &HostWork) -> String {
    let busy: f64 = work.busy.iter().map(|busy| busy.0 as f64).sum();
    let processors = busy / (work.time.0.max(1)) as f64;
    format!(
        "{processors:.2} of {} processors computed on average; {} system calls, {} interrupts, {} sleeps for {} I/Os.",
        work.busy.len(),
        work.system_calls,
        work.interrupts,
        work.sleeps,
        work.ios,
    )
}

/// Returns the tables of layers and phases; none without an I/O.
pub(crate) fn tables(work: &HostWork) -> Vec<Table> {
    match work.ios {
        0 => Vec::new(),
        ios => vec![layers(work, ios as f64), phases(work, ios as f64)],
    }
}

/// The clocks of each layer. Those of waiting are shown apart: they depend on the load.
fn layers(work: &HostWork, ios: f64) -> Table {
    let waits = |layer: Layer| matches!(layer, Layer::Polling | Layer::Idle);
    let all = work.clocks_per_io().unwrap_or_default();
    let row = |layer: Layer| {
        let clocks = *work.clocks.get(&layer)? as f64 / ios;
        let share = match waits(layer) {
            true => "-".to_owned(),
            false => format!("{:.1} %", 100.0 * clocks / all.max(f64::MIN_POSITIVE)),
        };
        Some(vec![
            layer.words().to_owned(),
            format!("{clocks:.0}"),
            share,
        ])
    };
    let mut table = Table::new(
        "Clocks by layer",
        &summary(work),
        ["layer", "clocks an I/O", "share"],
    );
    table.rows = Layer::ALL.into_iter().filter_map(row).collect();
    let sum = [
        "all but waiting".to_owned(),
        format!("{all:.0}"),
        "100 %".into(),
    ];
    table.rows.push(sum.into());
    table
}

fn phases(work: &HostWork, ios: f64) -> Table {
    let all = work.latency_ns().unwrap_or_default();
    let row = |phase: Phase| {
        let ns = work.phases.get(&phase)?.0 as f64 / ios;
        Some(vec![
            phase.words().to_owned(),
            duration(ns.round() as u64),
            format!("{:.1} %", 100.0 * ns / all.max(f64::MIN_POSITIVE)),
        ])
    };
    let mut table = Table::new(
        "Latency by phase",
        "Mean times of an I/O, from the program's request to its continuation.",
        ["phase", "time", "share"],
    );
    table.rows = Phase::ALL.into_iter().filter_map(row).collect();
    let sum = [
        "latency".to_owned(),
        duration(all.round() as u64),
        "100 %".into(),
    ];
    table.rows.push(sum.into());
    table
}

/// Returns the host's work as text for the terminal.
pub(super) fn text(platform: &Platform, work: &HostWork, screen: Screen) -> String {
    let name = match platform.name.as_str() {
        "" => "of no name",
        name => name,
    };
    let mut text = format!("\nthe host, {name}, is charged: {}\n", summary(work));
    for table in tables(work) {
        let _ = write!(text, "\n{}", table.text(screen));
    }
    text
}
