//! The one-file page of a paper that was run again: what came of it, its claims with their verdicts, tables, and figures.
//!
//! What comes in is plain: whoever knows studies and drives fills in a [`StudyPage`]. Nothing is computed here. The
//! page works offline as the one of a measurement does ([`crate::html`]).

use crate::chart::{self, Chart};
use crate::page::{self, fact, page};
use crate::table::Table;
use crate::wrap::unbroken;
use maud::{Markup, html};

/// What a page shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StudyPage {
    /// The heading.
    pub title: String,
    /// What it is about, in a sentence.
    pub about: String,
    /// What came of it, in a sentence or two.
    pub verdict: String,
    /// Facts by name, in the order shown.
    pub facts: Vec<(String, String)>,
    /// What a reader must know before anything else.
    pub warnings: Vec<String>,
    /// The parts of the page above the claims.
    pub sections: Vec<Section>,
    /// The claims.
    pub claims: Vec<ClaimRow>,
    /// How verdicts come about, above the claims.
    pub rules: String,
    /// Remarks at the end.
    pub notes: Vec<String>,
}

/// A claim on one workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimRow {
    /// What is claimed.
    pub text: String,
    /// Where.
    pub place: String,
    /// The workload, and the study where it is not the first; empty where there is none to name.
    pub on: String,
    /// What is claimed of it, as it is tested.
    pub claimed: String,
    /// What was measured.
    pub measured: String,
    /// What came of it, in words.
    pub verdict: String,
    /// How it is coloured.
    pub tone: Tone,
}

/// How a verdict is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// It holds.
    Good,
    /// It holds in part.
    Calm,
    /// It does not hold.
    Bad,
    /// Not known.
    #[default]
    Dim,
}

/// A part of the page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// The heading.
    pub title: String,
    /// What it is about.
    pub text: String,
    /// What is to be said, one after another.
    pub points: Vec<String>,
    /// Figures, side by side; the page gives them their `id`.
    pub charts: Vec<Chart>,
    /// Tables below them.
    pub tables: Vec<Table>,
}

/// The charts of a section with names of their own in the page.
fn named(index: usize, section: &Section) -> Vec<Chart> {
    let charts = section.charts.iter().enumerate();
    let named = |(number, chart): (usize, &Chart)| Chart {
        id: format!("chart-{index}-{number}"),
        ..chart.clone()
    };
    charts.map(named).collect()
}

/// The page.
pub fn render(study: &StudyPage) -> String {
    let sections = study.sections.iter().enumerate();
    let charts: Vec<Vec<Chart>> = sections.map(|(i, part)| named(i, part)).collect();
    let body = html! {
        header {
            h1 { (study.title) }
            @if !study.about.is_empty() { p.identity { (unbroken(&study.about)) } }
            @if !study.verdict.is_empty() { p { strong { (unbroken(&study.verdict)) } } }
            dl.facts { @for (name, value) in &study.facts { (fact(name, value)) } }
        }
        main {
            @for warning in &study.warnings { p.notice { (warning) } }
            (chart::without_script())
            @for (part, charts) in study.sections.iter().zip(&charts) { (section(part, charts)) }
            (claims(&study.claims, &study.rules))
            (page::notes(&study.notes))
        }
    };
    let charts: Vec<&Chart> = charts.iter().flatten().collect();
    page(&format!("Fathom: {}", study.title), &body, &charts)
}

fn claims(claims: &[ClaimRow], rules: &str) -> Markup {
    let some_on = claims.iter().any(|claim| !claim.on.is_empty());
    html! {
        @if !claims.is_empty() {
            section {
                h2 { "What the paper says, and what was measured" }
                @if !rules.is_empty() { p.question { (unbroken(rules)) } }
                table.answers {
                    thead {
                        tr {
                            th { "claim" } th { "where" }
                            @if some_on { th { "workload" } }
                            th { "claimed" } th { "measured" } th { "verdict" }
                        }
                    }
                    tbody {
                        @for claim in claims {
                            tr {
                                th scope="row" { (unbroken(&claim.text)) }
                                td data-label="where" { (claim.place) }
                                @if some_on { td data-label="workload" { (claim.on) } }
                                td data-label="claimed" { (claim.claimed) }
                                td data-label="measured" { (claim.measured) }
                                td data-label="verdict" { span class=(tone(claim.tone)) { (claim.verdict) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "verdict identified",
        Tone::Calm => "verdict absent",
        Tone::Bad => "verdict open",
        Tone::Dim => "verdict hidden",
    }
}

fn section(part: &Section, charts: &[Chart]) -> Markup {
    html! {
        section {
            h2 { (part.title) }
            @if !part.text.is_empty() { p.question { (unbroken(&part.text)) } }
            @if !part.points.is_empty() {
                ul { @for point in &part.points { li { (unbroken(point)) } } }
            }
            div.figures.even {
                @for chart in charts { (chart::figure(chart)) }
            }
            @for one in &part.tables {
                @if !one.title.is_empty() { h3 { (one.title) } }
                (page::table(one))
            }
        }
    }
}
