//! A session: one run over one drive, step by step, resumable.
//!
//! A step is the unit of resuming. It has its own randomness, derived from the run's seed and the step's name, so
//! that it does the same whether or not the steps before it were executed in this process. A step that does not
//! come to its end leaves no sample.
//!
//! Resuming a *real* drive: a step that is whole in the old record is not executed; its samples come from there.
//! A step must therefore prepare what it depends on, unless a preparation cannot be spoilt by a later step that is
//! cut short. Resuming a *modelled* drive: every step is executed again on a fresh drive, which is cheap and
//! restores its state, and must do what the record says; the result is the uninterrupted run's to the byte.
//!
//! It neither reads nor writes files, and takes no decision about what to measure: that is `run` and the probes.

mod io;
mod limits;
pub mod marks;
mod observer;
mod resume;
mod stop;
mod transfer;

pub use io::{Io, Mark};
pub use marks::Ending;
pub use observer::{Observer, Progress, Unobserved};
pub use resume::OtherRun;
pub use stop::Stop;

use crate::{Cost, Estimate, Parameter, Record, RecordMeta, Sample, Space, Step};
use fathom_base::Rng;
use fathom_block::{Device, DeviceInfo};
use io::Origin;
use limits::Limits;
use resume::Old;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// One run over one drive.
pub struct Session<'d> {
    device: &'d mut dyn Device,
    observer: &'d mut dyn Observer,
    record: Record,
    old: Old,
    region: Range<u64>,
    ids: Range<u64>,
    names: BTreeSet<(Parameter, String)>,
    known: BTreeMap<Parameter, Estimate>,
    /// Everything spent, in this process and in the runs that it resumes.
    spent: Cost,
    /// The most that the run may write, in bytes, for progress.
    bound_bytes: u64,
    /// What the probe at work may still write, in bytes.
    announced_left: u64,
    /// The last step that was cut short, and what such steps of this parameter spent.
    cut: Option<(String, Cost)>,
}

impl<'d> Session<'d> {
    /// A run as `meta` describes it, which goes on from `previous` where there is one. `bound_bytes` is the most
    /// that it may write, for progress.
    ///
    /// # Errors
    /// [`OtherRun`] where `previous` was made otherwise than `meta` says; budgets may differ.
    pub fn open(
        device: &'d mut dyn Device,
        observer: &'d mut dyn Observer,
        meta: RecordMeta,
        previous: Option<Record>,
        bound_bytes: u64,
    ) -> Result<Self, OtherRun> {
        let old = previous.map_or(Ok(Old::default()), |p| Old::of(p, &meta))?;
        let capacity = device.info().capacity_bytes;
        let region = meta.region.map_or(0..capacity, |[from, to]| from..to);
        Ok(Self {
            spent: old.spent,
            device,
            observer,
            record: Record {
                meta,
                steps: Vec::new(),
                samples: Vec::new(),
            },
            old,
            region,
            ids: 0..u64::MAX,
            names: BTreeSet::new(),
            known: BTreeMap::new(),
            bound_bytes,
            announced_left: 0,
            cut: None,
        })
    }

    /// What the drive tells about itself.
    pub fn info(&self) -> &DeviceInfo {
        self.device.info()
    }

    /// The part of the drive that may be touched: that of the run, or that of the parameter at work.
    pub fn region(&self) -> Range<u64> {
        self.region.clone()
    }

    /// Everything measured so far.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Whether nothing may be written.
    pub fn read_only(&self) -> bool {
        self.record.meta.read_only || self.device.info().read_only
    }

    /// What a probe may use: the region of the parameter at work.
    pub fn space(&self) -> Space {
        Space {
            region: self.region(),
            block_bytes: u64::from(self.info().logical_block_bytes).max(1),
            thin: self.record.meta.thin.max(1),
        }
    }

    /// Everything written, in bytes, in this process and in the runs that it resumes.
    pub(crate) fn spent_bytes(&self) -> u64 {
        self.spent.bytes_written
    }

    /// What is left of the budget of bytes.
    pub(crate) fn budget_left(&self) -> u64 {
        let budget = self.record.meta.budget_bytes.unwrap_or(u64::MAX);
        budget.saturating_sub(self.spent.bytes_written)
    }

    /// The answer to a parameter that this run has measured already.
    pub fn known(&self, parameter: Parameter) -> Option<&Estimate> {
        self.known.get(&parameter)
    }

