//! The collapsed details of a page: the cost of each step, the figures behind the answers, the drive's description.

use crate::words;
use crate::wrap::unbroken;
use fathom_probe::profile::Evidence;
use fathom_probe::{Parameter, Profile, Record};
use maud::{Markup, html};

/// Returns the section of collapsed details.
pub(super) fn section(record: &Record, profile: &Profile) -> Markup {
    html! {
        section {
            h2 { "Details" }
            details {
                summary { "Cost of each step (" (words::count(record.steps.len() as u64)) ")" }
                (steps(record))
            }
            details {
                summary { "Figures behind the answers" }
                @if profile.parameters.is_empty() { p { "There are no answers." } }
                @for (parameter, estimate) in &profile.parameters {
                    (evidence(*parameter, &estimate.evidence))
                }
            }
            @if let Some(spec) = &profile.target.spec {
                details {
                    summary { "The modelled drive, resolved" }
                    pre { (spec) }
                }
            }
        }
    }
}

fn steps(record: &Record) -> Markup {
    html! {
        div.wide {
            table.numbers {
                thead {
                    tr {
                        th { "parameter" } th { "step" } th { "written" } th { "read" } th { "requests" }
                        th { "time" }
                    }
                }
                tbody {
                    @for step in &record.steps {
                        tr {
                            td { (step.parameter.title()) }
                            td { (step.name) }
                            td { (words::bytes(step.cost.bytes_written)) }
                            td { (words::bytes(step.cost.bytes_read)) }
                            td { (words::count(step.cost.requests)) }
                            td { (words::duration(step.cost.device_ns)) }
                        }
                    }
                }
            }
        }
    }
}

fn evidence(parameter: Parameter, evidence: &Evidence) -> Markup {
    html! {
        h3 { (parameter.title()) }
        p { (unbroken(&evidence.reason)) }
        @if !evidence.figures.is_empty() {
            div.wide {
                table.numbers {
                    tbody {
                        @for (name, value) in &evidence.figures {
                            tr { th scope="row" { (name) } td { (words::number(*value)) } }
                        }
                    }
                }
            }
        }
    }
}
