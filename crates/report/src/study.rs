//! The one-file page of a reproduced paper: result, claims with their verdicts, tables and figures.
//!
//! The caller, who knows studies and drives, fills in a [`StudyPage`]; nothing is computed here. The page works offline like
//! that of a measurement ([`crate::html`]).

use crate::chart::{self, Chart};
use crate::page::{self, fact, page};
use crate::table::Table;
use crate::wrap::unbroken;
use maud::{Markup, html};

/// Contents of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StudyPage {
    /// Heading.
    pub title: String,
    /// Description, in a sentence.
    pub about: String,
    /// Result, in a sentence or two.
    pub verdict: String,
    /// Facts as (name, value), in display order.
    pub facts: Vec<(String, String)>,
    /// Warnings, shown first.
    pub warnings: Vec<String>,
    /// Sections above the claims.
    pub sections: Vec<Section>,
    /// The claims and their verdicts.
    pub claims: Vec<ClaimRow>,
    /// How verdicts are reached; shown above the claims.
    pub rules: String,
    /// Notes at the end.
    pub notes: Vec<String>,
}

/// A claim, tested on one workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimRow {
    /// Text of the claim.
    pub text: String,
    /// Place in the paper.
    pub place: String,
    /// Workload, and the study if it is not the first; empty if the claim names none.
    pub on: String,
    /// The claim in the form that is tested.
    pub claimed: String,
    /// Measured value.
    pub measured: String,
    /// Verdict, in words.
    pub verdict: String,
    /// Colour of the verdict.
    pub tone: Tone,
}

/// Colour of a verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// The claim holds.
    Good,
    /// The claim holds in part.
    Calm,
    /// The claim does not hold.
    Bad,
    /// Unknown.
    #[default]
    Dim,
}

/// A section of the page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Heading.
    pub title: String,
    /// Description.
    pub text: String,
    /// List of statements.
    pub points: Vec<String>,
    /// Figures, side by side; the page assigns their `id`.
    pub charts: Vec<Chart>,
    /// Tables below the figures.
    pub tables: Vec<Table>,
}

/// Returns the charts of a section with ids that are unique in the page.
fn named(index: usize, section: &Section) -> Vec<Chart> {
    let charts = section.charts.iter().enumerate();
    let named = |(number, chart): (usize, &Chart)| Chart {
        id: format!("chart-{index}-{number}"),
        ..chart.clone()
    };
    charts.map(named).collect()
}

/// Returns the page.
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
