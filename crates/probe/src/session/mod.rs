//! A session: one run over one drive, step by step, resumable.
//!
//! A step is the unit of resuming. It has its own random numbers, derived from the run's seed, the parameter and the step's
//! name, so that it does the same whether or not the steps before it were executed in this process. A step that does not
//! finish leaves no sample.
//!
//! Resuming a *real* drive: a step that is complete in the old record is not executed; its samples come from the record. A
//! step must therefore do the preparation that it depends on, except for preparation that a later step that is cut short
//! cannot spoil. Resuming a *modelled* drive: every step is executed again on a fresh drive, which is cheap and restores its
//! state. Each must reproduce the record; the result equals that of the uninterrupted run to the byte.
//!
//! A session does no file I/O, and does not decide what to measure: `run` and the probes do.

mod io;
mod limits;
pub mod marks;
mod observer;
mod quick;
mod resume;
mod served;
mod stop;
mod transfer;

pub use io::{Io, Mark};
pub use marks::Ending;
pub use observer::{Observer, Progress, Unobserved};
pub use resume::OtherRun;
pub use served::{Ask, Served};
pub use stop::Stop;

use crate::condition::Condition;
use crate::{
    Cost, Estimate, Look, Marks, Parameter, Record, RecordMeta, Reference, Sample, Space, Step,
};
use fathom_base::Rng;
use fathom_block::{Device, DeviceInfo, DriveLog};
use io::{Executed, Origin};
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
    /// The total cost, in this process and in the runs that it resumes.
    spent: Cost,
    /// The most that the run may write, in bytes; reported with the progress.
    bound_bytes: u64,
    /// The bytes that the current probe may still write.
    announced_left: u64,
    /// The part of the budget of bytes, and the budget, if that is less than the probe may write.
    part_bytes: Option<(u64, u64)>,
    /// The time that was spent before the current parameter, in nanoseconds.
    began_ns: u64,
    /// The name of the last step that was cut short, and the total cost of such steps of this parameter.
    cut: Option<(String, Cost)>,
}

impl<'d> Session<'d> {
    /// Opens the run that `meta` describes, resuming `previous` if there is one. `bound_bytes` is the most that it may
    /// write, for the progress.
    ///
    /// # Errors
    /// [`OtherRun`] if `previous` was made with other settings than `meta`. Only the budgets may differ.
    pub fn open(
        device: &'d mut dyn Device,
        observer: &'d mut dyn Observer,
        meta: RecordMeta,
        previous: Option<Record>,
        bound_bytes: u64,
    ) -> Result<Self, OtherRun> {
        let kept = previous.as_ref().filter(|_| !meta.target.modelled);
        let references = kept.map_or_else(Vec::new, |old| old.meta.references.clone());
        let old = previous.map_or(Ok(Old::default()), |p| Old::of(p, &meta))?;
        let capacity = device.info().capacity_bytes;
        let log = device.log();
        let meta = RecordMeta {
            log,
            references,
            ..meta
        };
        let region = meta.region.map_or(0..capacity, |[from, to]| from..to);
        Ok(Self {
            began_ns: 0,
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
            part_bytes: None,
            cut: None,
        })
    }

    /// Returns what the drive reports about itself.
    pub fn info(&self) -> &DeviceInfo {
        self.device.info()
    }

    /// Returns the part of the drive that may be used: that of the current parameter, or that of the run before the first
    /// one.
    pub fn region(&self) -> Range<u64> {
        self.region.clone()
    }

    /// Returns everything measured so far.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Returns true if nothing may be written.
    pub fn read_only(&self) -> bool {
        self.record.meta.read_only || self.device.info().read_only
    }

    /// Returns the space that a probe may use: the region of the current parameter.
    pub fn space(&self) -> Space {
        Space {
            region: self.region(),
            block_bytes: u64::from(self.info().logical_block_bytes).max(1),
            thin: self.record.meta.thin.max(1),
            level: self.record.meta.level,
        }
    }

    /// Returns the bytes written, in this process and in the runs that it resumes.
    pub(crate) fn spent_bytes(&self) -> u64 {
        self.spent.bytes_written
    }

    /// Returns the bytes left of the budget.
    pub(crate) fn budget_left(&self) -> u64 {
        let budget = self.record.meta.budget_bytes.unwrap_or(u64::MAX);
        budget.saturating_sub(self.spent.bytes_written)
    }

    /// Returns the answer of a parameter that this run has measured already.
    pub fn known(&self, parameter: Parameter) -> Option<&Estimate> {
        self.known.get(&parameter)
    }

