//! Two stacks in turn, as text and as a page.

use crate::run::drawn::Drawn;
use crate::run::given;
use crate::run::layout::{RunPage, render};
use crate::run::words::count;
use crate::screen::Screen;
use crate::table::Table;
use fathom_run::ab::{Ab, Difference};
use std::fmt::Write as _;

fn table(found: &Ab) -> Table {
    let [a, b] = &found.stacks;
    let head = ["", &a.name, &b.name, "difference", "95 % interval", ""];
    Table {
        rows: found.differences.iter().map(row).collect(),
        ..Table::new("What is between them", HOW_TO_READ, head)
    }
}

fn row(difference: &Difference) -> Vec<String> {
    let unit = match difference.unit {
        "" => String::new(),
        unit => format!(" {unit}"),
    };
    let value = |value: f64| match value.abs() {
        100.0.. => format!("{value:.0}{unit}"),
        1.0.. => format!("{value:.2}{unit}"),
        _ => format!("{value:.4}{unit}"),
    };
    let interval = difference.interval;
    vec![
        difference.what.into(),
        value(difference.means[0]),
        value(difference.means[1]),
        format!("{:+.1} %", difference.percent),
        interval.map_or_else(
            || "too few rounds".into(),
            |[low, high]| format!("{low:+.1} to {high:+.1} %"),
        ),
        verdict(difference).into(),
    ]
}

/// What the interval says of the second stack.
fn verdict(difference: &Difference) -> &'static str {
    let sign = if difference.more_is_better { 1.0 } else { -1.0 };
    match difference.interval {
        None => "",
        Some([low, high]) if low > 0.0 || high < 0.0 => match difference.percent * sign > 0.0 {
            true => "better",
            false => "worse",
        },
        Some(_) => "no difference told",
    }
}

fn heading(found: &Ab) -> String {
    let [a, b] = &found.stacks;
    format!(
        "{} against {}: {} each, in turn, on one drive",
        b.name,
        a.name,
        count(found.rounds.len() as u64, "round", "rounds")
    )
}

const HOW_TO_READ: &str = "The difference is the mean of the ratios of the rounds; its interval holds the true one in 95 of \
                           100 cases. It is about this drive and these jobs.";

/// As text for the terminal.
pub fn text(found: &Ab, screen: Screen) -> String {
    let mut text = format!(
        "{}\n\n{}\n{HOW_TO_READ}\n",
        heading(found),
        table(found).text(screen)
    );
    for (stack, run) in found
        .stacks
        .iter()
        .zip(found.rounds.last().into_iter().flatten())
    {
        if let Some((config, stats)) = stack.queue.as_ref().zip(run.queue.as_ref()) {
            let _ = write!(text, "\n{}, the last round: ", stack.name);
            text += &given::text(config, stats, screen);
        }
    }
    text
}

/// The page: the differences, and the last round of both over one another.
pub fn page(found: &Ab) -> String {
    let last = found.rounds.last().into_iter().flatten();
    let runs = found.stacks.iter().zip(last);
    render(&RunPage {
        title: heading(found),
        tables: vec![table(found)],
        runs: runs
            .map(|(stack, run)| Drawn {
                name: &stack.name,
                run,
            })
            .collect(),
        ..RunPage::default()
    })
}
