//! The report as a page, with stacks of what a read costs.

use super::body::{GLOSSARY, facts, parts};
use super::charts::stacks;
use super::forms::sentence;
use super::part::Part;
use super::words::{heading, verdict};
use super::{Missing, PlatformReport};
use crate::chart::{self, Chart};
use crate::page::{self, fact, page as document};
use crate::wrap::unbroken;
use maud::{Markup, html};

/// Returns the page.
pub fn page(report: &PlatformReport) -> String {
    let lead = stacks(report);
    let parts = parts(report);
    let body = html! {
        header {
            h1 { (heading(report)) }
            p.told { (unbroken(&verdict(report))) }
            dl.facts { @for (name, value) in facts(report) { (fact(&name, &value)) } }
            @if !parts.is_empty() { p.question { (GLOSSARY) } }
        }
        main {
            @if !report.missing.is_empty() && !parts.is_empty() {
                p.notice { "Some figures are missing: " a href="#missing" { "what, and what to do" } "." }
            }
            (chart::without_script())
            div.figures.late { @for chart in &lead { (chart::figure(chart)) } }
            @for part in &parts { (section(part)) }
            (missing(&report.missing))
            (page::notes(&report.notes))
        }
    };
    let charts = lead
        .iter()
        .chain(parts.iter().flat_map(|part| &part.charts));
    let charts: Vec<&Chart> = charts.collect();
    document(&format!("Fathom: {}", heading(report)), &body, &charts)
}

fn section(part: &Part) -> Markup {
    html! {
        section {
            h2 { (part.table.title) }
            @for line in &part.lead { p { (unbroken(line)) } }
            @if !part.charts.is_empty() {
                div.figures.even { @for chart in &part.charts { (chart::figure(chart)) } }
            }
            @if !part.table.rows.is_empty() { (page::table(&part.table)) }
            @if !part.rest.is_empty() {
                ul { @for line in &part.rest { li { (unbroken(line)) } } }
            }
        }
    }
}

fn missing(all: &[Missing]) -> Markup {
    html! {
        @if !all.is_empty() {
            section id="missing" {
                h2 { "What is missing, and what to do" }
                ul {
                    @for one in all {
                        li {
                            (unbroken(&sentence(&one.what)))
                            @if !one.help.is_empty() { br; em { "To get it: " (unbroken(&sentence(&one.help))) } }
                        }
                    }
                }
            }
        }
    }
}
