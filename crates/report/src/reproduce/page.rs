//! A reproduced paper as a page and as text: each figure with the paper's statements, the measured values and the verdicts.

use super::charts::{charts, lead, title};
use super::found::{ChartFound, Figure, Judged, Measured, PanelFound, Reproduced, Verdict};
use super::grids::grids;
use super::tally::{self, Group, groups, sentences, silent};
use crate::screen::Screen;
use crate::study::{ClaimRow, Section, StudyPage, Tone, render};
use crate::table::Table;
use std::fmt::Write as _;

const RULES: &str = "Every number is computed for each seed from runs that saw the same workload; what is shown is the mean over \
     seeds, with its 95 % interval, or with that of the run where a study has one seed. Less than 1 % is no difference. Sizes come \
     with a tolerance of ours, which stands beside them.";

/// Returns the statement, marked if it is ours and not the paper's.
fn said(judged: &Judged) -> String {
    match judged.ours {
        true => format!("ours: {}", judged.text),
        false => judged.text.clone(),
    }
}

/// Returns the measured value, and the reason if it is not sufficient.
fn measured(judged: &Judged) -> String {
    let parts = [judged.measured.as_str(), judged.why.as_str()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("; ")
}

/// Returns the workload that a statement was tested on, and the study if it is not the one that the statement names.
fn on(paper: &Reproduced<'_>, judged: &Judged) -> String {
    let parts = judged.on.as_deref().into_iter();
    parts
        .chain(paper.again(judged))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Returns a sentence on the charts of a figure without runs.
fn left_out(found: &PanelFound) -> Option<String> {
    let charts = found.charts.iter().filter(|chart| chart.is_empty());
    let titles: Vec<String> = charts
        .map(|chart| format!("{}, {}", chart.title, chart.metric))
        .collect();
    (!titles.is_empty()).then(|| format!("Not run, and not shown: {}.", titles.join("; ")))
}

/// Returns the page.
pub fn page(paper: &Reproduced<'_>) -> String {
    let groups = groups(paper);
    let claims = paper.figures.iter().flat_map(|figure| {
        let judged = figure.found.judged.iter();
        judged.map(|judged| ClaimRow {
            text: said(judged),
            place: place(figure.found),
            on: on(paper, judged),
            claimed: judged.claimed.clone(),
            measured: measured(judged),
            verdict: judged.verdict.words().into(),
            tone: tone(judged.verdict),
        })
    });
    let remarks = paper.remarks.iter();
    render(&StudyPage {
        title: format!("{}, run again", paper.name),
        about: paper.title.into(),
        verdict: sentences(groups.iter().filter(|group| group.first)),
        facts: vec![("Fathom".into(), env!("CARGO_PKG_VERSION").into())],
        warnings: [paper.notes, &silent(paper)].concat(),
        sections: [first(&groups)]
            .into_iter()
            .chain(paper.figures.iter().map(section))
            .collect(),
        claims: claims.collect(),
        rules: RULES.into(),
        notes: remarks.map(|&remark| remark.to_owned()).collect(),
    })
}

/// Returns the section with the number of statements per verdict.
fn first(groups: &[Group]) -> Section {
    Section {
        title: "What came of the statements".into(),
        charts: vec![lead(groups)],
        tables: vec![tally::table(groups)],
        ..Section::default()
    }
}

/// Returns the colour of a verdict.
fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Holds => Tone::Good,
        Verdict::HoldsInPart | Verdict::DirectionOnly => Tone::Calm,
        Verdict::DoesNotHold => Tone::Bad,
        Verdict::CannotBeTold => Tone::Dim,
    }
}

/// Returns the name of a panel: a figure of the paper if its id is a number, otherwise a question of ours.
fn place(found: &PanelFound) -> String {
    let numbered = found.id.starts_with(|c: char| c.is_ascii_digit());
    match numbered {
        true => format!("Figure {}", found.id),
        false => found.id.clone(),
    }
}

