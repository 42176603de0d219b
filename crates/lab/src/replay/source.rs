//! The input of a run: streams of accesses, or a program.

use crate::source::{Accesses, Kind, Reach, SourceError, WatchedRooms, Work, Workload};
use fathom_base::{BadValue, Time};
use fathom_block::{Access, DeviceInfo, Subject};
use fathom_platform::{Counter, Processors};
use fathom_run::{Counted, Plan, PlayError, Recorder, play};
use fathom_workload::program::{Processes, Stream};
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

    /// Plays the input. Every kind of arrival has a loop of its own, so that an access passes no dynamic call on its way from
    /// the source to the loop: 3308 instructions of a random write to a new `model:epo` as a whole process, 3433 with one.
    pub(super) fn play(
        &mut self,
        device: &mut dyn Subject,
        arrival: Arrival,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), PlayError<SourceError>> {
        let all = match self {
            Self::Accesses(all) => all,
            Self::Program(work) => return play(device, work.program(), recorder),
        };
        if let Arrival::Processes { outstanding, .. } = arrival {
            let mut processes = Processes::new(all.iter_mut(), outstanding.get());
            return play(device, &mut processes, recorder);
        }
        // Only processes have several streams.
        let Some(only) = all.first_mut() else {
            return Ok(());
        };
        let accesses = only.numbered();
        if let Arrival::Closed { outstanding } = arrival {
            let mut stream = Stream::closed(accesses, outstanding.get());
            return play(device, &mut stream, recorder);
        }
        let in_time = |(number, access): (u64, Result<_, _>)| in_time(number, access?);
        let mut stream = Stream::open((1..).zip(accesses).map(in_time));
        play(device, &mut stream, recorder)
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

/// Checks that access `number` comes before the end of simulated time.
fn in_time(number: u64, access: Access) -> Result<Access, SourceError> {
    match access.at {
        at if at > Time::END => Err(SourceError::Late { number, at }),
        _ => Ok(access),
    }
}

fn counted(counter: Counter) -> Counted {
    Counted {
        name: counter.name.to_owned(),
        value: counter.value,
        unit: counter.unit.to_owned(),
    }
}
