//! What a rate of I/Os takes: drives, adapters and processors, as plain data and as text for the terminal.

use crate::platform::Limit;
use crate::screen::Screen;
use crate::table::Table;
use crate::words::{bytes, count};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// What a rate takes on a platform.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanReport {
    /// Version of Fathom.
    pub fathom: String,
    /// Name of the platform.
    pub platform: String,
    /// The drive.
    pub drive: String,
    /// I/Os per second that are wanted.
    pub wanted_iops: f64,
    /// Length of an I/O, in bytes.
    pub block_bytes: u64,
    /// What it takes; `None` if it could not be reached.
    pub takes: Option<Takes>,
    /// The most that was reached, if that is less than wanted.
    pub most_iops: Option<f64>,
    /// What one change would do.
    pub changes: Vec<Change>,
    /// How the rate depends on each input.
    pub sensitivity: Vec<Sensitivity>,
}

/// The resources of a rate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Takes {
    /// Number of drives.
    pub drives: u32,
    /// Number of adapters.
    pub adapters: u32,
    /// Number of processors.
    pub cores: u32,
    /// I/Os in flight.
    pub in_flight: u32,
    /// I/Os per second with these.
    pub iops: f64,
    /// Clocks of an I/O.
    pub clocks: f64,
    /// Mean latency, in nanoseconds.
    pub latency_ns: f64,
    /// How far each resource is used, from 0 to 1; adapters without a ceiling are left out.
    pub used: Vec<Used>,
}

/// How far a resource is used.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Used {
    /// The resource.
    pub of: Limit,
    /// The share, from 0 to 1.
    pub share: f64,
}

/// What a change would do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The change.
    pub what: String,
    /// What the same bytes per second then take; `None` if they could not be reached.
    pub takes: Option<Takes>,
}

/// How the rate depends on an input.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sensitivity {
    /// The input, as a key of the platform file.
    pub input: String,
    /// Change of the saturated rate with 10 % more of the input, in percent.
    pub percent: f64,
}

impl Takes {
    /// The resource that is used most.
    pub fn first(&self) -> Option<Used> {
        let all = self.used.iter().copied();
        all.max_by(|a, b| a.share.total_cmp(&b.share))
    }
}

/// The text for the terminal.
pub fn text(plan: &PlanReport, screen: Screen) -> String {
    let mut text = format!(
        "{} I/Os a second of {} on {} with {}\n\n",
        count(plan.wanted_iops as u64),
        bytes(plan.block_bytes),
        plan.platform,
        plan.drive,
    );
    match (&plan.takes, plan.most_iops) {
        (Some(takes), _) => text += &found(takes),
        (None, Some(most)) => {
            let _ = writeln!(text, "not reached: {} at most", count(most as u64));
        }
        (None, None) => {
            text += "not reached: it takes more than 1,024 drives, adapters or processors\n"
        }
    }
    if !plan.changes.is_empty() {
        let _ = write!(text, "\n{}", changes(plan).text(screen));
    }
    if !plan.sensitivity.is_empty() {
        let _ = write!(
            text,
            "\nChange of the saturated rate with 10 % more of an input:\n{}",
            sensitivity(plan).text(screen)
        );
    }
    text
}

fn found(takes: &Takes) -> String {
    let mut text = format!(
        "takes {} drives, {} adapters and {} processors, with {} I/Os in flight: {} I/Os a second, {:.0} clocks each, \
         latency {}\n",
        takes.drives,
        takes.adapters,
        takes.cores,
        takes.in_flight,
        count(takes.iops as u64),
        takes.clocks,
        crate::words::duration(takes.latency_ns as u64),
    );
    let used = takes.used.iter();
    let used: Vec<String> = used
        .map(|used| format!("{} {:.0} %", used.of.words(), 100.0 * used.share))
        .collect();
    if let Some(first) = takes.first() {
        let _ = writeln!(
            text,
            "in use: {}; {} saturate first",
            used.join(", "),
            first.of.words()
        );
    }
    text
}

fn changes(plan: &PlanReport) -> Table {
    let head = [
        "change",
        "drives",
        "adapters",
        "processors",
        "clocks an I/O",
        "saturates first",
    ];
    let row = |change: &Change| {
        let takes = change.takes.as_ref();
        let number =
            |of: fn(&Takes) -> u32| takes.map_or("-".to_owned(), |takes| of(takes).to_string());
        vec![
            change.what.clone(),
            number(|takes| takes.drives),
            number(|takes| takes.adapters),
            number(|takes| takes.cores),
            takes.map_or("not reached".into(), |takes| format!("{:.0}", takes.clocks)),
            takes
                .and_then(Takes::first)
                .map_or("-", |used| used.of.words())
                .to_owned(),
        ]
    };
    Table {
        rows: plan.changes.iter().map(row).collect(),
        ..Table::new("What one change would do", "", head)
    }
}

fn sensitivity(plan: &PlanReport) -> Table {
    let row = |one: &Sensitivity| vec![one.input.clone(), format!("{:+.1} %", one.percent)];
    Table {
        rows: plan.sensitivity.iter().map(row).collect(),
        ..Table::new("Sensitivity", "", ["input", "rate"])
    }
}
