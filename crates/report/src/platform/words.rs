//! The heading and the result, in sentences.

use super::forms::{percent, positive, rounded, time};
use super::latency::own;
use super::{Cost, Latency, PlatformReport, cost, interface, limits};
use crate::words::bytes;
use fathom_platform::Interface;

/// What a report is about.
pub(super) fn heading(report: &PlatformReport) -> String {
    let how = match report.measured {
        true => "measured",
        false => "modelled",
    };
    let size = size(report.block_bytes);
    match report.subject.is_empty() {
        true => format!("What a {size} read costs the machine, {how}"),
        false => format!("What a {size} read costs on {}, {how}", report.subject),
    }
}

/// A size before a noun, such as `4-KiB`.
fn size(block_bytes: u64) -> String {
    bytes(block_bytes).replace(' ', "-")
}

/// The result, in a few sentences.
pub(super) fn verdict(report: &PlatformReport) -> String {
    let latency = report
        .latency
        .iter()
        .find_map(|one| of_latency(one, report));
    let processor = of_processor(report, latency.is_some());
    let first = match (latency, processor) {
        (None, None) => None,
        (Some(latency), Some(processor)) => Some(format!("{latency}; {processor}.")),
        (Some(one), None) | (None, Some(one)) => Some(format!("{one}.")),
    };
    let most = limits::most(&report.scaling);
    let told = first.into_iter().chain(most);
    let told: Vec<String> = told.chain(disturbed(report)).collect();
    match told.is_empty() {
        true if report.missing.is_empty() => "There is no figure.".to_owned(),
        true => "Nothing could be measured; the list of what is missing says why, and what to do."
            .to_owned(),
        false => told.join(" "),
    }
}

/// Whether others were at work, too.
fn disturbed(report: &PlatformReport) -> Option<String> {
    let others = report.others.filter(|others| others.disturb())?;
    Some(format!(
        "The machine was not quiet: other programs used {} of its processors, and its host took {}; repeat it when it is.",
        percent(others.programs),
        percent(others.host)
    ))
}

/// The time of a read, and the machine's part of it.
fn of_latency(latency: &Latency, report: &PlatformReport) -> Option<String> {
    let all = positive(latency.latency_ns)?;
    let size = size(report.block_bytes);
    let way = match report.latency.len() {
        0 | 1 => String::new(),
        _ => format!(" ({})", latency.path.words()),
    };
    let takes = format!("A {size} read{way} takes {}", time(all));
    let Some(own) = own(latency) else {
        return Some(takes);
    };
    Some(format!(
        "{takes}, of which the machine takes {} ({})",
        time(own),
        percent(own / all)
    ))
}

/// The rates of a processor with direct reads of the size, the lowest and the highest.
fn of_processor(report: &PlatformReport, named: bool) -> Option<String> {
    let costs = report.costs.iter().zip(cost::rates(report));
    let file_system = report.costs.first()?.path.file_system;
    let alike = |cost: &Cost| {
        let direct = !cost.path.buffered && cost.path.file_system == file_system;
        direct && cost.block_bytes == report.block_bytes
    };
    let rates = costs.filter(|(cost, _)| alike(cost));
    let mut rates: Vec<(f64, Interface)> = rates
        .filter_map(|(cost, rate)| Some((rate?, cost.path.interface)))
        .collect();
    rates.sort_by(|a, b| a.0.total_cmp(&b.0));
    let [low, high] = [rates.first()?, rates.last()?]
        .map(|(rate, way)| format!("{} ({})", rounded(*rate), interface(*way)));
    let what = match named {
        true => "a processor does",
        false => "A processor does",
    };
    let size = bytes(report.block_bytes);
    Some(match low == high {
        true => format!("{what} {low} direct reads of {size} a second"),
        false => format!("{what} {low} to {high} direct reads of {size} a second"),
    })
}
