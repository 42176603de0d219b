//! The facts and the parts of the report.

use super::forms::{decimal, percent};
use super::part::Part;
use super::{PlatformReport, copies, cost, latency, scaling, tracing};

/// What the names of the ways mean.
pub(super) const GLOSSARY: &str = "A read is direct (past the page cache) or buffered (through it), and raw (of the device itself) \
                                   or of a file in a file system.";

/// Returns the parts that there are.
pub(super) fn parts(report: &PlatformReport) -> Vec<Part> {
    let parts = [
        latency::part(report),
        cost::part(report),
        copies::part(report),
        scaling::part(report),
        tracing::part(report),
    ];
    parts.into_iter().flatten().collect()
}

/// Returns the facts, with those of the report itself.
pub(super) fn facts(report: &PlatformReport) -> Vec<(String, String)> {
    let given = report
        .facts
        .iter()
        .map(|fact| (fact.name.clone(), fact.value.clone()));
    let clock = match report.clock_hz {
        Some(hz) => format!(
            "{} GHz{}",
            decimal(hz as f64 / 1e9),
            if report.measured {
                " (time-stamp counter)"
            } else {
                ""
            }
        ),
        None => "unknown: costs are times".to_owned(),
    };
    let others = report.others.map_or(String::new(), |others| {
        format!(
            "{} before or after; the machine's host took {} in between",
            percent(others.programs),
            percent(others.host)
        )
    });
    let own = [
        ("clock", clock),
        ("other programs", others),
        ("Fathom", report.fathom.clone()),
    ];
    let own = own
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    given
        .chain(own)
        .filter(|(_, value)| !value.is_empty())
        .collect()
}
