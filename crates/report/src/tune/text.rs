//! The settings for the terminal: what is reported beside what was measured, what follows, and what does not.

use super::{Advice, Compared, Open, Tuning};
use crate::screen::Screen;
use crate::table::{Kind, table};
use crate::text::at_most;
use crate::wrap::clean;

/// Returns the text for the terminal.
pub fn text(found: &Tuning, screen: Screen) -> String {
    let screen = at_most(screen);
    let mut out = header(found);
    if !found.compared.is_empty() {
        out += "\nWhat the drive reports, and what was measured\n\n";
        out += &compared(&found.compared, screen);
    }
    for found in &found.drive.contradictions {
        out += &format!("\nContradiction: {}.\n", clean(&found.text));
    }
    let why = [
        ("The drive itself was not asked", &found.drive.not_asked),
        ("Its log was not read", &found.drive.no_log),
    ];
    for (what, why) in why {
        if let Some(why) = why.as_ref().filter(|why| !out.contains(&clean(why))) {
            out += &format!("\n{what}: {}.\n", clean(why));
        }
    }
    out += "\nWhat follows\n";
    if found.advice.is_empty() {
        out += "\nNothing: no parameter that a setting depends on is identified.\n";
    }
    for part in found.advice.chunk_by(|a, b| a.family == b.family) {
        out += &format!("\n{}\n\n{}", part[0].family, advised(part, screen));
    }
    if !found.open.is_empty() {
        out += "\nWhat does not follow\n\n";
        out += &open(&found.open, screen);
    }
    for note in &found.notes {
        out += &format!("\n{}\n", clean(note));
    }
    screen.text(&out)
}

fn header(found: &Tuning) -> String {
    let drive = match &found.drive.name {
        Some(name) => {
            let of = [
                &found.drive.model,
                &found.drive.serial,
                &found.drive.firmware,
            ];
            let of = of
                .into_iter()
                .flatten()
                .map(|text| format!(", {}", clean(text)));
            format!("{}{}", clean(name), of.collect::<String>())
        }
        None => "not here, so nothing that it reports is known".to_owned(),
    };
    format!("Measured: {}\nDrive:    {drive}\n", clean(&found.profile))
}

/// Returns a text, or a dash.
fn or_dash(text: Option<&String>) -> String {
    text.map_or_else(|| "–".to_owned(), |text| clean(text))
}

fn compared(all: &[Compared], screen: Screen) -> String {
    let head = ["property", "reported", "measured", "", "what that means"];
    let row = |one: &Compared| {
        vec![
            one.property.clone(),
            or_dash(one.reported.as_ref()),
            or_dash(one.measured.as_ref()),
            one.relation.words().to_owned(),
            clean(&one.meaning),
        ]
    };
    let head = head.map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(all.iter().map(row)).collect();
    table(&rows, Kind::Words, screen)
}

fn advised(part: &[Advice], screen: Screen) -> String {
    let has_now = part.iter().any(|advice| advice.now.is_some());
    let mut head = vec!["setting", "value"];
    if has_now {
        head.push("now");
    }
    head.extend(["parameter", "why"]);
    let row = |advice: &Advice| {
        let mut row = vec![advice.setting.clone(), advice.value.clone()];
        if has_now {
            row.push(or_dash(advice.now.as_ref()));
        }
        row.extend([advice.parameter.replace('_', " "), clean(&advice.reason)]);
        row
    };
    let head: Vec<String> = head.into_iter().map(str::to_owned).collect();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(part.iter().map(row)).collect();
    table(&rows, Kind::Words, screen)
}

/// Returns the open settings with their reasons; those of one reason stand together.
fn open(all: &[Open], screen: Screen) -> String {
    let mut by_reason: Vec<(&str, Vec<String>)> = Vec::new();
    for open in all {
        let name = format!("{} {}", open.family, open.setting);
        match by_reason.iter_mut().find(|(why, _)| *why == open.why) {
            Some((_, names)) => names.push(name),
            None => by_reason.push((&open.why, vec![name])),
        }
    }
    let head = ["why".to_owned(), "setting".to_owned()];
    let row = |(why, names): &(&str, Vec<String>)| vec![clean(why), names.join(", ")];
    let rows = by_reason.iter().map(row);
    let rows: Vec<Vec<String>> = std::iter::once(head.to_vec()).chain(rows).collect();
    table(&rows, Kind::Words, screen)
}
