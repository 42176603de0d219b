//! Describes a run and its results in words.

use crate::words::{bytes, duration};
use fathom_block::DriveStats;
use fathom_run::{Precondition, RunRecord, Side, Totals};
use fathom_workload::step::Arrival;
use std::fmt::Write as _;

/// Formats a count with its noun.
pub(crate) fn count(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Formats a time in nanoseconds.
pub(crate) fn time(ns: f64) -> String {
    duration(ns.max(0.0).round() as u64)
}

/// Formats a rate in bytes per second.
pub(crate) fn rate(bytes_per_second: f64) -> String {
    format!("{}/s", bytes(bytes_per_second as u64))
}

/// Returns the result of a run in a sentence; empty without reads and writes.
pub(super) fn verdict(totals: &Totals) -> String {
    let Some(all) = totals.all else {
        return String::new();
    };
    format!(
        "Half of {} took up to {}, and one in a hundred longer than {}; {:.0} accesses a second.",
        count(all.count, "read or write", "reads and writes"),
        duration(all.p50_ns),
        duration(all.p99_ns),
        totals.accesses_per_second()
    )
}

/// Formats the ends of an interval; a dash if it has none.
pub(crate) fn ends(low: Option<f64>, high: Option<f64>, put: fn(f64) -> String) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("{} to {}", put(low), put(high)),
        _ => "-".into(),
    }
}

/// Formats the number of accesses, on which the rate of accesses is based.
pub(super) fn accesses(totals: &Totals) -> String {
    let all = totals.all.map_or(0, |side| side.count) + totals.others;
    let of = |side: Option<Side>| side.map_or(0, |side| side.count);
    let parts = [
        (of(totals.flushes), "flush", "flushes"),
        (of(totals.trims), "trim", "trims"),
        (of(totals.zone_resets), "zone reset", "zone resets"),
        (of(totals.zone_finishes), "zone finish", "zone finishes"),
    ]
    .into_iter();
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

/// Returns the warnings to show before the figures.
pub(super) fn warnings(run: &RunRecord) -> Vec<String> {
    let own = run.warnings.iter().cloned();
    warning(run).into_iter().chain(own).collect()
}

/// Warns that the run was cut short, and how, or that nothing was measured.
fn warning(run: &RunRecord) -> Option<String> {
    let Some(cut) = run.cut_short.as_ref() else {
        return nothing(run);
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

/// Warns that no access was counted, with possible reasons.
fn nothing(run: &RunRecord) -> Option<String> {
    (run.totals.count() == 0).then(|| {
        let why = match run.plan.workload.is_program() {
            true => "every process ended before its `ramp_time` was over, or asked for nothing: make `ramp_time` shorter, \
                     or let the jobs go on longer (`size`, `loops`, `time_based`)",
            false => "the workload has no access, or its steps left none: see below what was left out; change the steps, or \
                      name the trace's format (`--format`)",
        };
        format!("Nothing was measured: {why}.")
    })
}

/// Describes how accesses were submitted.
pub(super) fn arrival(run: &RunRecord) -> String {
    match run.plan.arrival {
        _ if run.plan.workload.is_program() => "as its processes ask".to_owned(),
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

/// Describes the preparation of the drive.
pub(super) fn before(run: &RunRecord) -> String {
    match run.plan.precondition {
        Precondition::AsIs => "as it was".into(),
        // Older versions recorded this for runs on real drives.
        Precondition::Fresh if run.drive.is_none() => "as it was".into(),
        Precondition::Fresh => "fresh".into(),
        Precondition::Filled => "filled: written once in order".into(),
        Precondition::Random { times, bytes } => {
            format!("{times} times overwritten in {}", bytes.human())
        }
    }
}

/// Extracts a counter of the drive's work.
pub(super) type Work = fn(&DriveStats) -> u64;

/// Counters of a drive's work besides programs and erases.
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

/// Explains a write amplification where the number alone misleads.
fn remark(waf: f64, map_programs: u64, zoned: bool) -> &'static str {
    if waf < 1.0 && zoned {
        // A zone takes no overwrite.
        "; the rest is still in the write buffer, or was in zones that were reset"
    } else if waf < 1.0 {
        "; the rest was overwritten in the write buffer, or is still there"
    } else if waf > 2.0 && map_programs > 0 {
        "; most of it moved data or wrote the map, also for data written before the run"
    } else {
        ""
    }
}

/// Returns true if a run was on a modelled drive with zones, by its drive file.
pub(super) fn is_zoned(run: &RunRecord) -> bool {
    let file = run.drive.as_deref().unwrap_or_default();
    let mapping = file.split("\n[mapping]\n").nth(1).unwrap_or_default();
    let mut lines = mapping.lines().take_while(|line| !line.starts_with('['));
    lines.any(|line| line == "kind = \"zoned\"")
}

/// Describes the drive's work, without counters that are zero.
pub(super) fn flash(work: &DriveStats, zoned: bool) -> String {
    let mut text = String::new();
    if let Some(waf) = work.write_amplification() {
        let _ = writeln!(
            text,
            "write amplification {waf:.3}: {} written, {} programmed, {}{}",
            bytes(work.host_bytes_written),
            bytes(work.flash_bytes_programmed),
            count(work.erases, "block erased", "blocks erased"),
            remark(waf, work.map_programs, zoned),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_that_is_written_more_than_data_is_named() {
        let of = |flash_bytes_programmed, map_programs| {
            let work = DriveStats {
                host_bytes_written: 1 << 20,
                flash_bytes_programmed,
                map_programs,
                ..DriveStats::default()
            };
            flash(&work, false)
        };
        let names_it = |text: String| text.contains("wrote the map");
        assert!(names_it(of(25 << 20, 600)));
        assert!(!names_it(of(25 << 20, 0)) && !names_it(of(3 << 19, 600)));
        assert!(of(1 << 10, 1).contains("is still there"));
        // Nothing is overwritten in a zone.
        let less = DriveStats {
            host_bytes_written: 2 << 20,
            flash_bytes_programmed: 1 << 20,
            ..DriveStats::default()
        };
        let text = flash(&less, true);
        assert!(
            !text.contains("overwritten") && text.contains("were reset"),
            "{text}"
        );
    }
}
