//! All processes of a job file, as one program.

use super::choices::PrioClass;
use super::error::{FioError, JobError, Problem};
use super::job::Job;
use super::places::MAP_BYTES_MAX;
use super::process::{Process, Trouble};
use super::region::Region;
use super::zone_mode::smaller;
use super::zones::Zones;
use fathom_base::Time;
use fathom_block::DeviceInfo;
use fathom_block::program::{Done, Next, Program};
use fathom_block::zoned::Zone;
use std::collections::BTreeSet;

/// The process that an actor runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessOf {
    /// Name of its job.
    pub job: String,
    /// Index among the job's `numjobs` processes, from 0.
    pub clone: u32,
    /// Its `prioclass` and its `prio`, in 0..=7; 0 is the highest.
    pub prio: Option<(PrioClass, u8)>,
    /// The part of the drive that it works on.
    pub region: Region,
}

/// The jobs of a file as a program: one actor per process, in the order of the file. `tag.process` is the actor's
/// index.
///
/// A process keeps `iodepth` accesses in flight. It reads data back only if its job verifies. Verification ignores the
/// job's rates and runtime.
#[derive(Clone, Debug)]
pub struct Jobs {
    processes: Vec<Process>,
    which: Vec<ProcessOf>,
    /// For each process, the number of processes from the first on that must finish before it starts.
    behind: Vec<usize>,
    /// Number of processes from the first on that have finished.
    finished: usize,
    /// For each process, its group: the first process that ends terminates its group. `None` if no job has `exitall`.
    groups: Option<Vec<usize>>,
    /// Groups that have been terminated.
    ended: BTreeSet<usize>,
    /// The zones of the drive, if a job has `zonemode=zbd`.
    zones: Option<Zones>,
}

impl Jobs {
    /// Makes the jobs for a drive. The same jobs and `seed` give the same run on equal drives. A job with a `randseed` uses
    /// that as its seed instead. The zones of a zoned drive are empty, unless [`Jobs::zones`] tells otherwise.
    ///
    /// # Errors
    /// [`FioError`] if a job does not fit the drive, or if a job would overwrite what another one verifies.
    pub fn new(jobs: &[Job], drive: &DeviceInfo, seed: u64) -> Result<Self, FioError> {
        let mut all = Self {
            processes: Vec::new(),
            which: Vec::new(),
            behind: Vec::new(),
            finished: 0,
            groups: groups(jobs),
            ended: BTreeSet::new(),
            zones: zones(jobs, drive)?,
        };
        let (mut behind, mut map_bytes) = (0, 0);
        for job in jobs {
            if job.schedule.stonewall {
                behind = all.processes.len();
            }
            let regions = job.resolve(drive)?;
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

    /// Returns the process of each actor.
    pub fn processes(&self) -> &[ProcessOf] {
        &self.which
    }

    /// Takes over the states of the zones that the drive reports when the jobs begin.
    pub fn zones(&mut self, report: &[Zone]) {
        if let Some(zones) = &mut self.zones {
            zones.reported(report);
        }
    }

    /// Returns the error of a process that cannot go on by itself, if no other process can help.
    fn trouble(&mut self, now: Time) -> Option<JobError> {
        let troubles: Vec<_> = self.processes.iter().map(Process::trouble).collect();
        let (process, trouble) = (0..)
            .zip(&troubles)
            .find_map(|(n, one)| Some((n, (*one)?)))?;
        let job = self.which[process].job.clone();
        if trouble == Trouble::NothingHeld {
            return Some(JobError::NothingHeld { job, process });
        }
        let held_back = |n: usize| self.behind[n] > self.finished;
        let mut others = self.processes.iter_mut().enumerate();
        let helps = others.any(|(n, one)| {
            troubles[n].is_none() && !one.is_finished(now) && (one.is_started() || !held_back(n))
        });
        (!helps).then_some(JobError::NoZone { job, process })
    }

    /// Checks that no process changes data that another process verifies at the same time.
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

    /// With `exitall`, terminates the process's group once the process has finished.
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

    /// With `exitall`, replaces a wait by a watch, because another process may terminate this one.
    fn watched(&self, next: Next) -> Next {
        match next {
            Next::Wait(until) if self.groups.is_some() => Next::Watch(until),
            next => next,
        }
    }

    /// Returns what a process does that may not start yet: it watches the processes before it, or waits for its
    /// `startdelay`. Returns `None` if it may start.
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

/// Returns the group of each process, or `None` if no job has `exitall`. `exitall` in one job applies to all (fio 3.33,
/// options.c, `str_exitall_cb`). A job with `stonewall` or `new_group` starts a new group (init.c, `add_job`); with
/// `exit_what=all` there is only one group.
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

/// Returns the zones that the jobs share, if one of them has `zonemode=zbd`.
fn zones(jobs: &[Job], drive: &DeviceInfo) -> Result<Option<Zones>, FioError> {
    let with: Vec<&Job> = jobs.iter().filter(|job| job.zones.zbd).collect();
    let Some(zoned) = drive.zoned.filter(|_| !with.is_empty()) else {
        return Ok(None);
    };
    let mut given = with.iter().filter(|job| job.zones.max_open_zones > 0);
    let first = given.next();
    let asked = first.map_or(0, |job| job.zones.max_open_zones);
    if let Some(other) = given.find(|job| job.zones.max_open_zones != asked) {
        let what = format!(
            "`max_open_zones` is {}, and another job has {asked}: it limits all jobs together, so give it once, in [global]",
            other.zones.max_open_zones
        );
        return Err(unfit(other, what));
    }
    let most = match with.iter().any(|job| job.zones.ignore_zone_limits) {
        true => asked,
        false => smaller(asked, smaller(zoned.max_open, zoned.max_active)),
    };
    Ok(Some(Zones::new(&zoned, drive.capacity_bytes, most)))
}

fn unfit(job: &Job, what: String) -> FioError {
    FioError {
        line: None,
        job: Some(job.name.clone()),
        problem: Problem::Target { what },
    }
}

impl Program for Jobs {
    type Error = JobError;

    fn actors(&self) -> usize {
        self.processes.len()
    }

    fn next(&mut self, actor: usize, now: Time) -> Result<Next, JobError> {
        if !self.processes[actor].is_started() {
            if let Some(waits) = self.held_back(actor, now) {
                return Ok(self.watched(waits));
            }
            self.processes[actor].start(now);
        }
        let next = self.processes[actor].next(now, &mut self.zones);
        self.exit(actor, now);
        if let Some(zones) = &mut self.zones {
            match &next {
                Next::Request(request) => zones.begin(&request.access),
                _ => self.trouble(now).map_or(Ok(()), Err)?,
            }
        }
        Ok(self.watched(next))
    }

    fn done(&mut self, actor: usize, done: Done<'_>) -> Result<(), JobError> {
        if let Some(zones) = &mut self.zones {
            zones.end(done.access);
        }
        self.processes[actor].done(done)
    }

    fn part(&self, now: Time) -> Option<f64> {
        let all: f64 = self.processes.iter().map(|process| process.part(now)).sum();
        Some(all / self.processes.len().max(1) as f64)
    }
}
