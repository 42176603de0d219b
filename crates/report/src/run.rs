//! A run of a workload, as text for the terminal and as a page.
//!
//! Pure functions of the run's record. The page works offline like that of a measurement ([`crate::html`]).

use crate::screen::Screen;
use crate::words::duration;
use drawn::Drawn;
use fathom_run::{Bucket, RunRecord};
use layout::RunPage;
use std::fmt::Write as _;
use tables::{processes, times};
use words::{accesses, arrival, before, flash, is_zoned, rate, time, verdict, warnings};

mod beside;
mod block_layer;
mod counters;
pub(crate) mod drawn;
mod drive;
mod figures;
pub(crate) mod given;
pub(crate) mod host;
pub(crate) mod layout;
#[cfg(test)]
mod sample;
mod stretch;
mod tables;
pub(crate) mod words;

pub(crate) use beside::tables as beside;

/// Maximum width of the timeline, in columns.
const STRETCHES: usize = 60;

/// Returns a run as text for the terminal.
pub fn text(run: &RunRecord, screen: Screen) -> String {
    let mut text = heading(run);
    for warning in warnings(run) {
        let _ = writeln!(text, "{warning}\n");
    }
    text += &times(run).text(screen);
    let totals = &run.totals;
    let _ = write!(
        text,
        "\n{} in {}: {:.0} accesses a second, {}\n",
        accesses(totals),
        duration(totals.duration.0),
        totals.accesses_per_second(),
        rate(totals.bytes_per_second()),
    );
    text += &counters::text(&run.counters, screen);
    if let Some(processes) = processes(run) {
        if let Some(fairness) = totals.fairness() {
            let _ = writeln!(
                text,
                "fairness over processes (Jain's index): {fairness:.3}\n"
            );
        }
        text += &processes.text(screen);
        text.push('\n');
    }
    if let Some((config, stats)) = run.plan.queue.as_ref().zip(run.queue.as_ref()) {
        text += &given::text(config, stats, screen);
    }
    if let Some((platform, work)) = run.plan.platform.as_ref().zip(run.host.as_ref()) {
        text += &host::text(platform, work, screen);
    }
    if let Some(work) = &run.work {
        text += &flash(work, is_zoned(run));
    }
    if let Some(wear) = &run.wear
        && wear.max > 0
    {
        let _ = writeln!(
            text,
            "erases of a block: {} to {}, {:.2} on average",
            wear.min, wear.max, wear.mean
        );
    }
    text += &timeline(&totals.timeline, totals.bucket.0, screen);
    for note in &run.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

fn heading(run: &RunRecord) -> String {
    let plan = &run.plan;
    let arrival = arrival(run);
    format!(
        "{} on {}, {arrival}, seed {}\n\n",
        plan.workload.name(),
        plan.target,
        plan.seed
    )
}

/// Returns the mean response time over the run, as a row of bars.
fn timeline(buckets: &[Bucket], bucket_ns: u64, screen: Screen) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    if buckets.len() < 2 {
        return String::new();
    }
    let stretches = screen
        .width
        .map_or(STRETCHES, |width| width.clamp(1, STRETCHES));
    let per = buckets.len().div_ceil(stretches);
    let means: Vec<Option<f64>> = buckets
        .chunks(per)
        .map(|chunk| {
            let count: u64 = chunk.iter().map(|b| b.count).sum();
            let total: u64 = chunk.iter().map(|b| b.response_ns).sum();
            (count > 0).then(|| total as f64 / count as f64)
        })
        .collect();
    let highest = means.iter().flatten().copied().fold(0.0, f64::max);
    let bars: String = means
        .iter()
        .map(|mean| match mean {
            Some(mean) if highest > 0.0 => BARS[((mean / highest * 8.0) as usize).min(7)],
            _ => ' ',
        })
        .collect();
    format!(
        "\nmean response time over the run, a column is {}, the highest mean {}\n{}\n",
        duration(bucket_ns * per as u64),
        time(highest),
        bars.trim_end()
    )
}

/// Returns the page of a run.
pub fn page(run: &RunRecord) -> String {
    let totals = &run.totals;
    let mut facts = vec![
        ("drive", run.plan.target.clone()),
        ("arrival", arrival(run)),
        ("drive before", before(run)),
        ("seed", run.plan.seed.to_string()),
        ("took", duration(totals.duration.0)),
        (
            "accesses a second",
            format!("{:.0}", totals.accesses_per_second()),
        ),
        ("throughput", rate(totals.bytes_per_second())),
    ];
    if let Some(work) = &run.work {
        if let Some(waf) = work.write_amplification() {
            facts.push(("write amplification", format!("{waf:.3}")));
        }
        facts.push(("blocks erased", work.erases.to_string()));
    }
    if let Some(config) = &run.plan.queue {
        facts.push(("block layer", given::name(config)));
    }
    if let Some(platform) = &run.plan.platform {
        facts.push(("host charged", platform.name.clone()));
    }
    facts.push(("Fathom", run.fathom.clone()));
    let host = run.host.as_ref().map(host::tables).unwrap_or_default();
    let each = processes(run);
    let runs = vec![Drawn {
        name: "this run",
        run,
    }];
    layout::render(&RunPage {
        verdict: verdict(totals),
        lead: Some(figures::response_times(&runs)),
        title: format!("{} on {}", run.plan.workload.name(), run.plan.target),
        facts,
        warnings: warnings(run),
        tables: std::iter::once(times(run))
            .chain(each)
            .chain(host)
            .collect(),
        runs,
        notes: run.notes.clone(),
        drive: run.drive.as_deref(),
    })
}
