//! Charts of the drive's work over the run: write amplification, merges, erases.

use super::drawn::{Drawn, chart, over_run, through_points};
use crate::chart::{Chart, Series, Unit};
use fathom_block::DriveStats;

/// Returns the charts; `None` for work that no drive did.
pub(super) fn figures(runs: &[Drawn<'_>]) -> [Option<Chart>; 3] {
    [amplification(runs), merges(runs), erases(runs)]
}

fn amplification(runs: &[Drawn<'_>]) -> Option<Chart> {
    Some(chart(
        "amplification",
        "Write amplification over the run",
        "Bytes that the drive programmed into flash for each byte it was given to write. Below 1, a buffer held data back \
         or took it together; above 1, data had to be moved.",
        over_run("programmed / written", Unit::Number),
        through_points(runs, "write amplification", 0, |s| s.write_amplification()),
    ))
}

type Work = fn(&DriveStats) -> u64;

const MERGES: [(&str, Work); 3] = [
    ("switch", |work| work.switch_merges),
    ("partial", |work| work.partial_merges),
    ("full", |work| work.full_merges),
];

/// One run: the three kinds of merges as separate lines. Several runs: a line per run with all kinds added.
fn merges(runs: &[Drawn<'_>]) -> Option<Chart> {
    let line = |number: usize, name: &str, of: &dyn Fn(&DriveStats) -> u64| {
        through_points(runs, name, number, |s| s.per_second(of))
    };
    let lines: Vec<Series> = if runs.len() > 1 {
        line(0, "", &|work| MERGES.iter().map(|(_, of)| of(work)).sum())
    } else {
        let kinds = MERGES.iter().enumerate();
        kinds
            .flat_map(|(number, (name, of))| line(number, name, of))
            .filter(|line| !idle(line))
            .collect()
    };
    (!lines.iter().all(idle)).then(|| {
        chart(
            "merges",
            "Merges over the run",
            "Log blocks that the drive merged into data blocks. A switch merge costs an erase; partial and full ones \
             copy data, and whoever writes then waits.",
            over_run("merges a second", Unit::Number),
            lines,
        )
    })
}

fn erases(runs: &[Drawn<'_>]) -> Option<Chart> {
    let lines = through_points(runs, "blocks erased", 0, |s| {
        s.per_second(|work| work.erases)
    });
    (!lines.iter().all(idle)).then(|| {
        chart(
            "erases",
            "Blocks erased over the run",
            "How fast the drive wears, and how much of its time goes into making room.",
            over_run("blocks a second", Unit::Number),
            lines,
        )
    })
}

/// Returns true if the line is zero everywhere.
fn idle(line: &Series) -> bool {
    line.y.iter().flatten().all(|&y| y == 0.0)
}
