//! The one-file page of a run of a workload, or of several runs over one another: what they were, tables, and
//! figures of response time, throughput, what waited, what each process got and what the drive did over the run, of
//! the distribution and of the sizes of requests.
//!
//! What comes in is plain: whoever knows runs and drives fills in a [`RunPage`]. Nothing is computed here but what
//! a figure needs. The page works offline as the one of a measurement does ([`crate::html`]).

use crate::chart::{self, Chart};
use crate::html::{fact, page};
use crate::text;
use maud::{Markup, html};
use std::collections::BTreeMap;

mod drive;
mod figures;
mod queue;

/// What a page shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunPage {
    /// The heading.
    pub title: String,
    /// What it is about, in a sentence.
    pub about: String,
    /// Facts by name, in the order shown.
    pub facts: Vec<(String, String)>,
    /// What a reader must know before the figures.
    pub warnings: Vec<String>,
    /// Tables above the figures.
    pub tables: Vec<Table>,
    /// The runs that are drawn: one, or several over one another.
    pub runs: Vec<RunLines>,
    /// Tables below the figures.
    pub beneath: Vec<Table>,
    /// Remarks below the figures.
    pub notes: Vec<String>,
    /// What is folded away, with its heading, such as a drive file.
    pub details: Vec<(String, String)>,
}

/// A table with a heading and a sentence on how to read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The heading.
    pub title: String,
    /// How to read it.
    pub note: String,
    /// The names of the columns.
    pub head: Vec<String>,
    /// The cells; the first of a row is its name.
    pub rows: Vec<Vec<String>>,
}

/// What is drawn of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunLines {
    /// What it is called in the legend.
    pub name: String,
    /// The run from its start to its end.
    pub stretches: Vec<Stretch>,
    /// How the response times of each kind of access are distributed.
    pub distributions: Vec<Distribution>,
    /// What each process got; drawn where there is one run.
    pub processes: Vec<ProcessLine>,
    /// What a block layer gave the drive; empty where there is none.
    pub given: Given,
}

/// What one of several processes got over the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProcessLine {
    /// What it is called in the legend.
    pub name: String,
    /// Nanoseconds since the start of the run, and bytes per second around then; rising.
    pub points: Vec<(u64, f64)>,
}

/// How many requests a drive was given of how many bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Reads by their bytes.
    pub reads: BTreeMap<u64, u64>,
    /// Writes by their bytes.
    pub writes: BTreeMap<u64, u64>,
    /// Bundles of writes by their bytes.
    pub bundles: BTreeMap<u64, u64>,
}

/// A stretch of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stretch {
    /// Its middle, in nanoseconds since the start of the run.
    pub at_ns: u64,
    /// Mean response time of the accesses that ended in it; `None` where none did.
    pub mean_ns: Option<f64>,
    /// The longest of them.
    pub max_ns: Option<u64>,
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// Bytes programmed for each byte that the host wrote; `None` where it wrote none or the drive cannot tell.
    pub write_amplification: Option<f64>,
    /// Requests that were not done, on average; `None` without a block layer.
    pub not_done: Option<f64>,
    /// Requests that the drive had, on average.
    pub at_drive: Option<f64>,
    /// Switch, partial and full merges per second; `None` where it is not told.
    pub merges_per_second: Option<[f64; 3]>,
    /// Blocks erased per second; `None` where it is not told.
    pub erases_per_second: Option<f64>,
}

/// The distribution of response times of one kind of access.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    /// Which accesses: `reads` or `writes`.
    pub name: String,
    /// The share of them, from 0 to 1, that took at most so many nanoseconds; rising.
    pub points: Vec<(f64, u64)>,
}

/// The page.
pub fn render(run: &RunPage) -> String {
    let charts = figures::figures(run);
    let body = html! {
        header {
            h1 { (run.title) }
            @if !run.about.is_empty() { p.identity { (text::unbroken(&run.about)) } }
            dl.facts { @for (name, value) in &run.facts { (fact(name, value)) } }
        }
        main {
            @for warning in &run.warnings { p.notice { (warning) } }
            (chart::without_script())
            @for table in &run.tables { (section(table)) }
            section {
                h2 { "Figures" }
                @if charts.is_empty() { p.empty { "No access was played: there is nothing to draw." } }
                div.figures.even { @for chart in &charts { (chart::figure(chart)) } }
            }
            div.beside { @for table in &run.beneath { (section(table)) } }
            @if !run.notes.is_empty() {
                section {
                    h2 { "Notes" }
                    ul { @for note in &run.notes { li { (note) } } }
                }
            }
            @if !run.details.is_empty() {
                section {
                    h2 { "Details" }
                    @for (name, text) in &run.details {
                        details { summary { (name) } pre { (text) } }
                    }
                }
            }
        }
    };
    let charts: Vec<&Chart> = charts.iter().collect();
    page(&format!("Fathom: {}", run.title), &body, &charts)
}

fn section(table: &Table) -> Markup {
    html! {
        section {
            h2 { (table.title) }
            @if !table.note.is_empty() { p.question { (text::unbroken(&table.note)) } }
            div.wide {
                table.numbers.figured {
                    thead { tr { @for name in &table.head { th { (name) } } } }
                    tbody {
                        @for row in &table.rows {
                            tr {
                                @for (index, cell) in row.iter().enumerate() {
                                    @if index == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
