//! The state of a run, and how it is made.

use super::events::Events;
use super::files::{Files, directories};
use super::rngs::Rngs;
use super::semaphore::Semaphore;
use super::thread::{Count, Thread};
use crate::generate::Range;
use crate::program::filebench::language::{Kind, Quit, Threads, Workload};
use crate::program::layout;
use fathom_base::{BadValue, Bytes, Rng, Time};
use fathom_fs::{BLOCK_BYTES, FileSystem, Sizes};
use fathom_platform::{Machine, System};
use std::collections::BTreeMap;
use std::sync::Arc;

/// When a run ends, besides its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Limits {
    /// Number of operations.
    pub(in super::super) operations: Option<u64>,
    /// Number of reads and writes.
    pub(in super::super) accesses: Option<u64>,
    /// Maximum number of writes of a thread by `aiowrite` in flight; at least 1.
    pub(in super::super) writes_in_flight: u32,
}

/// What is below a workload.
#[derive(Clone, Debug)]
pub(in super::super) struct Build<'a> {
    pub(in super::super) limits: Limits,
    /// Whether all processes draw the same numbers.
    pub(in super::super) same_draws: bool,
    pub(in super::super) utilisation_percent: f64,
    /// Mean length of the files that fill the drive.
    pub(in super::super) around: Bytes,
    pub(in super::super) range: Option<Range>,
    pub(in super::super) file_system: &'a FileSystem,
    pub(in super::super) system: &'a System,
}

/// The threads of a workload and their files.
#[derive(Debug)]
pub struct Filebench {
    pub(super) groups: Arc<[Threads]>,
    pub(super) sets: Vec<Files>,
    pub(super) threads: Vec<Thread>,
    pub(super) semaphores: Vec<Semaphore>,
    /// The semaphores of each name.
    pub(super) targets: BTreeMap<String, Vec<usize>>,
    pub(super) events: Events,
    pub(super) limits: Limits,
    pub(super) quit: Quit,
    pub(super) end: Time,
    pub(super) totals: Count,
    pub(super) syncs: u64,
    pub(super) over: bool,
    /// Whether the run ended because an operation found no file.
    pub(super) stopped_early: bool,
    pub(super) ended: Time,
}

impl Build<'_> {
    /// Makes the machine for a drive of `capacity` bytes, with the files of the workload.
    pub(in super::super) fn machine(
        &self,
        workload: Workload,
        capacity: u64,
        seed: u64,
    ) -> Result<Machine<Filebench>, BadValue> {
        let all: u64 = workload.file_sets.iter().map(directories).sum();
        let mut mount = layout::mount(self.file_system, self.range, capacity, all)?;
        let around = Sizes {
            min: Bytes(BLOCK_BYTES),
            max: Bytes((2 * self.around.0).max(BLOCK_BYTES)),
        };
        layout::fill(&mut mount, self.utilisation_percent, around, seed)?;
        let rng = &mut Rng::new(seed, 1);
        let (mut sets, mut first) = (Vec::new(), 0);
        for set in &workload.file_sets {
            sets.push(Files::lay_out(set, first, &mut mount, rng)?);
            first += directories(set) as usize;
        }
        let rngs = Rngs::of(&workload.threads, self.same_draws, seed);
        let script = Filebench::new(workload, sets, self.limits, rngs);
        Ok(Machine::new(script, mount, self.system.clone()))
    }
}

impl Filebench {
    fn new(workload: Workload, sets: Vec<Files>, limits: Limits, rngs: Vec<Rngs>) -> Self {
        let mut rngs = rngs.into_iter();
        let mut threads: Vec<Thread> = Vec::new();
        let mut semaphores = Vec::new();
        let mut targets: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (group, of) in workload.threads.iter().enumerate() {
            for rngs in rngs.by_ref().take(of.instances as usize) {
                let id = threads.len();
                let mut thread = Thread::new(group, of.flowops.len(), rngs);
                for (at, flowop) in of.flowops.iter().enumerate() {
                    if flowop.kind == Kind::SemBlock {
                        thread.semaphores.insert(at, semaphores.len());
                        let name = flowop.name.clone();
                        targets.entry(name).or_default().push(semaphores.len());
                        semaphores.push(Semaphore::new(id, flowop.high_water));
                    }
                }
                threads.push(thread);
            }
        }
        Self {
            groups: workload.threads.into(),
            sets,
            threads,
            semaphores,
            targets,
            events: Events::new(workload.event_rate),
            limits,
            quit: workload.quit,
            end: Time(workload.duration.0),
            totals: Count::default(),
            syncs: 0,
            over: false,
            stopped_early: false,
            ended: Time::ZERO,
        }
    }
}
