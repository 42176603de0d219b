//! The one-file page of a run of a workload, or of several runs over one another: what they were, tables, and
//! figures of response time, throughput and write amplification over the run and of the distribution.
//!
//! What comes in is plain: whoever knows runs and drives fills in a [`RunPage`]. Nothing is computed here but what
//! a figure needs. The page works offline as the one of a measurement does ([`crate::html`]).

use crate::html::{fact, page};
use crate::text;
use maud::{Markup, html};
use serde::Serialize;

mod figures;

const SCRIPT: &str = include_str!("../assets/run.js");

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
}

/// The distribution of response times of one kind of access.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    /// Which accesses, such as `reads`.
    pub name: String,
    /// The share of them, from 0 to 1, that took at most so many nanoseconds; rising.
    pub points: Vec<(f64, u64)>,
}

/// A drawing.
#[derive(Clone, Debug, Serialize)]
struct Figure {
    id: &'static str,
    #[serde(skip)]
    title: &'static str,
    #[serde(skip)]
    see: &'static str,
    x: Axis,
    y: Axis,
    lines: Vec<Line>,
}

/// An axis: its title with the unit, and how it runs.
#[derive(Clone, Copy, Debug, Serialize)]
struct Axis {
    title: &'static str,
    scale: Scale,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Scale {
    /// Seconds since the start.
    Time,
    /// Nanoseconds, each decade equally long.
    LogNs,
    /// Numbers from zero.
    Linear,
    /// The share that is above, as a percentile, each decade equally long.
    Tail,
}

#[derive(Clone, Debug, Serialize)]
struct Line {
    name: String,
    /// Which run: lines of a run have its colour.
    run: usize,
    /// Which line of its run: these differ in how they are dashed.
    dash: usize,
    x: Vec<f64>,
    y: Vec<Option<f64>>,
}

/// The page.
pub fn render(run: &RunPage) -> String {
    let figures = figures::figures(run);
    // Plain numbers, names and lists: serialising them cannot fail.
    let json = serde_json::to_string(&figures).unwrap_or_default();
    let body = html! {
        header {
            h1 { (run.title) }
            @if !run.about.is_empty() { p.identity { (text::unbroken(&run.about)) } }
            dl.facts { @for (name, value) in &run.facts { (fact(name, value)) } }
        }
        main {
            @for warning in &run.warnings { p.notice { (warning) } }
            noscript {
                p.notice { "The figures are drawn by a script in this page; without it, only the tables are shown." }
            }
            @for table in &run.tables { (section(table)) }
            section {
                h2 { "Figures" }
                @if figures.is_empty() { p.empty { "No access was played: there is nothing to draw." } }
                div.figures.even { @for figure in &figures { (drawing(figure)) } }
            }
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
    page(&format!("Fathom: {}", run.title), &body, &json, SCRIPT)
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

fn drawing(figure: &Figure) -> Markup {
    html! {
        figure {
            h3 { (figure.title) }
            p.see { (figure.see) }
            div.plot id=(figure.id) role="img" aria-label=(figure.title) {}
            figcaption {}
        }
    }
}