    /// Executes one piece of work and adds its samples to the record. `name` must be unique among the steps of `parameter`,
    /// and everything that the work depends on, other than earlier samples, must be part of it.
    ///
    /// # Errors
    /// Any [`Stop`] of the work, which then leaves no sample; [`Stop::Mismatch`] and [`Stop::Repeated`].
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
        if let Some((old, samples)) = self.old.whole(parameter, name) {
            self.push(old, samples);
            return Ok(());
        }
        let done = self.execute(parameter, name, work);
        let cost = done.cost;
        self.spent += cost;
        self.announced_left = self.announced_left.saturating_sub(cost.bytes_written);
        if let Err(stop) = done.result {
            self.cut_short(step, cost);
            return Err(stop);
        }
        if !self.old.agrees(parameter, name, cost, &done.samples) {
            self.cut_short(step.clone(), cost);
            return Err(Stop::Mismatch { parameter, step });
        }
        self.push(entry(parameter, step, cost, done.logs), done.samples);
        self.observer.step_done(&self.record);
        Ok(())
    }

    /// Executes work that belongs to no parameter and leaves no sample, and returns its cost. It may use the whole region of the
    /// run, and write `bound_bytes`. The cost of work that is cut short counts for the parameter that follows.
    pub(crate) fn aside(
        &mut self,
        name: &str,
        bound_bytes: u64,
        work: impl FnOnce(&mut Io<'_>) -> Result<(), Stop>,
    ) -> Result<Cost, Stop> {
        let parameter = self.record.meta.parameters.first();
        let parameter = parameter.copied().unwrap_or(Parameter::ALL[0]);
        let whole = self.record.meta.region;
        let whole = whole.map_or(0..self.info().capacity_bytes, |[from, to]| from..to);
        let region = std::mem::replace(&mut self.region, whole);
        let left = std::mem::replace(&mut self.announced_left, bound_bytes);
        // What no question asks for is no part of one.
        let part = self.part_bytes.take();
        let done = self.execute(parameter, name, work);
        (self.region, self.announced_left, self.part_bytes) = (region, left, part);
        self.spent += done.cost;
        if done.result.is_err() {
            self.cut_short(name.to_owned(), done.cost);
        }
        done.result.map(|()| done.cost)
    }

    fn execute(
        &mut self,
        parameter: Parameter,
        name: &str,
        work: impl FnOnce(&mut Io<'_>) -> Result<(), Stop>,
    ) -> Executed {
        let limits = Limits {
            budget_left: self.budget_left(),
            allowance_left: self.announced_left,
            part_bytes: self.part_bytes,
            time_ns: self
                .record
                .meta
                .budget_ns
                .map(|budget| (self.spent.device_ns, budget)),
            part_ns: self.part_of_time(parameter),
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
        io.finish(result)
    }

    /// Adds to the cost of earlier steps of the parameter that were cut short: a probe may go on after one.
    fn cut_short(&mut self, step: String, cost: Cost) {
        let mut all = self.cut.take().map_or(Cost::default(), |(_, cost)| cost);
        all += cost;
        self.cut = Some((step, all));
    }

    fn push(&mut self, entry: Step, samples: Vec<Sample>) {
        let step = self.record.steps.len() as u32;
        let samples = samples.into_iter().map(|sample| Sample { step, ..sample });
        self.record.samples.extend(samples);
        self.record.steps.push(entry);
    }

    /// Returns the bytes that need not be written again for a parameter, because the resumed run has written them.
    pub(crate) fn done_bytes(&self, parameter: Parameter) -> u64 {
        self.old.done_bytes(parameter)
    }

    /// Begins a parameter that is measured in `region`, after `prepares_bytes` that it may write for all, and whose probe may
    /// write `bound_bytes`.
    pub(crate) fn begin(
        &mut self,
        parameter: Parameter,
        region: Range<u64>,
        [prepares_bytes, bound_bytes]: [u64; 2],
    ) {
        self.region = region;
        let part = self.part_of_bytes(parameter);
        self.part_bytes = part.filter(|(part, _)| *part < bound_bytes);
        let own = self.part_bytes.map_or(bound_bytes, |(part, _)| part);
        self.announced_left = own.saturating_add(prepares_bytes);
        self.began_ns = self.spent.device_ns;
        for (name, cost) in self.old.lost(parameter) {
            self.push_abandoned(parameter, &name, cost);
        }
    }

    /// Ends a parameter that has an answer, or that was given up with a [`Stop`].
    pub(crate) fn close(&mut self, parameter: Parameter, result: Result<(), &Stop>) {
        let cost = self.cut.take().map(|(_, cost)| cost).unwrap_or_default();
        let name = result.map_or_else(|stop| marks::stopped(&stop.to_string()), |()| marks::end());
        let logs = self.device.log().into_iter().collect();
        self.push(entry(parameter, name, cost, logs), Vec::new());
        let marks = Condition::of(&self.record, parameter).marks;
        let steps = self.record.steps.iter_mut();
        for step in steps.filter(|step| step.parameter == parameter) {
            step.marks = marks;
        }
        self.observer.step_done(&self.record);
    }

    /// Ends a parameter whose question does not fit the drive.
    pub(crate) fn skip(&mut self, parameter: Parameter, why: &str) {
        let name = marks::skipped(why);
        self.push(
            entry(parameter, name, Cost::default(), Vec::new()),
            Vec::new(),
        );
    }

    /// Stores what the first look at the drive found.
    pub(crate) fn saw(&mut self, look: Look) {
        self.record.meta.look = Some(look);
    }

    /// Stores a reference.
    pub(crate) fn refer(&mut self, reference: Reference) {
        self.record.meta.references.push(reference);
    }

    /// Stores an answer for the parameters that follow.
    pub(crate) fn learn(&mut self, parameter: Parameter, estimate: Estimate) {
        self.known.insert(parameter, estimate);
    }

    /// Returns the record of a run that finished (`None`) or was cut short while it measured a parameter.
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
            self.push(entry(parameter, name, cost, Vec::new()), Vec::new());
        }
    }
}

fn entry(parameter: Parameter, name: String, cost: Cost, logs: Vec<DriveLog>) -> Step {
    Step {
        parameter,
        name,
        cost,
        logs,
        marks: Marks::default(),
    }
}

/// Returns the FNV-1a hash of the parameter and the name: stable across versions and machines (Fowler, Noll & Vo 1991).
fn stream(parameter: Parameter, name: &str) -> u64 {
    let bytes = [parameter.name(), "/", name];
    let bytes = bytes.iter().flat_map(|part| part.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
