//! The write-cost model of a drive, as text for the terminal and as a page with Figure 1 of `greedy-space`.

mod charts;

use crate::chart::{self, Chart};
use crate::page::{self, fact, page as document};
use crate::screen::Screen;
use crate::table::Table;
use crate::words;
use crate::wrap::unbroken;
use fathom_probe::cost::{
    Block, Cause, Causes, Estimated, Figure, Fit, Prediction, Row, Source, WriteCost,
};
use maud::{Markup, html};
use std::fmt::Write as _;

/// Returns the text for the terminal.
pub fn text(cost: &WriteCost, screen: Screen) -> String {
    let mut text = format!("{}\n\n{}\n\n", heading(cost), verdict(cost));
    for (name, value) in facts(cost) {
        let _ = writeln!(text, "{name:<10}{value}");
    }
    for table in tables(cost) {
        let _ = write!(text, "\n{}\n{}", table.title, table.text(screen));
    }
    text
}

/// Returns the page.
pub fn page(cost: &WriteCost) -> String {
    let lead = charts::lead(cost);
    let panels: Vec<Chart> = (0..)
        .zip(&cost.figures)
        .map(|(number, figure)| charts::panel(number, figure))
        .collect();
    let tables = tables(cost);
    let body = html! {
        header {
            h1 { (heading(cost)) }
            p.told { (unbroken(&verdict(cost))) }
            dl.facts { @for (name, value) in facts(cost) { (fact(name, &value)) } }
        }
        main {
            (chart::without_script())
            div.figures.even { @for chart in &lead { (chart::figure(chart)) } }
            @for table in &tables { (section(table)) }
            section {
                h2 { "Every request in sequence (Figure 1)" }
                p.question { (unbroken(BAND)) }
                div.figures.even { @for chart in &panels { (chart::figure(chart)) } }
            }
            (page::notes(&notes(cost)))
        }
    };
    let charts: Vec<&Chart> = lead.iter().chain(&panels).collect();
    document(
        &format!("Fathom: write cost of {}", cost.target),
        &body,
        &charts,
    )
}

const BAND: &str = "The band is that of sequential writes of the same size; requests above it are spikes. The cause of a \
                    spike is what the drive counted between its submission and its completion.";

fn section(table: &Table) -> Markup {
    html! {
        section {
            h2 { (table.title) }
            (page::table(table))
        }
    }
}

fn verdict(cost: &WriteCost) -> String {
    format!("{}: {}.", cost.verdict.words(), cost.reason)
}

fn heading(cost: &WriteCost) -> String {
    format!("The cost of a write on {}", cost.target)
}

fn facts(cost: &WriteCost) -> Vec<(&'static str, String)> {
    let mut facts = vec![("L", block(&cost.block))];
    if let Some(fit) = &cost.fit {
        facts.push(("T_merge", with_interval(&fit.merge_ns, ns)));
        facts.push(("B", with_interval(&fit.bytes_per_s, rate)));
        facts.push(("error", errors(fit)));
    }
    facts.push((
        "cost",
        format!(
            "{} written, {} of the drive's time",
            words::bytes(cost.bytes_written),
            words::duration(cost.device_ns)
        ),
    ));
    facts
}

fn block(block: &Block) -> String {
    let from = match block.source {
        Source::Search => "by the paper's search",
        Source::Profile => "from the profile",
        Source::Given => "as given",
        Source::Assumed => "assumed: the search found none that can be fitted",
    };
    let size = words::bytes(block.bytes);
    match block.clustered_bytes {
        Some(clustered) if clustered == block.bytes => {
            format!("{size}, {from}; the clustered block is as large")
        }
        Some(clustered) => format!(
            "{size}, {from}; the clustered block differs: {}",
            words::bytes(clustered)
        ),
        None => format!("{size}, {from}"),
    }
}

fn errors(fit: &Fit) -> String {
    let mean = 100.0 * fit.mean_error;
    format!(
        "{mean:.1} % on average, {} at worst, below L",
        signed(fit.worst_error)
    )
}

fn tables(cost: &WriteCost) -> Vec<Table> {
    let fit = cost.fit.iter().map(|fit| fit_table(cost, fit));
    let predictions = (!cost.predictions.is_empty()).then(|| prediction_table(&cost.predictions));
    let spikes = (!cost.figures.is_empty()).then(|| spike_table(&cost.figures));
    fit.chain(predictions).chain(spikes).collect()
}

