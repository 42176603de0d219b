//! Tables of claims with assumptions: the measured values under each assumption.

use super::found::{Assumed, Judged, PanelFound};
use crate::table::Table;

/// Maximum number of assumptions shown as columns; more are shown as rows.
const BESIDE: usize = 6;

fn points(assumed: &Assumed) -> String {
    assumed.points.join(", ")
}

/// Returns true if two statements were judged under the same assumptions, on the same workload.
fn alike(one: &Judged, other: &Judged) -> bool {
    let places = |judged: &Judged| judged.assumed.iter().map(points).collect::<Vec<_>>();
    one.assuming == other.assuming && one.on == other.on && places(one) == places(other)
}

/// Returns a table for each group of a figure's statements with the same assumptions.
pub(super) fn grids(found: &PanelFound) -> Vec<Table> {
    let mut grids: Vec<Vec<&Judged>> = Vec::new();
    for judged in found.judged.iter().filter(|j| !j.assumed.is_empty()) {
        match grids.iter_mut().find(|grid| alike(grid[0], judged)) {
            Some(grid) => grid.push(judged),
            None => grids.push(vec![judged]),
        }
    }
    grids.iter().map(|grid| table(grid)).collect()
}

fn table(grid: &[&Judged]) -> Table {
    let places = &grid[0].assumed;
    let axes = grid[0].assuming.join(", ");
    let mut head = vec![axes.clone()];
    head.extend(places.iter().map(points));
    let mut rows = vec![head];
    for judged in grid {
        let mut row = vec![format!("{} ({})", judged.text, judged.claimed)];
        let cell = |a: &Assumed| format!("{}: {}", a.measured, a.verdict.words());
        row.extend(judged.assumed.iter().map(cell));
        rows.push(row);
    }
    if places.len() > BESIDE {
        let column = |index: usize| rows.iter().map(|row| row[index].clone()).collect();
        rows = (0..=places.len()).map(column).collect();
    }
    let on = grid[0].on.iter().map(|on| format!("; {on}"));
    Table {
        title: format!("Under each assumption: {axes}{}", on.collect::<String>()),
        note: String::new(),
        head: rows.remove(0),
        rows,
    }
}
