//! All processes of a job file as one program.

use super::choices::PrioClass;
use super::error::{FioError, Problem, VerifyError};
use super::job::Job;
use super::places::MAP_BYTES_MAX;
use super::process::Process;
use super::region::Region;
use fathom_base::Time;
use fathom_block::program::{Done, Next, Program};
use std::collections::BTreeSet;

/// Which process an actor is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessOf {
    /// Its job.
    pub job: String,
    /// Which of the job's `numjobs`, from 0.
    pub clone: u32,
    /// Its `prioclass` and its `prio`, in 0..=7, 0 the highest.
    pub prio: Option<(PrioClass, u8)>,
    /// What it works on.
    pub region: Region,
}

/// The jobs of a file at work: an actor for each process, in the order of the file, and `tag.process` is its number.
///
/// A process keeps `iodepth` accesses in flight. It reads data back only where a job verifies; what is asked for while
/// it does is not held to the job's rates and runtime.
#[derive(Clone, Debug)]
pub struct Jobs {
    processes: Vec<Process>,
    which: Vec<ProcessOf>,
    /// Those before it must be finished before a process starts: by process.
    behind: Vec<usize>,
    /// Processes before it are finished.
    finished: usize,
    /// Where the end of a process ends others: by process, its group.
    groups: Option<Vec<usize>>,
    /// Those whose group has been ended, by group.
    ended: BTreeSet<usize>,
}

impl Jobs {
    /// The jobs on a drive of `capacity` bytes whose logical block has `logical_block` bytes. A run is a function of
    /// them and `seed`; a job with a `randseed` draws from that one instead.
    ///
    /// # Errors
    /// [`FioError`] where a job does not fit the drive, or jobs would disturb what another one verifies.
    pub fn new(
        jobs: &[Job],
        capacity: u64,
        logical_block: u64,
        seed: u64,
    ) -> Result<Self, FioError> {
        let mut all = Self {
            processes: Vec::new(),
            which: Vec::new(),
            behind: Vec::new(),
            finished: 0,
            groups: groups(jobs),
            ended: BTreeSet::new(),
        };
        let (mut behind, mut map_bytes) = (0, 0);
        for job in jobs {
            if job.schedule.stonewall {
                behind = all.processes.len();
            }
            let regions = job.resolve(capacity, logical_block)?;
            for (clone, region) in (0..).zip(regions) {
                let number = all.processes.len();
                let process = Process::new(job.clone(), region, seed, number)
                    .map_err(|what| unfit(job, what))?;
                map_bytes += process.map_bytes();
                if map_bytes > MAP_BYTES_MAX {
                    let what = "the random maps of all processes would take more than half a gibibyte: set \
                                `norandommap`, or make `size` or `numjobs` smaller";
                    return Err(unfit(job, what.to_owned()));
                }
                all.processes.push(process);
                all.behind.push(behind);
                all.which.push(ProcessOf {
                    job: job.name.clone(),
                    clone,
                    prio: job.priority(),
                    region,
                });
            }
        }
        all.check_verify()?;
        Ok(all)
    }

    /// Which process each actor is.
    pub fn processes(&self) -> &[ProcessOf] {
        &self.which
    }

    /// Nobody may write what another process of the same time verifies.
    fn check_verify(&self) -> Result<(), FioError> {
        let changes = |process: &Process| {
            let ops = process.job().rw.ops();
            ops.iter().any(|op| *op != fathom_block::Op::Read)
        };
        for (number, process) in self.processes.iter().enumerate() {
            if !process.job().verify {
                continue;
            }
            let region = process.region();
            let disturbs = |other: usize| {
                let theirs = self.processes[other].region();
                other != number
                    && self.behind[other] == self.behind[number]
                    && changes(&self.processes[other])
                    && theirs.offset < region.end()
                    && region.offset < theirs.end()
            };
            if let Some(other) = (0..self.processes.len()).find(|&other| disturbs(other)) {
                let what = format!(
                    "it verifies what it writes, and process {} of job `{}` writes to the same place at the same time: \
                     part them by `offset` and `size`, by `offset_increment`, or by `stonewall`",
                    self.which[other].clone, self.which[other].job
                );
                return Err(unfit(process.job(), what));
            }
        }
        Ok(())
    }

    /// Where the end of one process is that of its group: ends the others once this one is over.
    fn exit(&mut self, actor: usize, now: Time) {
        let Some(groups) = &self.groups else {
            return;
        };
        let group = groups[actor];
        if self.ended.contains(&group) || !self.processes[actor].is_finished(now) {
            return;
        }
        self.ended.insert(group);
        for (process, of) in self.processes.iter_mut().zip(groups) {
            if *of == group {
                process.stop();
            }
        }
    }

    /// Where another process may end this one, what it waits for may come from there.
    fn watched(&self, next: Next) -> Next {
        match next {
            Next::Wait(until) if self.groups.is_some() => Next::Watch(until),
            next => next,
        }
    }

    /// What a process does that does not start yet: it watches those before it, or waits for its own time.
    fn held_back(&mut self, actor: usize, now: Time) -> Option<Next> {
        while let Some(process) = self.processes.get_mut(self.finished)
            && process.is_finished(now)
        {
            self.finished += 1;
        }
        if self.finished < self.behind[actor] {
            return Some(Next::Watch(self.processes[self.finished].ends_by(now)));
        }
        let start = Time::ZERO + self.processes[actor].job().schedule.startdelay;
        (now < start).then_some(Next::Wait(start))
    }
}

/// The group of each process, where a job has `exitall`, which holds for all (fio 3.33, options.c, `str_exitall_cb`). A group
/// begins where a job has `stonewall` or `new_group` (init.c, `add_job`); with `exit_what=all` there is one.
fn groups(jobs: &[Job]) -> Option<Vec<usize>> {
    if !jobs.iter().any(|job| job.schedule.exitall) {
        return None;
    }
    let all = jobs.iter().any(|job| job.schedule.exit_all);
    let mut group = 0;
    let of = |job: &Job| {
        group += usize::from(!all && (job.schedule.stonewall || job.schedule.new_group));
        std::iter::repeat_n(group, job.numjobs as usize)
    };
    Some(jobs.iter().flat_map(of).collect())
}

fn unfit(job: &Job, what: String) -> FioError {
    FioError {
        line: None,
        job: Some(job.name.clone()),
        problem: Problem::Target { what },
    }
}

impl Program for Jobs {
    type Error = VerifyError;

    fn actors(&self) -> usize {
        self.processes.len()
    }

    fn next(&mut self, actor: usize, now: Time) -> Result<Next, VerifyError> {
        if !self.processes[actor].is_started() {
            if let Some(waits) = self.held_back(actor, now) {
                return Ok(self.watched(waits));
            }
            self.processes[actor].start(now);
        }
        let next = self.processes[actor].next(now);
        self.exit(actor, now);
        Ok(self.watched(next))
    }

    fn done(&mut self, actor: usize, done: Done<'_>) -> Result<(), VerifyError> {
        self.processes[actor].done(done)
    }

    fn part(&self, now: Time) -> Option<f64> {
        let all: f64 = self.processes.iter().map(|process| process.part(now)).sum();
        Some(all / self.processes.len().max(1) as f64)
    }
}
