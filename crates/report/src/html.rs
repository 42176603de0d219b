//! The one-file page of a probe: answers, figures per question, costs, evidence and the drive's description.
//!
//! It works offline: the page contains its style, the figures' data and the script that draws them, and its content security
//! policy forbids fetching anything. Text from the record or profile is escaped. Equal input gives a byte-identical page.

use crate::chart::{self, Chart};
use crate::page::{fact, page};
use crate::tune::headlines;
use crate::wrap::unbroken;
use crate::{figure, text, words};
use drive::Drive;
use fathom_probe::{Cost, Estimate, Parameter, Profile, Record, Verdict};
use maud::{Markup, html};

mod details;
mod drive;

/// Returns the page of a run, from its record (samples, steps) and the profile concluded from it.
pub fn render(record: &Record, profile: &Profile) -> String {
    let parts: Vec<Part> = shown(record, profile)
        .into_iter()
        .map(|parameter| {
            let estimate = profile.parameters.get(&parameter);
            Part {
                parameter,
                estimate,
                figures: figure::figures(record, parameter, profile),
            }
        })
        .collect();
    let drive = Drive::of(record, profile);
    let title = format!("Fathom: {}", profile.target.name);
    let body = html! {
        (header(record, profile))
        main {
            @for text in headlines(profile) { p.notice { strong { (unbroken(&text)) } } }
            (notices(record, profile))
            (drive.notices())
            (answers(&parts))
            (drive.sections())
            @for part in &parts { (section(record, part)) }
            (details::section(record, profile))
        }
    };
    let figures = parts.iter().flat_map(|part| &part.figures);
    let charts: Vec<&Chart> = drive.chart.iter().chain(figures).collect();
    page(&title, &body, &charts)
}

struct Part<'a> {
    parameter: Parameter,
    estimate: Option<&'a Estimate>,
    figures: Vec<Chart>,
}

/// Returns the parameters that were requested, answered or sampled, in order.
fn shown(record: &Record, profile: &Profile) -> Vec<Parameter> {
    let asked = |p: &Parameter| {
        record.meta.parameters.contains(p)
            || profile.parameters.contains_key(p)
            || record.samples.iter().any(|s| s.parameter == *p)
    };
    let skipped = |p: &Parameter| profile.skipped.contains_key(p);
    let mut shown = Parameter::ALL.to_vec();
    shown.retain(|p| asked(p) && !skipped(p));
    shown
}

fn header(record: &Record, profile: &Profile) -> Markup {
    let target = &profile.target;
    let kind = if target.modelled {
        "modelled drive"
    } else {
        "real drive"
    };
    html! {
        header {
            h1 { (target.name) }
            @if !target.identity.is_empty() && target.identity != target.name {
                p.identity { (target.identity) }
            }
            dl.facts {
                (fact("capacity", &words::bytes(target.capacity_bytes)))
                (fact("kind", kind))
                (fact("sector", &words::bytes(u64::from(target.logical_block_bytes))))
                (fact("longest request", &words::bytes(target.max_request_bytes)))
                (fact("queue depth", &target.queue_depth.to_string()))
                (fact("volatile cache", if target.volatile_cache { "yes" } else { "no" }))
                (fact("method", profile.method.name()))
                (fact("seed", &profile.seed.to_string()))
                (fact("mode", if record.meta.read_only { "read-only" } else { "reads and writes" }))
                @if let Some([first, end]) = record.meta.region {
                    (fact("part used", &format!("{} to {}", words::bytes(first), words::bytes(end))))
                }
                @if record.meta.thin > 1 {
                    (fact("grid", &format!("one size in {}", record.meta.thin)))
                }
                (fact("Fathom", &profile.fathom))
            }
            p.cost { "Cost of the run: " (text::cost(&profile.cost)) "." }
        }
    }
}

fn notices(record: &Record, profile: &Profile) -> Markup {
    let meta = &record.meta;
    let same =
        meta.target == profile.target && meta.seed == profile.seed && meta.method == profile.method;
    html! {
        @if !meta.complete {
            p.notice { "This run did not come to its end; what follows is what it had measured by then." }
        }
        @if !same {
            p.notice {
                "The record and the profile name different drives, seeds or methods: the figures may not be \
                 those behind the answers."
            }
        }
        @for (why, names) in text::skipped(profile) {
            p.notice { "Skipped: " (names.join(", ")) ": " (why) "." }
        }
        (chart::without_script())
    }
}

fn answers(parts: &[Part]) -> Markup {
    html! {
        section {
            h2 { "What the drive hides" }
            @if parts.is_empty() {
                p { "Nothing was asked after." }
            } @else {
                table.answers {
                    thead {
                        tr {
                            th { "parameter" } th { "value" } th { "interval" } th { "verdict" } th { "why" }
                            th { "cost" }
                        }
                    }
                    tbody { @for part in parts { (answer(part)) } }
                }
            }
        }
    }
}

fn answer(part: &Part) -> Markup {
    let name = html! { a href={ "#" (part.parameter) } { (part.parameter.title()) } };
    let Some(estimate) = part.estimate else {
        return html! {
            tr { th scope="row" { (name) } td.why colspan="5" { "asked after, but without an answer" } }
        };
    };
    html! {
        tr {
            th scope="row" { (name) }
            td.value data-label="value" { (words::value(estimate)) }
            td data-label="interval" { (words::interval(estimate)) }
            td data-label="verdict" { (verdict(estimate.verdict)) }
            td.why data-label="why" { (unbroken(&estimate.evidence.reason)) }
            td.spent data-label="cost" { (spent(&estimate.cost)) }
        }
    }
}

fn verdict(verdict: Verdict) -> Markup {
    let class = match verdict {
        Verdict::Identified => "verdict identified",
        Verdict::Absent => "verdict absent",
        Verdict::NotIdentifiable => "verdict hidden",
        Verdict::Inconclusive => "verdict open",
    };
    html! {
        span class=(class) {
            span aria-hidden="true" { (words::sign(verdict)) } " " (verdict.words())
        }
    }
}

/// Returns the cost of an answer, without parts that are zero.
fn spent(cost: &Cost) -> Markup {
    html! {
        @if cost.bytes_written > 0 { span { (words::bytes(cost.bytes_written)) " written" } " " }
        @if cost.bytes_read > 0 { span { (words::bytes(cost.bytes_read)) " read" } " " }
        span { (words::duration(cost.device_ns)) }
    }
}

fn section(record: &Record, part: &Part) -> Markup {
    html! {
        section id=(part.parameter) {
            h2 {
                (part.parameter.title())
                @if let Some(estimate) = part.estimate {
                    " " span.result {
                        @if estimate.value.is_some() { strong { (words::value(estimate)) } " " }
                        (verdict(estimate.verdict))
                    }
                }
            }
            p.question { (part.parameter.about().question) }
            @if part.figures.is_empty() {
                p.empty { (nothing(record, part.parameter)) }
            }
            div.figures {
                @for chart in &part.figures { (chart::figure(chart)) }
            }
        }
    }
}

/// Returns the reason why a parameter has no figure.
fn nothing(record: &Record, parameter: Parameter) -> &'static str {
    if record.meta.read_only && parameter.about().writes {
        "No figure: this question needs writes, and the run was read-only."
    } else if !record.meta.complete {
        "No figure: the run ended before a sample was taken for this question."
    } else {
        "No figure: no sample was taken for this question."
    }
}
