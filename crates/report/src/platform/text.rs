//! The report as text for the terminal.

use super::body::{GLOSSARY, facts, parts};
use super::forms::sentence;
use super::words::{heading, verdict};
use super::{Missing, PlatformReport};
use crate::screen::Screen;
use crate::table::{Kind, table};
use crate::text::WIDTH;
use crate::wrap::clean;
use std::fmt::Write as _;

/// Returns the report as text for the terminal.
pub fn text(report: &PlatformReport, screen: Screen) -> String {
    // The tables have a column for each way.
    let screen = Screen {
        width: Some(screen.width.unwrap_or(WIDTH)),
        ..screen
    };
    let mut text = format!("{}\n{}\n", clean(&heading(report)), verdict(report));
    let facts: Vec<Vec<String>> = facts(report)
        .into_iter()
        .map(|(name, value)| vec![clean(&name), clean(&value)])
        .collect();
    let _ = write!(text, "\n{}", table(&facts, Kind::List, screen));
    let parts = parts(report);
    if !parts.is_empty() {
        let _ = writeln!(text, "\n{GLOSSARY}");
    }
    for part in parts {
        let _ = writeln!(text, "\n{}", part.table.title);
        let lead = part.lead.iter().chain([&part.table.note]);
        for line in lead.filter(|line| !line.is_empty()) {
            let _ = writeln!(text, "{line}");
        }
        if !part.table.rows.is_empty() {
            let _ = write!(text, "\n{}", part.table.text(screen));
        }
        text += &list("", part.rest.iter().map(|line| clean(line)));
    }
    text += &missing(&report.missing);
    text += &list("Notes", report.notes.iter().map(|note| clean(note)));
    screen.text(&text)
}

fn missing(all: &[Missing]) -> String {
    let told = |one: &Missing| {
        let what = clean(&sentence(&one.what));
        match one.help.is_empty() {
            true => what,
            false => format!("{what}\n  To get it: {}", clean(&sentence(&one.help))),
        }
    };
    list("Missing", all.iter().map(told))
}

fn list(title: &str, all: impl Iterator<Item = String>) -> String {
    let points: String = all.map(|point| format!("- {point}\n")).collect();
    match points.is_empty() {
        true => points,
        false if title.is_empty() => format!("\n{points}"),
        false => format!("\n{title}\n{points}"),
    }
}
