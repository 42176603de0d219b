//! The text for the terminal.

use super::{Change, PlanReport, Sensitivity, Takes, Unreached, Used};
use crate::platform::Limit;
use crate::screen::Screen;
use crate::table::Table;
use crate::words::{bytes, count, counted, duration};
use std::fmt::Write as _;

/// The text for the terminal.
pub fn text(plan: &PlanReport, screen: Screen) -> String {
    let mut text = screen.text(&title(plan));
    if let Some(unreached) = &plan.unreached {
        text += &screen.text(&not_reached(unreached));
    }
    if let Some(takes) = &plan.takes {
        text += &screen.text(&found(takes));
        let _ = write!(text, "\n{}", resources(plan, takes).text(screen));
        text += &screen.text(&format!("\n{}", saturates(takes)));
    }
    let any = plan.changes.iter().any(|change| change.takes.is_some());
    if !plan.changes.is_empty() && plan.takes.is_none() && !any {
        text += &screen.text("\nNo change that was tried reaches it:\n");
        text += &screen.text(&all_reasons(plan));
    } else if !plan.changes.is_empty() {
        text += "\nWhat one change would do:\n";
        text += &changes(plan).text(screen);
        text += &screen.text(&reasons(plan));
    }
    if let (Some(takes), false) = (&plan.takes, plan.sensitivity.is_empty()) {
        let base = format!(
            "\nHow the saturated rate, {} I/Os a second, changes with more of one input; what is left out changes it by less than 0.2 %:\n",
            count(takes.saturated_iops as u64)
        );
        text += &screen.text(&base);
        text += &sensitivity(plan).text(screen);
    }
    text
}

fn title(plan: &PlanReport) -> String {
    let within = plan.latency_max_ns;
    let within = within.map_or(String::new(), |most| {
        format!(", {} on average at most", duration(most))
    });
    format!(
        "{} a second of {}{within}, from {} on {}\n\n",
        counted(plan.wanted_iops.round() as u64, "I/O"),
        bytes(plan.block_bytes),
        plan.drive,
        plan.platform,
    )
}

fn not_reached(unreached: &Unreached) -> String {
    format!(
        "Not reached: {}.\nWhat to do: {}.\n",
        unreached.why, unreached.help
    )
}

fn found(takes: &Takes) -> String {
    let each = match (takes.adapters, takes.drives_per_adapter) {
        (1, _) | (_, 1) => String::new(),
        (_, each) => format!(" of at most {}", counted(u64::from(each), "drive")),
    };
    format!(
        "It takes {}, {}{each} and {}, with {} in flight.\nThat does {} I/Os a second of {} clocks each; the mean latency is \
         {}, and 99 % are within {}.\n",
        counted(u64::from(takes.drives), "drive"),
        counted(u64::from(takes.adapters), "adapter"),
        counted(u64::from(takes.cores), "processor"),
        counted(u64::from(takes.in_flight), "I/O"),
        count(takes.iops as u64),
        count(takes.clocks.round() as u64),
        duration(takes.latency_ns as u64),
        duration(takes.p99_ns as u64),
    )
}

/// The number of each resource, what the platform file has of it, its use, and what a tenth more of its speed would do.
fn resources(plan: &PlanReport, takes: &Takes) -> Table {
    let head = ["", "it takes", "platform has", "in use", "10 % more"];
    let rows = [
        (Limit::Drives, takes.drives, Some(plan.has.drives)),
        (Limit::Adapters, takes.adapters, Some(plan.has.adapters)),
        (Limit::Cores, takes.cores, Some(plan.has.cores)),
        (Limit::Threads, takes.in_flight, None),
    ];
    let row = |(of, number, has): (Limit, u32, Option<u32>)| {
        let used = takes.used.iter().find(|used| used.of == of);
        let share = used.and_then(|used| used.share);
        let rise = used.and_then(|used| used.rise_percent);
        vec![
            of.words().to_owned(),
            count(u64::from(number)),
            has.map_or("-".into(), |has| count(u64::from(has))),
            share.map_or("-".into(), |share| format!("{:.0} %", 100.0 * share)),
            rise.map_or("-".into(), signed),
        ]
    };
    Table {
        rows: rows.into_iter().map(row).collect(),
        ..Table::new("Resources", "", head)
    }
}

