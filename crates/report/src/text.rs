//! The terminal's table of a drive's profile.
//!
//! Plain text of at most [`WIDTH`] columns (a longer name is not broken). Colours are added on request only. The caller
//! prints it.

use crate::screen::Screen;
use crate::table::{self, Kind};
use crate::tune::headlines;
use crate::words;
pub use crate::words::{bytes as human_bytes, duration as human_duration};
use crate::wrap::clean;
use fathom_probe::{Cost, Estimate, Parameter, Profile, Verdict};

/// Maximum width of a line, in columns.
pub const WIDTH: usize = 100;

/// Index of the verdict column.
const VERDICT: usize = 3;

/// Returns the table for a screen, at most [`WIDTH`] columns wide: the drive, one row per answer, the cost.
pub fn summary(profile: &Profile, screen: Screen) -> String {
    let screen = at_most(screen);
    let mut out = header(profile);
    out.push('\n');
    let rows: Vec<Row> = profile
        .parameters
        .iter()
        .map(|(parameter, estimate)| Row::new(*parameter, estimate))
        .collect();
    if rows.is_empty() {
        out.push_str("No parameter was measured.\n");
    } else {
        out.push_str(&table(&rows, screen));
    }
    for headline in headlines(profile) {
        out += &format!(
            "\nThe drive's report does not hold: {}.\n",
            clean(&headline)
        );
    }
    out += &format!("\nCost: {}.\n", cost(&profile.cost));
    for (why, names) in skipped(profile) {
        out += &format!("Skipped: {}: {why}.\n", names.join(", "));
    }
    screen.text(&out)
}

/// Returns the parameters that were skipped, grouped by the reason, in the order of the first of each group.
pub(crate) fn skipped(profile: &Profile) -> Vec<(&str, Vec<String>)> {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for (parameter, why) in &profile.skipped {
        let title = parameter.title();
        match groups.iter_mut().find(|(reason, _)| reason == why) {
            Some((_, names)) => names.push(title),
            None => groups.push((why, vec![title])),
        }
    }
    groups
}

/// Returns the screen limited to [`WIDTH`] columns.
pub(crate) fn at_most(screen: Screen) -> Screen {
    let width = screen.width.unwrap_or(WIDTH).min(WIDTH);
    Screen {
        width: Some(width),
        ..screen
    }
}

/// Returns the cost of a run, in one line.
pub(crate) fn cost(cost: &Cost) -> String {
    format!(
        "{} written, {} read, {}, {} of the drive's time",
        words::bytes(cost.bytes_written),
        words::bytes(cost.bytes_read),
        words::counted(cost.requests, "request"),
        words::duration(cost.device_ns)
    )
}

fn header(profile: &Profile) -> String {
    let target = &profile.target;
    let kind = if target.modelled {
        "modelled drive"
    } else {
        "real drive"
    };
    let mut lines = vec![format!("Drive: {}", clean(&target.name))];
    if !target.identity.is_empty() && target.identity != target.name {
        lines.push(format!("       {}", clean(&target.identity)));
    }
    lines.push(format!(
        "       {}, {kind}, sector {}",
        words::bytes(target.capacity_bytes),
        words::bytes(u64::from(target.logical_block_bytes))
    ));
    lines.push(format!(
        "       {} method, seed {}, Fathom {}",
        profile.method.name(),
        profile.seed,
        clean(&profile.fathom)
    ));
    lines.into_iter().map(|line| line + "\n").collect()
}

struct Row {
    cells: [String; 5],
    verdict: Verdict,
}

impl Row {
    fn new(parameter: Parameter, estimate: &Estimate) -> Row {
        Row {
            cells: [
                parameter.title(),
                clean(&words::value(estimate)),
                words::interval(estimate),
                estimate.verdict.words().to_owned(),
                clean(&estimate.evidence.reason),
            ],
            verdict: estimate.verdict,
        }
    }
}

fn table(rows: &[Row], screen: Screen) -> String {
    let head = ["parameter", "value", "interval", "verdict", "why"].map(str::to_owned);
    let cells = rows.iter().map(|row| row.cells.to_vec());
    let cells: Vec<Vec<String>> = std::iter::once(head.to_vec()).chain(cells).collect();
    table::painted(&cells, Kind::Words, screen, &|row, column, text| {
        let verdict = row.checked_sub(1).and_then(|row| rows.get(row));
        match verdict.filter(|_| screen.colour && column == VERDICT && !text.is_empty()) {
            Some(row) => coloured(text, row.verdict),
            None => text.to_owned(),
        }
    })
}

/// Returns the text in green, cyan, yellow or red, with ANSI escape sequences.
pub(crate) fn coloured(text: &str, verdict: Verdict) -> String {
    let code = match verdict {
        Verdict::Identified => 32,
        Verdict::Absent => 36,
        Verdict::NotIdentifiable => 33,
        Verdict::Inconclusive => 31,
    };
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}