    /// Does one piece of work and puts its samples into the record. `name` is unique among the steps of `parameter`, and
    /// everything that the work depends on beside earlier samples.
    ///
    /// # Errors
    /// Whatever stopped the work, in which case it left no sample; [`Stop::Mismatch`] and [`Stop::Repeated`].
    pub fn step(
        &mut self,
        parameter: Parameter,
        name: &str,
        work: impl FnOnce(&mut Io<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let step = name.to_owned();
        if !self.names.insert((parameter, step.clone())) {
            return Err(Stop::Repeated { parameter, step });
        }
        if self.observer.interrupted() {
            return Err(Stop::Interrupted);
        }
        if let Some((cost, samples)) = self.old.whole(parameter, name) {
            self.push(parameter, step, cost, samples);
            return Ok(());
        }
        let (samples, cost, result) = self.execute(parameter, name, work);
        self.spent += cost;
        self.announced_left = self.announced_left.saturating_sub(cost.bytes_written);
        if let Err(stop) = result {
            self.cut_short(step, cost);
            return Err(stop);
        }
        if !self.old.agrees(parameter, name, cost, &samples) {
            self.cut_short(step.clone(), cost);
            return Err(Stop::Mismatch { parameter, step });
        }
        self.push(parameter, step, cost, samples);
        self.observer.step_done(&self.record);
        Ok(())
    }

    fn execute(
        &mut self,
        parameter: Parameter,
        name: &str,
        work: impl FnOnce(&mut Io<'_>) -> Result<(), Stop>,
    ) -> (Vec<Sample>, Cost, Result<(), Stop>) {
        let limits = Limits {
            budget_left: self.budget_left(),
            allowance_left: self.announced_left,
            time_ns: self
                .record
                .meta
                .budget_ns
                .map(|budget| (self.spent.device_ns, budget)),
            read_only: self.read_only(),
            region: self.region.clone(),
        };
        let origin = Origin {
            parameter,
            name,
            step: self.record.steps.len() as u32,
            written: self.spent.bytes_written,
            samples: self.record.samples.len() as u64,
            bound: self.bound_bytes,
        };
        let rng = Rng::new(self.record.meta.seed, stream(parameter, name));
        let mut io = Io::new(
            &mut *self.device,
            &mut *self.observer,
            &mut self.ids,
            limits,
            origin,
            rng,
        );
        let result = work(&mut io);
        let (samples, cost) = io.finish();
        (samples, cost, result)
    }

    /// Costs add up where a probe goes on after such a step.
    fn cut_short(&mut self, step: String, cost: Cost) {
        let mut all = self.cut.take().map_or(Cost::default(), |(_, cost)| cost);
        all += cost;
        self.cut = Some((step, all));
    }

    fn push(&mut self, parameter: Parameter, name: String, cost: Cost, samples: Vec<Sample>) {
        let step = self.record.steps.len() as u32;
        let samples = samples.into_iter().map(|sample| Sample { step, ..sample });
        self.record.samples.extend(samples);
        self.record.steps.push(Step {
            parameter,
            name,
            cost,
        });
    }

    /// What need not be written for a parameter again, in bytes, because it was measured before.
    pub(crate) fn done_bytes(&self, parameter: Parameter) -> u64 {
        self.old.done_bytes(parameter)
    }

    /// Begins a parameter that is measured in `region` and whose probe may write `announced_bytes`.
    pub(crate) fn begin(&mut self, parameter: Parameter, region: Range<u64>, announced_bytes: u64) {
        self.region = region;
        self.announced_left = announced_bytes;
        for (name, cost) in self.old.lost(parameter) {
            self.push_abandoned(parameter, &name, cost);
        }
    }

    /// Ends a parameter: its answer, or why it was given up.
    pub(crate) fn close(&mut self, parameter: Parameter, result: Result<(), &Stop>) {
        let cost = self.cut.take().map(|(_, cost)| cost).unwrap_or_default();
        let name = result.map_or_else(|stop| marks::stopped(&stop.to_string()), |()| marks::end());
        self.push(parameter, name, cost, Vec::new());
        self.observer.step_done(&self.record);
    }

    /// Remembers an answer for the parameters that follow.
    pub(crate) fn learn(&mut self, parameter: Parameter, estimate: Estimate) {
        self.known.insert(parameter, estimate);
    }

    /// The record of a run that came to its end (`complete`) or was cut short while it measured `parameter`.
    pub(crate) fn finish(mut self, cut_short: Option<Parameter>) -> Record {
        self.record.meta.complete = cut_short.is_none();
        if let (Some(parameter), Some((name, cost))) = (cut_short, self.cut.take()) {
            self.push_abandoned(parameter, &name, cost);
        }
        self.record
    }

    fn push_abandoned(&mut self, parameter: Parameter, step: &str, cost: Cost) {
        if cost != Cost::default() {
            let count = self.record.steps.len() + 1;
            let name = marks::abandoned(count, step);
            self.push(parameter, name, cost, Vec::new());
        }
    }
}

/// FNV-1a over the parameter and the name: stable across versions and machines (Fowler, Noll & Vo 1991).
fn stream(parameter: Parameter, name: &str) -> u64 {
    let bytes = [parameter.name(), "/", name];
    let bytes = bytes.iter().flat_map(|part| part.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
