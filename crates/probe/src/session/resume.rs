//! The results of an earlier, unfinished run: complete steps, and the costs of steps that were cut short.

use super::marks::{self, Ending};
use crate::{Cost, Parameter, Record, RecordMeta, Sample, Step};
use std::collections::{BTreeMap, BTreeSet};

/// The error for a record that this run cannot resume.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the record is of another run: its {what} is {recorded}, and {wanted} is asked for; start a new record"
)]
pub struct OtherRun {
    /// The setting that differs.
    pub what: &'static str,
    /// Its value in the record.
    pub recorded: String,
    /// Its value in this run.
    pub wanted: String,
}

type Key = (Parameter, String);

/// The results of an earlier run.
#[derive(Debug, Default)]
pub(super) struct Old {
    /// Whether every step is executed again and compared, because the drive is modelled.
    modelled: bool,
    steps: BTreeMap<Key, (Step, Vec<Sample>)>,
    lost: BTreeMap<Parameter, Vec<(String, Cost)>>,
    /// The parameters that were measured to their end.
    ended: BTreeSet<Parameter>,
    /// The cost of the earlier run, as far as this run counts it.
    pub(super) spent: Cost,
}

impl Old {
    /// Splits an earlier record into its steps.
    pub(super) fn of(record: Record, meta: &RecordMeta) -> Result<Self, OtherRun> {
        check_same_run(&record.meta, meta)?;
        let modelled = meta.target.modelled;
        let budgets = |m: &RecordMeta| (m.budget_bytes, m.budget_ns);
        if modelled && budgets(&record.meta) != budgets(meta) {
            // With other budgets the run may take other steps, after which every later step sees another drive. There is
            // nothing to compare with, and nothing is lost except the comparison.
            return Ok(Self::default());
        }
        let mut old = Self {
            modelled,
            ..Self::default()
        };
        let measured = |p: &&Parameter| marks::ending(&record, **p) == Ending::Whole;
        if !modelled {
            old.ended = record
                .meta
                .parameters
                .iter()
                .filter(measured)
                .copied()
                .collect();
        }
        if let (false, Some(look)) = (modelled, &record.meta.look) {
            old.spent += look.cost;
        }
        for reference in record.meta.references.iter().filter(|_| !modelled) {
            old.spent += reference.cost;
        }
        let mut samples = vec![Vec::new(); record.steps.len()];
        for sample in record.samples {
            if let Some(list) = samples.get_mut(sample.step as usize) {
                list.push(sample);
            }
        }
        for (step, samples) in record.steps.into_iter().zip(samples) {
            if !modelled {
                old.spent += step.cost;
            }
            if !marks::is_mark(&step) {
                let key = (step.parameter, step.name.clone());
                old.steps.insert(key, (step, samples));
            } else if !modelled && step.cost != Cost::default() {
                let lost = old.lost.entry(step.parameter).or_default();
                lost.push((marks::subject(&step.name).to_owned(), step.cost));
            }
        }
        Ok(old)
    }

    /// Takes the step with that name, if it need not be executed again.
    pub(super) fn whole(
        &mut self,
        parameter: Parameter,
        name: &str,
    ) -> Option<(Step, Vec<Sample>)> {
        if self.modelled {
            return None;
        }
        self.steps.remove(&(parameter, name.to_owned()))
    }

    /// Returns true if an executed step did what the record says, or if the record does not have the step.
    pub(super) fn agrees(
        &self,
        parameter: Parameter,
        name: &str,
        cost: Cost,
        samples: &[Sample],
    ) -> bool {
        let place = |sample: &Sample| Sample { step: 0, ..*sample };
        self.steps
            .get(&(parameter, name.to_owned()))
            .is_none_or(|(step, old)| {
                step.cost == cost && old.iter().map(place).eq(samples.iter().map(place))
            })
    }

    /// Returns the bytes that need not be written again for `parameter`; `u64::MAX` if it was measured to its end.
    pub(super) fn done_bytes(&self, parameter: Parameter) -> u64 {
        if self.modelled {
            return 0;
        }
        if self.ended.contains(&parameter) {
            return u64::MAX;
        }
        let steps = self.steps.iter().filter(|((p, _), _)| *p == parameter);
        steps.map(|(_, (step, _))| step.cost.bytes_written).sum()
    }

    /// Takes the costs that `parameter` spent without a result.
    pub(super) fn lost(&mut self, parameter: Parameter) -> Vec<(String, Cost)> {
        self.lost.remove(&parameter).unwrap_or_default()
    }
}

fn check_same_run(old: &RecordMeta, new: &RecordMeta) -> Result<(), OtherRun> {
    fn same<T: PartialEq + std::fmt::Debug>(
        what: &'static str,
        old: &T,
        new: &T,
    ) -> Result<(), OtherRun> {
        if old == new {
            return Ok(());
        }
        Err(OtherRun {
            what,
            recorded: format!("{old:?}"),
            wanted: format!("{new:?}"),
        })
    }
    same("version of Fathom", &old.fathom, &new.fathom)?;
    same("seed", &old.seed, &new.seed)?;
    same("method", &old.method, &new.method)?;
    same("list of parameters", &old.parameters, &new.parameters)?;
    same("read-only mode", &old.read_only, &new.read_only)?;
    same("region", &old.region, &new.region)?;
    same("thinning", &old.thin, &new.thin)?;
    same("level", &old.level, &new.level)?;
    same("choice of questions", &old.fitting, &new.fitting)?;
    let (a, b) = (&old.target, &new.target);
    same("drive", &a.identity, &b.identity)?;
    same("drive file", &a.spec, &b.spec)?;
    same("kind of drive", &a.modelled, &b.modelled)?;
    same("capacity", &a.capacity_bytes, &b.capacity_bytes)?;
    same(
        "logical block",
        &a.logical_block_bytes,
        &b.logical_block_bytes,
    )?;
    same(
        "longest request",
        &a.max_request_bytes,
        &b.max_request_bytes,
    )?;
    same("queue depth", &a.queue_depth, &b.queue_depth)
}
