//! Runs side by side: how their response times relate, with intervals, and what differs between what was run. It does not say that
//! a difference is caused by what differs.
//!
//! [`fathom_stats::ratio`] has the statistics. Where both runs played the same accesses, they are compared access by access.

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

/// A run with what it is called.
#[derive(Debug)]
pub struct Named {
    /// What the user calls it.
    pub name: String,
    /// What was measured.
    pub run: RunRecord,
    /// Its accesses, where they were kept.
    pub responses: Option<Responses>,
}

/// Runs beside the first of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Every run; the first is the base.
    pub runs: Vec<Compared>,
}

/// One run beside the base.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// What the user calls it.
    pub name: String,
    /// What differs from the base; empty for the base itself.
    pub changes: Vec<Change>,
    /// Why the ratios may not tell what they seem to.
    pub warnings: Vec<String>,
    /// The kinds of access that the run had.
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
    /// Its mean response time divided by the base's; `None` for the base and where the base had no such access.
    pub ratio: Option<Ratio>,
}

/// Every run beside the first.
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

/// The accesses of both, where they are the same ones.
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
