//! The drive's part of the page: what it reports beside what was measured, and its state during the run.

use crate::chart::{self, Axis, Chart, Interval, Mode, Scale, Series, Unit};
use crate::tune::{Compared, Relation, compared};
use crate::words;
use crate::wrap::unbroken;
use fathom_probe::condition::{Condition, quartiles, warnings};
use fathom_probe::{Parameter, Profile, Record, Reference, Reported};
use maud::{Markup, html};

/// The parts of the page that are about the drive.
pub(super) struct Drive<'a> {
    reported: Option<&'a Reported>,
    compared: Vec<Compared>,
    conditions: Vec<(Parameter, Condition)>,
    warnings: Vec<&'static str>,
    references: &'a [Reference],
    /// The figure of the references, if there are any.
    pub(super) chart: Option<Chart>,
}

impl<'a> Drive<'a> {
    pub(super) fn of(record: &'a Record, profile: &'a Profile) -> Self {
        let measured = profile.parameters.keys();
        Self {
            reported: profile.target.reported.as_ref(),
            compared: compared(profile),
            conditions: measured
                .map(|&parameter| (parameter, Condition::of(record, parameter)))
                .collect(),
            warnings: warnings(record),
            references: &record.meta.references,
            chart: figure(&record.meta.references),
        }
    }

    /// Returns the notices of a drive that was hot or slow, or that warns.
    pub(super) fn notices(&self) -> Markup {
        let marked = |words: &str, is: fn(&Condition) -> bool| {
            let marked = self.conditions.iter().filter(|(_, state)| is(state));
            let names: Vec<String> = marked.map(|(parameter, _)| parameter.title()).collect();
            (!names.is_empty()).then(|| format!("{words}: {}.", names.join(", ")))
        };
        let hot = marked("Measured while the drive was hot", |state| state.marks.hot);
        let slow = marked("Measured while the drive was slow", |state| {
            state.marks.slow
        });
        html! {
            @for text in hot.iter().chain(&slow) { p.notice { (unbroken(text)) } }
            @for warning in &self.warnings { p.notice { "The drive warns: " (warning) "." } }
        }
    }

    /// Returns the sections; nothing for a modelled drive without references and temperatures.
    pub(super) fn sections(&self) -> Markup {
        html! {
            @if let Some(reported) = self.reported { (self.report(reported)) }
            @if self.is_watched() { (self.during()) }
        }
    }

    fn report(&self, reported: &Reported) -> Markup {
        html! {
            section id="reported" {
                h2 { "What the drive reports" }
                p.question { "What the drive and the kernel report, beside what was measured." }
                @if !self.compared.is_empty() {
                    table.answers {
                        thead { tr { th { "property" } th { "reported" } th { "measured" } th { "" } th { "what that means" } } }
                        tbody { @for one in &self.compared { (row(one)) } }
                    }
                }
                @for found in &reported.contradictions {
                    p { (unbroken(&found.text)) " (" (found.source) ")" }
                }
                @if let Some(why) = &reported.not_asked { p { "The drive itself was not asked: " (why) "." } }
                @if let Some(why) = reported.no_log.as_ref().filter(|why| Some(*why) != reported.not_asked.as_ref()) { p { "Its log was not read: " (why) "." } }
            }
        }
    }

    fn is_watched(&self) -> bool {
        let seen =
            |(_, state): &(Parameter, Condition)| state.celsius.is_some() || !state.marks.is_none();
        self.chart.is_some() || self.conditions.iter().any(seen)
    }

    fn during(&self) -> Markup {
        html! {
            section id="state" {
                h2 { "The drive during the run" }
                p.question {
                    "Whether the drive became hot or slow while it was measured: by its own log, and by the same few reads and \
                     writes before and after each parameter."
                }
                @if let Some(chart) = &self.chart { div.figures { (chart::figure(chart)) } }
                div.wide {
                    table.numbers.figured {
                        thead {
                            tr {
                                th { "during" } th { "temperature" } th { "slowed itself down" } th { "read after it" }
                                th { "write after it" } th { "mark" }
                            }
                        }
                        tbody { @for (parameter, state) in &self.conditions { (self.state(*parameter, state)) } }
                    }
                }
            }
        }
    }

    fn state(&self, parameter: Parameter, state: &Condition) -> Markup {
        let after = self
            .references
            .iter()
            .find(|one| one.after == Some(parameter));
        let time = |times: Option<&[u64]>| {
            let quartiles = times.and_then(quartiles);
            quartiles.map_or_else(|| "–".to_owned(), |[_, ns, _]| words::duration(ns as u64))
        };
        html! {
            tr {
                th scope="row" { (parameter.title()) }
                td { (state.celsius.map_or_else(|| "–".to_owned(), |celsius| format!("{celsius} °C"))) }
                td { (state.throttles) }
                td { (time(after.map(|one| &one.read_ns[..]))) }
                td { (time(after.map(|one| &one.write_ns[..]))) }
                td { (state.marks.words()) }
            }
        }
    }
}

fn row(one: &Compared) -> Markup {
    let class = match one.relation {
        Relation::Agrees => "verdict identified",
        Relation::Differs => "verdict open",
        Relation::CannotTell => "verdict hidden",
    };
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "–".to_owned());
    html! {
        tr {
            th scope="row" { (one.property) }
            td.value data-label="reported" { (or_dash(&one.reported)) }
            td data-label="measured" { (or_dash(&one.measured)) }
            td data-label="relation" { span class=(class) { (one.relation.words()) } }
            td.why data-label="what that means" { (unbroken(&one.meaning)) }
        }
    }
}

/// Returns the figure of the references over the time of the run.
fn figure(references: &[Reference]) -> Option<Chart> {
    let first = references.first()?;
    let at = |one: &Reference| one.at_ns.saturating_sub(first.at_ns) as f64;
    let series = |name: &str, look, times: fn(&Reference) -> &[u64]| {
        let each = references.iter().map(|one| quartiles(times(one)));
        // A series in which a reference has no time is left out.
        let all: Vec<[f64; 3]> = each.collect::<Option<_>>()?;
        let quartile = |number: usize| all.iter().map(|of| of[number]).collect::<Vec<f64>>();
        let heights = quartile(1).into_iter().map(Some);
        Some(Series {
            interval: Some(Interval {
                what: "the middle half".to_owned(),
                drawn: true,
                low: quartile(0),
                high: quartile(2),
            }),
            ..Series::new(
                name,
                look,
                Mode::Line,
                references.iter().map(at).zip(heights),
            )
        })
    };
    let reads = series("reads of 4 KiB", 0, |one| &one.read_ns);
    let writes = series("writes of 64 KiB", 1, |one| &one.write_ns);
    Some(Chart {
        id: "state-0".to_owned(),
        title: "The reference during the run".to_owned(),
        see: "A steady drive is a level line: each point is the same work, before and after each parameter.".to_owned(),
        note: format!("{} references; the bars are the middle half.", references.len()),
        x: Axis::new("time since the first", Unit::Ns, Scale::Linear),
        y: Axis::new("latency", Unit::Ns, Scale::Log),
        series: reads.into_iter().chain(writes).collect(),
        ..Chart::default()
    })
}
