//! What the drive did over the run: write amplification, merges, erases.

use super::figures::{OVER_TIME, over_time, without_gaps};
use super::{Axis, Figure, Line, RunPage, Scale, Stretch};

const fn linear(title: &'static str) -> Axis {
    Axis {
        title,
        scale: Scale::Linear,
    }
}

/// The figures, `None` for what no drive did.
pub(super) fn figures(page: &RunPage) -> [Option<Figure>; 3] {
    [amplification(page), merges(page), erases(page)]
}

fn amplification(page: &RunPage) -> Option<Figure> {
    Some(Figure {
        id: "amplification",
        title: "Write amplification over the run",
        see: "Bytes that the drive programmed into flash for each byte it was given to write. Below 1, a buffer \
              held data back or took it together; above 1, data had to be moved.",
        x: OVER_TIME,
        y: linear("programmed / written"),
        lines: work(page, "write amplification", 0, |s| s.write_amplification),
    })
}

/// On a page of one run the three kinds apart; of several runs, all that each did.
fn merges(page: &RunPage) -> Option<Figure> {
    let lines: Vec<Line> = if page.runs.len() > 1 {
        work(page, "", 0, |s| Some(s.merges_per_second?.iter().sum()))
    } else {
        let kinds = ["switch", "partial", "full"].into_iter().enumerate();
        kinds
            .flat_map(|(kind, name)| work(page, name, kind, |s| Some(s.merges_per_second?[kind])))
            .filter(|line| !idle(line))
            .collect()
    };
    (!lines.iter().all(idle)).then_some(Figure {
        id: "merges",
        title: "Merges over the run",
        see: "Log blocks that the drive merged into data blocks. A switch merge costs an erase; partial and full ones \
              copy data, and whoever writes then waits.",
        x: OVER_TIME,
        y: linear("merges a second"),
        lines,
    })
}

fn erases(page: &RunPage) -> Option<Figure> {
    let lines = work(page, "blocks erased", 0, |s| s.erases_per_second);
    (!lines.iter().all(idle)).then_some(Figure {
        id: "erases",
        title: "Blocks erased over the run",
        see: "How fast the drive wears, and how much of its time goes into making room.",
        x: OVER_TIME,
        y: linear("blocks a second"),
        lines,
    })
}

fn work(
    page: &RunPage,
    name: &str,
    dash: usize,
    of: impl Fn(&Stretch) -> Option<f64>,
) -> Vec<Line> {
    let lines = over_time(page, name, dash, of).into_iter();
    lines.map(without_gaps).collect()
}

/// Whether there was nothing all the time.
fn idle(line: &Line) -> bool {
    line.y.iter().flatten().all(|&y| y == 0.0)
}