fn saturates(takes: &Takes) -> String {
    let base = format!(
        "With {} in flight the same machine does {} I/Os a second, its saturated rate",
        count(u64::from(takes.saturated_in_flight)),
        count(takes.saturated_iops as u64),
    );
    let Some(Used {
        of,
        rise_percent: Some(rise),
        ..
    }) = takes.first()
    else {
        return format!(
            "Nothing alone saturates first. {base}; no resource that is 10 % faster raises it by 1 %.\n"
        );
    };
    match of {
        Limit::Threads => format!(
            "The I/Os in flight are the limit. {base}; 10 % more of them change it by {}.\n",
            signed(rise)
        ),
        of => format!(
            "The {} saturate first. {base}; {} that are 10 % faster change it by {}.\n",
            of.words(),
            of.words(),
            signed(rise)
        ),
    }
}

fn signed(percent: f64) -> String {
    // No -0.0.
    let rounded = (10.0 * percent).round() / 10.0;
    match rounded == 0.0 {
        true => "0.0 %".to_owned(),
        false => format!("{rounded:+.1} %"),
    }
}

fn changes(plan: &PlanReport) -> Table {
    let head = [
        "change",
        "drives",
        "adapters",
        "processors",
        "in flight",
        "latency",
        "clocks an I/O",
        "saturates first",
    ];
    let row = |change: &Change| {
        let mut row = vec![change.what.clone()];
        row.extend(match &change.takes {
            Some(takes) => cells(takes),
            None => [""; 6].map(|_| "-".to_owned()).into(),
        });
        if change.takes.is_none() {
            row.push("not reached".to_owned());
        }
        row
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    if let Some(takes) = &plan.takes {
        rows.push([vec!["as it is".to_owned()], cells(takes)].concat());
    }
    rows.extend(plan.changes.iter().map(row));
    Table {
        rows,
        ..Table::new("What one change would do", "", head)
    }
}

fn cells(takes: &Takes) -> Vec<String> {
    let first = takes.first();
    vec![
        takes.drives.to_string(),
        takes.adapters.to_string(),
        takes.cores.to_string(),
        count(u64::from(takes.in_flight)),
        duration(takes.latency_ns as u64),
        count(takes.clocks.round() as u64),
        first.map_or("nothing", |used| used.of.words()).to_owned(),
    ]
}

/// Why changes do not reach the rate, where that is another reason than that of the platform as it is.
fn reasons(plan: &PlanReport) -> String {
    let own = plan.unreached.as_ref().map(|unreached| &unreached.why);
    let reason = |change: &Change| {
        let why = &change.unreached.as_ref()?.why;
        (Some(why) != own).then(|| format!("- {}: {why}.\n", change.what))
    };
    plan.changes.iter().filter_map(reason).collect()
}

/// Why no change reaches the rate.
fn all_reasons(plan: &PlanReport) -> String {
    let own = plan.unreached.as_ref().map(|unreached| &unreached.why);
    let reason = |change: &Change| {
        let why = change.unreached.as_ref().map(|unreached| &unreached.why)?;
        let why = if Some(why) == own { "the same" } else { why };
        Some(format!("- {}: {why}.\n", change.what))
    };
    plan.changes.iter().filter_map(reason).collect()
}

fn sensitivity(plan: &PlanReport) -> Table {
    let row = |one: &Sensitivity| vec![one.input.clone(), one.change.clone(), signed(one.percent)];
    Table {
        rows: plan.sensitivity.iter().map(row).collect(),
        ..Table::new("Sensitivity", "", ["input", "change", "rate"])
    }
}
