//! Claims that assume something, as tables: what was measured under each assumption.

use fathom_lab::reproduce::paper::{Assumed, Judged, Panel, PanelFound, Tested};
use fathom_report::table::Table;

/// Assumptions that stand side by side; more of them stand below one another.
const BESIDE: usize = 6;

/// Claims that were judged under the same assumptions.
struct Grid<'a> {
    axes: &'a [String],
    claims: Vec<(&'a Tested, &'a Judged)>,
}

impl Grid<'_> {
    fn has(&self, claim: &Tested, judged: &Judged) -> bool {
        let points = |judged: &Judged| judged.assumed.iter().map(points).collect::<Vec<_>>();
        self.axes == claim.assuming && points(self.claims[0].1) == points(judged)
    }
}

fn points(assumed: &Assumed) -> String {
    assumed.points.join(", ")
}

/// A table for the claims of a figure that make the same assumptions.
pub(super) fn grids(panel: &Panel, found: &PanelFound) -> Vec<Table> {
    let mut grids: Vec<Grid<'_>> = Vec::new();
    let claims = panel.claims.iter().zip(&found.judged);
    for (claim, judged) in claims.filter(|(_, judged)| !judged.assumed.is_empty()) {
        match grids.iter_mut().find(|grid| grid.has(claim, judged)) {
            Some(grid) => grid.claims.push((claim, judged)),
            None => grids.push(Grid {
                axes: &claim.assuming,
                claims: vec![(claim, judged)],
            }),
        }
    }
    grids.iter().map(table).collect()
}

fn table(grid: &Grid<'_>) -> Table {
    let places = &grid.claims[0].1.assumed;
    let mut head = vec![grid.axes.join(", ")];
    head.extend(places.iter().map(points));
    let mut rows = vec![head];
    for (claim, judged) in &grid.claims {
        let mut row = vec![format!("{} ({})", claim.text, judged.claimed)];
        let cell = |a: &Assumed| format!("{}: {}", a.measured, a.verdict.words());
        row.extend(judged.assumed.iter().map(cell));
        rows.push(row);
    }
    if places.len() > BESIDE {
        let column = |index: usize| rows.iter().map(|row| row[index].clone()).collect();
        rows = (0..=places.len()).map(column).collect();
    }
    Table {
        title: format!("Under each assumption: {}", grid.axes.join(", ")),
        note: String::new(),
        head: rows.remove(0),
        rows,
    }
}
