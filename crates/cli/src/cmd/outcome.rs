//! A run as text for the terminal.

use fathom_block::DriveStats;
use fathom_report::screen::Screen;
use fathom_report::text::{human_bytes, human_duration};
use fathom_run::RunRecord;
use fathom_run::{Bucket, Precondition, Process, Side, Totals};
use fathom_workload::step::Arrival;
use std::fmt::Write as _;

pub(super) mod counted;

/// Columns of the timeline where there is room for them.
const STRETCHES: usize = 60;

pub(super) fn text(outcome: &RunRecord, screen: Screen) -> String {
    let mut text = heading(outcome);
    for warning in warnings(outcome) {
        let _ = writeln!(text, "{warning}\n");
    }
    text += &super::table::table(&times(outcome), screen);
    let totals = &outcome.totals;
    let _ = write!(
        text,
        "\n{} in {}: {:.0} accesses a second, {}/s\n",
        accesses(totals),
        human_duration(totals.duration.0),
        totals.accesses_per_second(),
        human_bytes(totals.bytes_per_second() as u64),
    );
    text += &counted::text(&outcome.counters, screen);
    if let Some(fairness) = totals.fairness() {
        let _ = writeln!(
            text,
            "fairness over processes (Jain's index): {fairness:.3}\n"
        );
        text += &super::table::table(&processes(outcome), screen);
        text.push('\n');
    }
    if let Some((config, stats)) = outcome.plan.queue.as_ref().zip(outcome.queue.as_ref()) {
        text += &super::queue::text(config, stats, screen);
    }
    if let Some(work) = &outcome.work {
        text += &flash(work);
    }
    if let Some(wear) = &outcome.wear
        && wear.max > 0
    {
        let _ = writeln!(
            text,
            "erases of a block: {} to {}, {:.2} on average",
            wear.min, wear.max, wear.mean
        );
    }
    text += &timeline(&totals.timeline, totals.bucket.0, screen);
    for note in &outcome.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// How many accesses there were: the number that the rate of them is of.
fn accesses(totals: &Totals) -> String {
    let all = totals.all.map_or(0, |side| side.count) + totals.others;
    let of = |side: Option<Side>| side.map_or(0, |side| side.count);
    let (flushes, trims) = (of(totals.flushes), of(totals.trims));
    let parts = [(flushes, "flush", "flushes"), (trims, "trim", "trims")].into_iter();
    let parts: Vec<_> = parts
        .filter(|(n, ..)| *n > 0)
        .map(|(n, one, many)| count(n, one, many))
        .collect();
    let all = count(all, "access", "accesses");
    match parts.is_empty() {
        true => all,
        false => format!("{all}, of which {},", parts.join(" and ")),
    }
}

fn heading(outcome: &RunRecord) -> String {
    let plan = &outcome.plan;
    let arrival = arrival(outcome);
    format!(
        "{} on {}, {arrival}, seed {}\n\n",
        plan.workload.name(),
        plan.target,
        plan.seed
    )
}

/// What a reader must know before the figures.
pub(super) fn warnings(outcome: &RunRecord) -> Vec<String> {
    let own = outcome.warnings.iter().cloned();
    warning(outcome).into_iter().chain(own).collect()
}

/// That the run did not come to its end, and how; or that nothing was measured.
fn warning(outcome: &RunRecord) -> Option<String> {
    let Some(cut) = outcome.cut_short.as_ref() else {
        return nothing(outcome);
    };
    Some(format!(
        "The run was cut short at {}. What follows is about the accesses that completed before it; {} in flight then, \
         which may or may not have reached the drive. What to do: {}.",
        cut.error,
        match cut.lost {
            1 => "1 more was".to_owned(),
            lost => format!("{lost} more were"),
        },
        cut.help
    ))
}

/// That no access counts, and why that may be.
fn nothing(outcome: &RunRecord) -> Option<String> {
    let totals = &outcome.totals;
    let counted = totals.all.map_or(0, |side| side.count) + totals.others;
    (counted == 0).then(|| {
        let why = match outcome.plan.workload.is_program() {
            true => "every process ended before its `ramp_time` was over, or asked for nothing: make `ramp_time` shorter, \
                     or let the jobs go on longer (`size`, `loops`, `time_based`)",
            false => "the workload has no access, or its steps left none",
        };
        format!("Nothing was measured: {why}.")
    })
}

/// How accesses were handed over, in words.
pub(super) fn arrival(outcome: &RunRecord) -> String {
    match outcome.plan.arrival {
        _ if outcome.plan.workload.is_program() => "as its processes ask".to_owned(),
        Arrival::Open => "at its own times".to_owned(),
        Arrival::Closed { outstanding } => format!("{outstanding} outstanding"),
        Arrival::Processes {
            processes,
            outstanding,
        } => format!(
            "{} with {outstanding} outstanding each",
            count(u64::from(processes.get()), "process", "processes")
        ),
    }
}

/// What was done to the drive before, in words.
pub(super) fn before(outcome: &RunRecord) -> String {
    match outcome.plan.precondition {
        Precondition::Fresh if outcome.drive.is_none() => "as it was".into(),
        Precondition::Fresh => "fresh".into(),
        Precondition::Filled => "filled: written once in order".into(),
        Precondition::Random { times, bytes } => {
            format!("{times} times overwritten in {}", human_bytes(bytes.0))
        }
    }
}

const HEAD: [&str; 9] = [
    "",
    "count",
    "mean",
    "95 % interval",
    "p50",
    "p90",
    "p99",
    "p99.9",
    "max",
];

/// So many processes have a row of their own.
const PROCESSES_SHOWN: usize = 16;

/// What each process got, numbered from 0 as where priorities are given; of many, the first ones, and the rest together.
pub(super) fn processes(outcome: &RunRecord) -> Vec<Vec<String>> {
    let head = ["process", "count", "done after", "bytes/s", "mean", "max"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let all = &outcome.totals.processes;
    let (shown, others) = all.split_at(all.len().min(PROCESSES_SHOWN));
    let numbered = (0..).map(|number: u32| number.to_string()).zip(shown);
    rows.extend(numbered.map(|(number, process)| process_row(number, process)));
    if !others.is_empty() {
        let together = others.iter().fold(Process::default(), |sum, one| Process {
            count: sum.count + one.count,
            bytes: sum.bytes + one.bytes,
            response_ns: sum.response_ns + one.response_ns,
            max_ns: sum.max_ns.max(one.max_ns),
            finished: sum.finished.max(one.finished),
            timeline: Vec::new(),
        });
        rows.push(process_row(format!("{} others", others.len()), &together));
    }
    rows
}

fn process_row(name: String, process: &Process) -> Vec<String> {
    let seconds = process.finished.as_secs_f64().max(1e-9);
    vec![
        name,
        process.count.to_string(),
        human_duration(process.finished.0),
        human_bytes((process.bytes as f64 / seconds) as u64),
        short(process.response_ns as f64 / process.count.max(1) as f64),
        short(process.max_ns as f64),
    ]
}

/// Response times: from when an access is asked for until it is done.
pub(super) fn times(outcome: &RunRecord) -> Vec<Vec<String>> {
    let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
    rows[0][0] = "response time".into();
    rows.extend(outcome.sides().map(|(name, side)| row(name, side)));
    rows
}

fn row(name: &str, side: &Side) -> Vec<String> {
    let mean = side.response_ns;
    let interval = match (mean.low, mean.high) {
        (Some(low), Some(high)) => format!("{} to {}", short(low.max(0.0)), short(high)),
        _ => "-".into(),
    };
    let mut cells = vec![
        name.into(),
        side.count.to_string(),
        short(mean.mean),
        interval,
    ];
    let quantiles = [
        side.p50_ns,
        side.p90_ns,
        side.p99_ns,
        side.p999_ns,
        side.max_ns,
    ];
    cells.extend(quantiles.map(|ns| short(ns as f64)));
    cells
}

fn short(ns: f64) -> String {
    human_duration(ns.round() as u64)
}

pub(super) fn count(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// How much of something a drive did.
pub(super) type Work = fn(&DriveStats) -> u64;

/// What a drive does beside programs and erases.
pub(super) const WORK: [(&str, Work); 10] = [
    ("switch merges", |work| work.switch_merges),
    ("partial merges", |work| work.partial_merges),
    ("full merges", |work| work.full_merges),
    ("blocks collected", |work| work.collected),
    ("units moved", |work| work.moved_units),
    ("reads of the map", |work| work.map_reads),
    ("programs of the map", |work| work.map_programs),
    ("reads repeated", |work| work.read_retries),
    ("operations suspended", |work| work.suspends),
    ("blocks out of use", |work| work.bad_blocks),
];

/// What the drive did, without what it did not.
fn flash(work: &DriveStats) -> String {
    let mut text = String::new();
    if let Some(waf) = work.write_amplification() {
        let _ = writeln!(
            text,
            "write amplification {waf:.3}: {} written, {} programmed, {}{}",
            human_bytes(work.host_bytes_written),
            human_bytes(work.flash_bytes_programmed),
            count(work.erases, "block erased", "blocks erased"),
            match waf < 1.0 {
                true => "; the rest was overwritten in the write buffer, or is still there",
                false => "",
            },
        );
    }
    let parts = WORK.into_iter().map(|(what, of)| (of(work), what));
    let done: Vec<String> = parts
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{n} {what}"))
        .collect();
    if !done.is_empty() {
        let _ = writeln!(text, "{}", done.join(", "));
    }
    text
}

/// Mean response time over the run, as a row of bars.
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
        human_duration(bucket_ns * per as u64),
        short(highest),
        bars.trim_end()
    )
}
