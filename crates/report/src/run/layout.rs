//! The page of one or several runs: facts, tables, figures, and the counters of the layers below.

use super::beside;
use super::drawn::Drawn;
use super::figures::figures;
use crate::chart::{self, Chart};
use crate::page::{self, fact, page};
use crate::table::Table;
use crate::wrap::unbroken;
use maud::{Markup, html};

/// Contents of a page.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunPage<'a> {
    /// Heading.
    pub(crate) title: String,
    /// Result, in a sentence.
    pub(crate) verdict: String,
    /// Figure that shows the result.
    pub(crate) lead: Option<Chart>,
    /// Facts as (name, value), in display order.
    pub(crate) facts: Vec<(&'static str, String)>,
    /// Warnings, shown before the figures.
    pub(crate) warnings: Vec<String>,
    /// Tables above the figures.
    pub(crate) tables: Vec<Table>,
    /// The runs to draw: one, or several in the same figures.
    pub(crate) runs: Vec<Drawn<'a>>,
    /// Notes below the figures.
    pub(crate) notes: Vec<String>,
    /// The drive file with all defaults filled in.
    pub(crate) drive: Option<&'a str>,
}

/// Returns the page.
pub(crate) fn render(run: &RunPage<'_>) -> String {
    let lead = run.lead.iter().filter(|chart| !chart.series.is_empty());
    let charts = figures(&run.runs);
    let body = html! {
        header {
            h1 { (run.title) }
            @if !run.verdict.is_empty() { p.told { (unbroken(&run.verdict)) } }
            @if !run.facts.is_empty() { dl.facts { @for (name, value) in &run.facts { (fact(name, value)) } } }
        }
        main {
            @for warning in &run.warnings { p.notice { (warning) } }
            (chart::without_script())
            div.figures { @for chart in lead.clone() { (chart::figure(chart)) } }
            @for table in &run.tables { (section(table)) }
            section {
                h2 { "Figures" }
                @if charts.is_empty() && lead.clone().count() == 0 { p.empty { "No access was played: there is nothing to draw." } }
                div.figures.even { @for chart in &charts { (chart::figure(chart)) } }
            }
            div.beside { @for table in &beside::tables(&run.runs) { (section(table)) } }
            (page::notes(&run.notes))
            @if let Some(drive) = run.drive {
                section {
                    h2 { "Details" }
                    details { summary { "The modelled drive, resolved" } pre { (drive) } }
                }
            }
        }
    };
    let charts: Vec<&Chart> = lead.clone().chain(&charts).collect();
    page(&format!("Fathom: {}", run.title), &body, &charts)
}

fn section(table: &Table) -> Markup {
    html! {
        section {
            h2 { (table.title) }
            (page::table(table))
        }
    }
}