fn heading(figure: &Figure<'_>) -> String {
    format!("{}: {}", place(figure.found), figure.title)
}

fn section(figure: &Figure<'_>) -> Section {
    let found = figure.found;
    let mut points = vec![
        format!("The paper: {}", figure.says),
        format!("Here: {}", figure.finding),
    ];
    // Statements tested on several workloads are in the table of all statements.
    let once = found.judged.iter().filter(|judged| judged.on.is_none());
    points.extend(once.map(sentence));
    points.extend(left_out(found));
    Section {
        title: heading(figure),
        points,
        charts: charts(found),
        tables: tables(found).collect(),
        ..Section::default()
    }
}

/// Returns the tables of a figure: the values under each assumption, and those of the charts.
fn tables(found: &PanelFound) -> impl Iterator<Item = Table> {
    let drawn = found.charts.iter().filter(|chart| !chart.is_empty());
    grids(found).into_iter().chain(drawn.map(table))
}

fn sentence(judged: &Judged) -> String {
    format!("{}: {}.", claim(judged), came(judged))
}

fn claim(judged: &Judged) -> String {
    format!("\u{201c}{}\u{201d} ({})", said(judged), judged.claimed)
}

fn came(judged: &Judged) -> String {
    let verdict = judged.verdict.words();
    match (judged.assumed.is_empty(), judged.measured.is_empty()) {
        (true, true) => format!("{verdict}; {}", judged.why),
        (true, false) => format!("{verdict}; measured {}", measured(judged)),
        (false, _) => judged.measured.clone(),
    }
}

/// Returns a table with a row per line and a column per point.
fn table(found: &ChartFound) -> Table {
    let cell = |value: &Option<Measured>| value.map_or_else(|| "-".into(), |value| value.words(""));
    let rows = found.lines.iter().map(|line| {
        let values = line.values.iter().map(cell);
        [line.name.clone()].into_iter().chain(values).collect()
    });
    let head = match found.places.is_empty() {
        true => found.each.clone(),
        false => format!("{}, {}", found.each, found.x),
    };
    Table {
        title: format!("{}, {}", title(found), found.metric),
        note: String::new(),
        head: [head]
            .into_iter()
            .chain(found.points.iter().cloned())
            .collect(),
        rows: rows.collect(),
    }
}

/// Returns the same as text for the terminal.
pub fn text(paper: &Reproduced<'_>, screen: Screen) -> String {
    let groups = groups(paper);
    let sources = paper.sources.iter();
    let sources = sources.map(|source| format!("- {}: {}", source.name, source.kind.words()));
    let lines = [format!("{}, run again", paper.name)].into_iter();
    let lines = lines
        .chain(groups.iter().map(|group| sentences([group])))
        .chain(paper.notes.iter().cloned())
        .chain(sources)
        .chain(silent(paper));
    let mut text = lines.map(|line| line + "\n").collect::<String>();
    for figure in &paper.figures {
        let _ = writeln!(text, "\n{}\n  the paper: {}", heading(figure), figure.says);
        text += &statements(paper, &figure.found.judged);
        if let Some(left_out) = left_out(figure.found) {
            let _ = writeln!(text, "  {left_out}");
        }
        for table in tables(figure.found) {
            let _ = writeln!(text, "\n{}", table.title);
            text += &table.text(screen);
        }
    }
    text
}

/// Returns a line for each statement, or for each workload that it was tested on.
fn statements(paper: &Reproduced<'_>, judged: &[Judged]) -> String {
    let mut text = String::new();
    let mut before = String::new();
    for judged in judged {
        let claim = claim(judged);
        if judged.on.is_none() {
            let _ = writeln!(text, "  {}", sentence(judged));
            continue;
        }
        if claim != before {
            let _ = writeln!(text, "  {claim}:");
        }
        let _ = writeln!(text, "    {}: {}.", on(paper, judged), came(judged));
        before = claim;
    }
    text
}
