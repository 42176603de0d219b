//! What the drive did over the run: write amplification, merges, erases.

use super::figures::{chart, over_run, over_time, without_gaps};
use super::{RunPage, Stretch};
use crate::chart::{Chart, Series, Unit};

/// The figures, `None` for what no drive did.
pub(super) fn figures(page: &RunPage) -> [Option<Chart>; 3] {
    [amplification(page), merges(page), erases(page)]
}

fn amplification(page: &RunPage) -> Option<Chart> {
    Some(chart(
        "amplification",
        "Write amplification over the run",
        "Bytes that the drive programmed into flash for each byte it was given to write. Below 1, a buffer held data back \
         or took it together; above 1, data had to be moved.",
        over_run("programmed / written", Unit::Number),
        work(page, "write amplification", 0, |s| s.write_amplification),
    ))
}

/// On a page of one run the three kinds apart; of several runs, all that each did.
fn merges(page: &RunPage) -> Option<Chart> {
    let lines: Vec<Series> = if page.runs.len() > 1 {
        work(page, "", 0, |s| Some(s.merges_per_second?.iter().sum()))
    } else {
        let kinds = ["switch", "partial", "full"].into_iter().enumerate();
        kinds
            .flat_map(|(kind, name)| work(page, name, kind, |s| Some(s.merges_per_second?[kind])))
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

fn erases(page: &RunPage) -> Option<Chart> {
    let lines = work(page, "blocks erased", 0, |s| s.erases_per_second);
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

fn work(
    page: &RunPage,
    name: &str,
    line: usize,
    of: impl Fn(&Stretch) -> Option<f64>,
) -> Vec<Series> {
    let lines = over_time(page, name, line, of).into_iter();
    lines.map(without_gaps).collect()
}

/// Whether there was nothing all the time.
fn idle(line: &Series) -> bool {
    line.y.iter().flatten().all(|&y| y == 0.0)
}
