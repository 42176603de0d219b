//! Comparison of runs: the ratios of their response times with intervals, and the differences between their settings.
//! It does not claim that a difference in settings causes a difference in times.
//!
//! [`fathom_stats::ratio`] has the statistics. If both runs played the same accesses, they are compared access by
//! access.

mod changes;
mod pairs;
mod row;

pub use changes::{Change, changes, warnings};
pub use fathom_stats::ratio::{Basis, Mean, Ratio, Verdict};
pub use pairs::{Pairs, Responses, Timed};
pub use row::Row;

use crate::figures::Side;
use crate::record::RunRecord;
use serde::Serialize;

/// A named run.
#[derive(Debug)]
pub struct Named {
    /// The user's name for it.
    pub name: String,
    /// The record of the run.
    pub run: RunRecord,
    /// The response times of its accesses, if they were kept.
    pub responses: Option<Responses>,
}

/// A comparison of runs with the first of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Every run; the first is the base.
    pub runs: Vec<Compared>,
}

/// One run compared with the base.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// The user's name for it.
    pub name: String,
    /// Differences from the base in the settings; empty for the base itself.
    pub changes: Vec<Change>,
    /// Reasons why the ratios may be misleading.
    pub warnings: Vec<String>,
    /// Figures by kind of access.
    pub sides: Vec<ComparedSide>,
    /// Accesses per second.
    pub accesses_per_second: f64,
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// Bytes programmed for each byte that the host wrote.
    pub write_amplification: Option<f64>,
    /// Blocks erased during the run; `None` for a drive that cannot tell.
    pub erases: Option<u64>,
}

/// One kind of access of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedSide {
    /// `reads`, `writes` or `all`.
    pub side: &'static str,
    /// Its figures.
    pub figures: Side,
    /// Mean response time divided by that of the base; `None` for the base, and if the base had no such access.
    pub ratio: Option<Ratio>,
}

/// Compares every run with the first.
pub fn compare(runs: &[Named]) -> Comparison {
    let base = runs.first();
    let compared = runs.iter().enumerate().map(|(index, run)| {
        let other = base.filter(|_| index > 0);
        compared(run, other)
    });
    Comparison {
        runs: compared.collect(),
    }
}

fn compared(run: &Named, base: Option<&Named>) -> Compared {
    let pairs = base.and_then(|base| pairs_of(base, run));
    let record = &run.run;
    let sides = record.sides().map(|(side, figures)| ComparedSide {
        side,
        figures: *figures,
        ratio: base.and_then(|base| ratio_of(side, figures, &base.run, pairs.as_ref())),
    });
    Compared {
        name: run.name.clone(),
        warnings: base.map_or_else(Vec::new, |base| warnings(&base.run, record)),
        changes: base.map_or_else(Vec::new, |base| changes(&base.run, record)),
        sides: sides.collect(),
        accesses_per_second: record.totals.accesses_per_second(),
        bytes_per_second: record.totals.bytes_per_second(),
        write_amplification: record.work.and_then(|work| work.write_amplification()),
        erases: record.work.map(|work| work.erases),
    }
}

/// Pairs the accesses of both runs if they are the same.
fn pairs_of(base: &Named, run: &Named) -> Option<Pairs> {
    let (a, b) = (&base.run.plan, &run.run.plan);
    let same = a.seed == b.seed && a.workload.same_accesses(&b.workload);
    let (x, y) = (base.responses.as_ref()?, run.responses.as_ref()?);
    same.then(|| Pairs::of(x, y)).flatten()
}

fn ratio_of(name: &str, side: &Side, base: &RunRecord, pairs: Option<&Pairs>) -> Option<Ratio> {
    if let Some(pairs) = pairs {
        return pairs.ratio(name);
    }
    let (_, other) = base.sides().find(|(side, _)| *side == name)?;
    let mean = |side: &Side| Mean::of(&side.response_ns, side.count);
    let (x, y) = (mean(other), mean(side));
    Some(Ratio::independent(&x, &y))
}
