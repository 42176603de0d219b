//! The terminal's table: what is known of a drive, at a glance.
//!
//! Plain text of at most [`WIDTH`] columns (a name longer than that is kept whole); colours are added only on
//! request. Where it is printed is the caller's business.

use crate::words;
use fathom_probe::{Cost, Estimate, Parameter, Profile, Verdict};

/// The widest line, in columns.
pub const WIDTH: usize = 100;

const GAP: &str = "  ";
const REASON_WIDTH_MIN: usize = 24;
const UNITS: [&str; 12] = [
    "B", "KiB", "MiB", "GiB", "TiB", "ns", "us", "µs", "ms", "s", "%", "MB/s",
];

/// A size in bytes for people: `16 KiB`, `1.5 MiB`, `55.9 GiB` (rounded to two decimals where it must be).
pub fn human_bytes(bytes: u64) -> String {
    words::bytes(bytes)
}

/// A duration in nanoseconds for people, rounded to three digits: `47.1 µs`, `12 min 5 s`.
pub fn human_duration(ns: u64) -> String {
    words::duration(ns)
}

/// The table without colours: drive, one row per answer, cost.
pub fn summary(profile: &Profile) -> String {
    summary_styled(profile, false)
}

/// The table, with the verdicts in colour (ANSI escape sequences) if `colour`.
pub fn summary_styled(profile: &Profile, colour: bool) -> String {
    let mut out = header(profile);
    out.push('\n');
    let rows: Vec<Row> = profile.parameters.iter().map(Row::new).collect();
    if rows.is_empty() {
        out.push_str("No parameter was measured.\n");
    } else {
        out.push_str(&table(&rows, colour));
    }
    out.push('\n');
    for line in wrap(&format!("Cost: {}.", cost(&profile.cost)), WIDTH) {
        out.push_str(&line);
        out.push('\n');
    }
    let missing: Vec<&str> = Parameter::ALL
        .into_iter()
        .filter(|p| !profile.parameters.contains_key(p))
        .map(words::title)
        .collect();
    if !missing.is_empty() && !rows.is_empty() {
        let text = format!("Not measured: {}.", missing.join(", "));
        out.extend(wrap(&text, WIDTH).into_iter().map(|line| line + "\n"));
    }
    out
}

/// What a run cost, in one line.
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
        words::method(profile.method),
        profile.seed,
        clean(&profile.fathom)
    ));
    lines.into_iter().map(|line| line + "\n").collect()
}

/// Without control characters: what a drive says of itself may not steer the terminal.
pub(crate) fn clean(text: &str) -> String {
    let keep = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().map(keep).collect()
}

struct Row {
    cells: [String; 4],
    verdict: Verdict,
    reason: String,
}

impl Row {
    fn new((parameter, estimate): (&Parameter, &Estimate)) -> Row {
        Row {
            cells: [
                words::title(*parameter).to_owned(),
                clean(&words::value(estimate)),
                words::interval(estimate),
                estimate.verdict.words().to_owned(),
            ],
            verdict: estimate.verdict,
            reason: clean(&estimate.evidence.reason),
        }
    }
}

fn table(rows: &[Row], colour: bool) -> String {
    let heads = ["parameter", "value", "interval", "verdict"].map(str::to_owned);
    let widths: [usize; 4] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|row| columns(&row.cells[column]));
        cells.chain([columns(&heads[column])]).max().unwrap_or(0)
    });
    let left = widths.iter().sum::<usize>() + 4 * GAP.len();
    let reason_width = WIDTH.saturating_sub(left).max(REASON_WIDTH_MIN);
    let mut out = line(&heads, &widths, "why", None);
    let rule: [String; 4] = widths.map(|width| "─".repeat(width));
    out.push_str(&line(&rule, &widths, &"─".repeat(reason_width), None));
    for row in rows {
        let style = colour.then_some(row.verdict);
        let mut reason = wrap(&row.reason, reason_width).into_iter();
        out.push_str(&line(
            &row.cells,
            &widths,
            &reason.next().unwrap_or_default(),
            style,
        ));
        for more in reason {
            out.push_str(&format!("{}{more}\n", " ".repeat(left)));
        }
    }
    out
}

fn line(cells: &[String; 4], widths: &[usize; 4], reason: &str, style: Option<Verdict>) -> String {
    let mut out = String::new();
    for (i, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let pad = " ".repeat(width.saturating_sub(columns(cell)));
        match style {
            Some(verdict) if i == 3 => out.push_str(&coloured(cell, verdict)),
            _ => out.push_str(cell),
        }
        out.push_str(&pad);
        out.push_str(GAP);
    }
    out.push_str(reason);
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// In the terminal's green, cyan, yellow or red.
pub(crate) fn coloured(text: &str, verdict: Verdict) -> String {
    let code = match verdict {
        Verdict::Identified => 32,
        Verdict::Absent => 36,
        Verdict::NotIdentifiable => 33,
        Verdict::Inconclusive => 31,
    };
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}

/// Columns of the terminal: one per character, as all the words used here are.
fn columns(text: &str) -> usize {
    text.chars().count()
}

/// Lines of at most `width` columns, broken at spaces but not between a number and its unit; a longer word is
/// broken anywhere.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut current = String::new();
    for word in joined(text) {
        if !current.is_empty() && columns(&current) + 1 + columns(&word) > width {
            lines.push(std::mem::take(&mut current));
        }
        if !current.is_empty() {
            current.push(' ');
        }
        for c in word.chars() {
            if columns(&current) >= width.max(1) {
                lines.push(std::mem::take(&mut current));
            }
            current.push(c);
        }
    }
    if !current.is_empty() {
        lines.push(current);
    }
    lines
}

/// The text with spaces that do not break between numbers and units.
pub(crate) fn unbroken(text: &str) -> String {
    let words = joined(text).into_iter();
    words
        .map(|w| w.replace(' ', "\u{a0}"))
        .collect::<Vec<_>>()
        .join(" ")
}

/// The words, a unit as one word with the number before it.
fn joined(text: &str) -> Vec<String> {
    let unit = |word: &str| UNITS.contains(&word.trim_end_matches(|c: char| ",.;:)".contains(c)));
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(last) if unit(word) && last.ends_with(|c: char| c.is_ascii_digit()) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_keeps_every_word_and_the_width() {
        let text = "a page of 16 KiB, averyveryverylongwordindeed, and the rest";
        let lines = wrap(text, 12);
        assert!(lines.iter().all(|l| columns(l) <= 12), "{lines:?}");
        let joined: String = lines.concat().split_whitespace().collect();
        assert_eq!(joined, text.split_whitespace().collect::<String>());
        assert!(wrap("", 10).is_empty());
        assert_eq!(
            wrap("up to 16 KiB, as is", 9),
            ["up to", "16 KiB,", "as is"]
        );
    }

    #[test]
    fn a_drive_may_not_steer_the_terminal() {
        assert_eq!(clean("disk\u{1b}[2J\n"), "disk\u{fffd}[2J\u{fffd}");
    }
}
