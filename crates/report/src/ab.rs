//! Two stacks run in turn (`--ab`), as text and as a page.

use crate::chart::{Axis, Chart, Interval, Mode, Scale, Series, Unit};
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

const BETTER: &str = "better";
const WORSE: &str = "worse";
const EQUAL: &str = "no difference found";

/// Returns the verdict on the second stack according to the interval; empty without one.
fn verdict(difference: &Difference) -> &'static str {
    let sign = if difference.more_is_better { 1.0 } else { -1.0 };
    match difference.interval {
        None => "",
        Some([low, high]) if low > 0.0 || high < 0.0 => match difference.percent * sign > 0.0 {
            true => BETTER,
            false => WORSE,
        },
        Some(_) => EQUAL,
    }
}

/// Returns a sentence on how many figures are better and worse with the second stack.
fn summary(found: &Ab) -> String {
    let [a, b] = &found.stacks;
    let of = |word: &str| {
        let told = found.differences.iter().map(verdict);
        told.filter(|told| *told == word).count()
    };
    let all = count(found.differences.len() as u64, "figure", "figures");
    match found.differences.iter().any(|d| d.interval.is_some()) {
        true => format!(
            "Of {all}, {} are better with {} than with {}, {} are worse, and in {} no difference was found.",
            of(BETTER),
            b.name,
            a.name,
            of(WORSE),
            of(EQUAL)
        ),
        false => "There are too few rounds for an interval, so no difference can be established."
            .to_owned(),
    }
}

/// Returns the chart of the differences with their intervals.
fn figure(found: &Ab) -> Chart {
    let places = || (0..).zip(&found.differences);
    let line = |(look, name, more): (usize, &str, bool)| {
        let some = || places().filter(move |(_, d)| d.more_is_better == more);
        let end = |of: fn([f64; 2]) -> f64| {
            let ends = some().map(|(_, d)| d.interval.map_or(f64::NAN, of));
            ends.collect()
        };
        let points = some().map(|(place, d)| (f64::from(place), Some(d.percent)));
        let (low, high) = (end(|[low, _]| low), end(|[_, high]| high));
        Series {
            interval: Some(Interval::of_95_percent(low, high)),
            ..Series::new(name, look, Mode::Marks, points)
        }
    };
    let [a, b] = &found.stacks;
    let names = found.differences.iter().map(|d| d.what.to_owned());
    let lines = [(0, "more is better", true), (1, "less is better", false)].map(line);
    Chart {
        id: "differences".to_owned(),
        title: format!("By how much {} is above {}", b.name, a.name),
        see: "A bar is the 95 % interval: where it contains 0, no difference was found.".to_owned(),
        x: Axis::names("", names.collect()),
        y: Axis::new("difference (%)", Unit::Number, Scale::Linear),
        series: lines
            .into_iter()
            .filter(|line| !line.x.is_empty())
            .collect(),
        ..Chart::default()
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

/// Returns the text for the terminal.
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

/// Returns the page: the differences, and the charts of the last round with both stacks in each.
pub fn page(found: &Ab) -> String {
    let last = found.rounds.last().into_iter().flatten();
    let runs = found.stacks.iter().zip(last);
    render(&RunPage {
        title: heading(found),
        verdict: summary(found),
        lead: Some(figure(found)),
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
