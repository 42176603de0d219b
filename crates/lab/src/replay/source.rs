//! The input of a run: streams of accesses, or a program.

use crate::source::{Accesses, Kind, Reach, SourceError, WatchedRooms, Work, Workload};
use fathom_base::BadValue;
use fathom_block::{DeviceInfo, Subject};
use fathom_platform::{Counter, Processors};
use fathom_run::{Counted, Plan, PlayError, Recorder, play};
use fathom_workload::step::Arrival;

/// Maximum number of processes that play a trace. Each has the file open, with a window of 256 KiB and the state of a
/// decoder.
const TRACE_PROCESSES_MAX: u64 = 512;

/// The input of a run: accesses, one stream for each process, or a program.
pub(super) enum Source {
    Accesses(Vec<Accesses>),
    Program(Work),
}

impl Source {
    pub(super) fn open(plan: &Plan<Workload>, info: &DeviceInfo) -> Result<Self, SourceError> {
        if plan.workload.is_program() {
            return Ok(Self::Program(plan.workload.work(info, plan.seed)?));
        }
        let processes = match plan.arrival {
            Arrival::Processes { processes, .. } => u64::from(processes.get()),
            _ => 1,
        };
        if processes > TRACE_PROCESSES_MAX && matches!(plan.workload.kind, Kind::Trace { .. }) {
            let allowed = format!(
                "at most {TRACE_PROCESSES_MAX} processes for a trace, of which each reads the file for itself; a generator takes more"
            );
            return Err(SourceError::Setting {
                name: plan.workload.name.clone(),
                error: BadValue::new("arrival", plan.arrival, allowed),
            });
        }
        let open = |process| plan.workload.open(plan.seed.wrapping_add(process));
        let all: Result<Vec<_>, _> = (0..processes).map(open).collect();
        all.map(Self::Accesses)
    }

    pub(super) fn play(
        &mut self,
        device: &mut dyn Subject,
        arrival: Arrival,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), PlayError<SourceError>> {
        match self {
            Self::Accesses(all) => play(device, &mut *Work::of_accesses(all, arrival), recorder),
            Self::Program(work) => play(device, work.program(), recorder),
        }
    }

    /// Tells a program the state of the drive that it begins on.
    pub(super) fn begin_on(&mut self, device: &mut dyn Subject) {
        if let Self::Program(work) = self {
            work.begin_on(device);
        }
    }

    /// Whether the workload is a program with a page cache.
    pub(super) fn has_cache(&self) -> bool {
        matches!(self, Self::Program(work) if work.has_cache())
    }

    /// Makes a program compute on these processors.
    pub(super) fn compute_on(&mut self, processors: &Processors) {
        if let Self::Program(work) = self {
            work.compute_on(processors);
        }
    }

    /// Starts to measure the host's wait for room in a write buffer in front of the drive, if there is one and the writes
    /// have arrival times of their own.
    pub(super) fn watch_room(&mut self, arrival: Arrival) -> Option<WatchedRooms> {
        match (self, arrival) {
            (Self::Accesses(all), Arrival::Open) => all.first_mut()?.watch_room(),
            _ => None,
        }
    }

    /// Returns the progress of each stream.
    pub(super) fn reaches(&self) -> Vec<Option<Reach>> {
        match self {
            Self::Accesses(all) => all.iter().map(|accesses| accesses.reach.clone()).collect(),
            Self::Program(work) => vec![work.reach.clone()],
        }
    }

    /// Returns the stream of the first process. It stands for all processes when the results of a first pass and the counts
    /// of steps are reported.
    pub(super) fn first(&self) -> Option<&Accesses> {
        match self {
            Self::Accesses(all) => all.first(),
            Self::Program(_) => None,
        }
    }

    /// Returns the numbers in the trace of the processes of a run. Processes of the arrival have none.
    pub(super) fn processes(&self, arrival: Arrival) -> &[u32] {
        match (self, arrival) {
            (Self::Accesses(all), Arrival::Open | Arrival::Closed { .. }) => {
                all.first().map_or(&[], Accesses::processes)
            }
            _ => &[],
        }
    }

    pub(super) fn counters(&self) -> Vec<Counted> {
        match self {
            Self::Accesses(_) => Vec::new(),
            Self::Program(work) => work.counters().into_iter().map(counted).collect(),
        }
    }

    pub(super) fn notes(&self) -> Vec<String> {
        match self {
            Self::Accesses(all) => all.first().map(Accesses::notes).unwrap_or_default(),
            Self::Program(work) => work.notes.clone(),
        }
    }
}

fn counted(counter: Counter) -> Counted {
    Counted {
        name: counter.name.to_owned(),
        value: counter.value,
        unit: counter.unit.to_owned(),
    }
}
