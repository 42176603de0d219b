//! Shared parts of all pages: document, style, scripts, facts and tables.

use crate::chart::{self, Chart};
use crate::table::Table;
use crate::wrap::unbroken;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("../assets/report.css");
/// Must be the first script: it shows errors of later scripts on the page, where otherwise a figure would stay empty.
const ON_ERROR: &str = include_str!("../assets/on-error.js");
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                      img-src data: blob:";

/// Returns a page with this body, the data of its charts and the script that draws them.
pub(crate) fn page(title: &str, body: &Markup, charts: &[&Chart]) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
                script { (PreEscaped(ON_ERROR)) }
            }
            body {
                (body)
                script id="figures" type="application/json" { (PreEscaped(chart::json(charts))) }
                script { (PreEscaped(chart::script())) }
            }
        }
    };
    page.into_string()
}

/// Returns a named fact.
pub(crate) fn fact(name: &str, value: &str) -> Markup {
    html! { div { dt { (name) } dd { (value) } } }
}

/// Length in bytes above which a heading or name in a table may wrap.
const LONG: usize = 40;

fn long(cell: &str) -> Option<&'static str> {
    (cell.len() > LONG).then_some("long")
}

/// Length in bytes above which the heading of a column wraps where the table would be too wide.
const WORDS: usize = 16;

fn head(name: &str) -> Option<&'static str> {
    long(name).or((name.len() > WORDS).then_some("words"))
}

/// Returns a table and its note, without its heading.
pub(crate) fn table(table: &Table) -> Markup {
    html! {
        @if !table.note.is_empty() { p.question { (unbroken(&table.note)) } }
        div.wide {
            table.numbers.figured {
                thead { tr { @for name in &table.head { th class=[head(name)] { (name) } } } }
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for (index, cell) in row.iter().enumerate() {
                                @if index == 0 { th class=[long(cell)] scope="row" { (unbroken(cell)) } } @else { td { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the notes at the end of a page; nothing if there are none.
pub(crate) fn notes(notes: &[String]) -> Markup {
    html! {
        @if !notes.is_empty() {
            section {
                h2 { "Notes" }
                ul { @for note in notes { li { (note) } } }
            }
        }
    }
}