fn fit_table(cost: &WriteCost, fit: &Fit) -> Table {
    let head = [
        "sectors",
        "size",
        "measured",
        "95 % interval",
        "model",
        "error",
        "sequential",
    ];
    let row = |row: &Row| {
        let sectors = words::count(row.sectors);
        vec![
            if row.fitted {
                sectors
            } else {
                format!("{sectors} = L")
            },
            words::bytes(row.sectors * cost.sector_bytes),
            ns(row.measured.value),
            interval(&row.measured, ns),
            ns(row.predicted_ns),
            signed(row.error),
            ns(row.sequential_ns),
        ]
    };
    Table {
        rows: fit.rows.iter().map(row).collect(),
        ..Table::new(
            "A run of n sectors in one logical block",
            "Medians of batch means. n = L is predicted and not fitted.",
            head,
        )
    }
}

fn prediction_table(predictions: &[Prediction]) -> Table {
    let row = |of: &Prediction| {
        vec![
            of.set.clone(),
            ns(of.predicted_ns),
            ns(of.measured.value),
            interval(&of.measured, ns),
            signed(of.error),
        ]
    };
    Table {
        rows: predictions.iter().map(row).collect(),
        ..Table::new(
            "Sets that were not fitted",
            "The model's time is a merge for each block that is touched, and the sectors at the bandwidth.",
            ["set", "model", "measured", "95 % interval", "error"],
        )
    }
}

fn spike_table(figures: &[Figure]) -> Table {
    let head = [
        "requests",
        "number",
        "in band",
        "band ends",
        "cause",
        "spikes",
        "median",
    ];
    Table {
        rows: figures.iter().flat_map(spike_rows).collect(),
        ..Table::new("Spikes by cause (Figure 1)", "", head)
    }
}

/// Returns a row for each cause, the first one with the panel.
fn spike_rows(figure: &Figure) -> Vec<Vec<String>> {
    let share = figure.in_band as f64 / figure.requests.max(1) as f64;
    let panel = vec![
        format!("{} {}", words::bytes(figure.bytes), figure.order.words()),
        words::count(figure.requests),
        format!("{:.1} %", 100.0 * share),
        ns(figure.band_ns),
    ];
    let cause = |causes: &Causes| {
        let median = ns(causes.median_ns);
        [
            causes.cause.words().to_owned(),
            words::count(causes.spikes),
            median,
        ]
    };
    let mut causes: Vec<[String; 3]> = figure.causes.iter().map(cause).collect();
    if causes.is_empty() {
        causes.push(["none".to_owned(), "0".to_owned(), String::new()]);
    }
    let blank = vec![String::new(); panel.len()];
    let panels = std::iter::once(panel).chain(std::iter::repeat(blank));
    panels
        .zip(causes)
        .map(|(panel, cause)| [panel, cause.to_vec()].concat())
        .collect()
}

fn notes(cost: &WriteCost) -> Vec<String> {
    let untraced = |figure: &Figure| figure.causes.iter().any(|c| c.cause == Cause::Untraced);
    let note = "A spike that is not traced moved no counter of the drive: its own background work, which nothing counts, \
                or a drive that reports no work.";
    let untraced = cost.figures.iter().any(untraced).then(|| note.to_owned());
    untraced.into_iter().collect()
}

fn ns(ns: f64) -> String {
    match ns < 0.0 {
        true => format!("-{}", words::duration(-ns as u64)),
        false => words::duration(ns as u64),
    }
}

fn rate(bytes_per_s: f64) -> String {
    format!("{:.1} MB/s", bytes_per_s / 1e6)
}

fn signed(share: f64) -> String {
    format!("{:+.1} %", 100.0 * share)
}

fn interval(of: &Estimated, show: fn(f64) -> String) -> String {
    match (of.low, of.high) {
        (Some(low), Some(high)) => format!("{} – {}", show(low), show(high)),
        (Some(low), None) => format!("≥ {}", show(low)),
        _ => "–".to_owned(),
    }
}

fn with_interval(of: &Estimated, show: fn(f64) -> String) -> String {
    format!("{} ({})", show(of.value), interval(of, show))
}
