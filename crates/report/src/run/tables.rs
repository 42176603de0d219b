//! The tables of one run: response times, and results per process.

use super::words::{ends, time};
use crate::table::Table;
use crate::words::{bytes, duration};
use fathom_run::{Process, RunRecord, Side};

/// Maximum number of processes with a row of their own.
const PROCESSES_SHOWN: usize = 16;

/// Returns the results per process, numbered from 0 as in the priority settings, with their numbers in the trace. Beyond
/// the first ones, the remaining processes share a row. `None` with fewer than two.
pub(super) fn processes(run: &RunRecord) -> Option<Table> {
    let all = &run.totals.processes;
    if all.len() < 2 {
        return None;
    }
    let note = match run.totals.fairness() {
        Some(fairness) => format!(
            "Jain's index of fairness is {fairness:.3}: 1 where all got the same, 1/n where one of n got everything."
        ),
        None => "Some began after others had finished: they did not share the drive.".to_owned(),
    };
    let head = ["process", "count", "done after", "bytes/s", "mean", "max"];
    let mut table = Table::new("Processes", &note, head);
    let (shown, others) = all.split_at(all.len().min(PROCESSES_SHOWN));
    let numbered = (0..).zip(shown);
    table.rows = numbered
        .map(|(number, process)| process_row(name(number, process), process))
        .collect();
    if !others.is_empty() {
        let first = Process {
            began: others[0].began,
            ..Process::default()
        };
        let together = others.iter().fold(first, |sum, one| Process {
            count: sum.count + one.count,
            bytes: sum.bytes + one.bytes,
            response_ns: sum.response_ns + one.response_ns,
            max_ns: sum.max_ns.max(one.max_ns),
            began: sum.began.min(one.began),
            finished: sum.finished.max(one.finished),
            timeline: Vec::new(),
            number: None,
        });
        table
            .rows
            .push(process_row(format!("{} others", others.len()), &together));
    }
    Some(table)
}

/// Returns the number of a process, with its number in the trace if it has one there.
fn name(number: u32, process: &Process) -> String {
    match process.number {
        Some(in_trace) => format!("{number} ({in_trace})"),
        None => number.to_string(),
    }
}

fn process_row(name: String, process: &Process) -> Vec<String> {
    vec![
        name,
        process.count.to_string(),
        duration(process.finished.0),
        bytes(process.bytes_per_second() as u64),
        time(process.response_ns as f64 / process.count.max(1) as f64),
        time(process.max_ns as f64),
    ]
}

/// Returns the response times, from the request of an access until it is done.
pub(super) fn times(run: &RunRecord) -> Table {
    let head = [
        "response time",
        "count",
        "mean",
        "95 % interval",
        "p50",
        "p90",
        "p99",
        "p99.9",
        "max",
    ];
    let note = "From when an access was asked for until it was done. The interval holds the true mean in 95 of 100 cases \
         (batch means).";
    let rows = run.sides().map(|(name, side)| row(name, side));
    Table {
        rows: rows.collect(),
        ..Table::new("Response times", note, head)
    }
}

fn row(name: &str, side: &Side) -> Vec<String> {
    let mean = side.response_ns;
    let mut cells = vec![
        name.into(),
        side.count.to_string(),
        time(mean.mean),
        ends(mean.low, mean.high, time),
    ];
    let quantiles = [
        side.p50_ns,
        side.p90_ns,
        side.p99_ns,
        side.p999_ns,
        side.max_ns,
    ];
    cells.extend(quantiles.map(duration));
    cells
}
