//! From a text to a workload: names, values and their ranges. The order of operations is checked in `flow.rs`.

use super::amount::Amount;
use super::attributes::{Attributes, LARGEST, number};
use super::error::{ModelError, Problem};
use super::flow;
use super::model::{Attribute, Item, Model, Operation, Process};
use super::tables::Place;
use super::workload::{FileSet, Flowop, Kind, Quit, Threads, Workload};
use fathom_base::Dur;
use std::collections::BTreeSet;

/// Files in all sets together, and threads in all processes together.
const FILES_MAX: u64 = 1 << 24;
const THREADS_MAX: u64 = (1 << 16) - 1;

/// Seconds that `run` takes: four months.
const SECONDS_MAX: u64 = 10_000_000;

/// Seconds of a `run` without a number, in the mode `timeout`.
const SECONDS_DEFAULT: u64 = 60;

/// System V semaphores count to this.
const SEMAPHORE_MAX: u64 = 32_767;

/// File descriptors of a thread.
const FD_MAX: u64 = 127;

impl Model {
    /// Checks the text and resolves its names.
    ///
    /// # Errors
    /// The first error, with its line.
    pub fn workload(&self) -> Result<Workload, ModelError> {
        let file_sets = self.file_sets()?;
        let mut threads = Vec::new();
        let mut names = BTreeSet::new();
        for process in &self.processes {
            self.process(process, &file_sets, &mut names, &mut threads)?;
        }
        if threads.is_empty() {
            let what = "there is no `define process`: nothing would run";
            return Err(Problem::Order { what }.at(1));
        }
        let event_rate = match &self.event_rate {
            Some(rate) => number(self, rate, 0..=1_000_000_000)?,
            None => 0,
        };
        let workload = Workload {
            duration: self.duration()?,
            file_sets,
            threads,
            event_rate,
            quit: self.quit,
        };
        flow::check(&workload)?;
        Ok(workload)
    }

    fn duration(&self) -> Result<Dur, ModelError> {
        let Some(run) = &self.run else {
            let what = "there is no `run SECONDS` at the end";
            return Err(Problem::Order { what }.at(1));
        };
        let alone = Attribute {
            line: run.line,
            name: "run",
            given: run.seconds.clone(),
        };
        let seconds = match alone.given {
            Some(_) => number(self, &alone, 0..=SECONDS_MAX)?,
            None => 0,
        };
        match (seconds, self.quit) {
            (0, Quit::Timeout) => Ok(Dur::ms(1_000 * SECONDS_DEFAULT)),
            (0, _) => {
                let what = "`run` needs a time in these modes, too: the longest that it may take";
                Err(Problem::Order { what }.at(run.line))
            }
            _ => Ok(Dur::ms(1_000 * seconds)),
        }
    }

    fn file_sets(&self) -> Result<Vec<FileSet>, ModelError> {
        let mut all: Vec<FileSet> = Vec::new();
        let mut files = 0;
        for item in &self.file_sets {
            let set = self.file_set(item)?;
            if all.iter().any(|other| other.name == set.name) {
                return Err(Problem::Twice { name: set.name }.at(item.line));
            }
            files += set.entries;
            if files > FILES_MAX {
                let problem = Problem::Value {
                    attribute: "entries".into(),
                    found: format!("{files} in all sets together"),
                    takes: format!("at most {FILES_MAX}"),
                };
                return Err(problem.at(item.line));
            }
            all.push(set);
        }
        Ok(all)
    }

    fn file_set(&self, item: &Item) -> Result<FileSet, ModelError> {
        let of = Attributes::new(self, item)?;
        let name = of.name()?;
        of.wanted_text(item.place.name(), "path")?;
        let range = 1..=FILES_MAX;
        let (entries, directory_width) = match item.place {
            Place::File => (1, 1),
            _ => (
                of.wanted_number("fileset", "entries", range)?,
                of.wanted_number("fileset", "dirwidth", 1..=LARGEST)?,
            ),
        };
        Ok(FileSet {
            name,
            entries,
            size: of.amount("size", 1024)?,
            directory_width,
            preallocated_percent: of.percent("prealloc")? as f64,
        })
    }

    fn process(
        &self,
        process: &Process,
        sets: &[FileSet],
        names: &mut BTreeSet<String>,
        threads: &mut Vec<Threads>,
    ) -> Result<(), ModelError> {
        let of = Attributes::new(self, &process.item)?;
        let name = of.name()?;
        if !names.insert(name.clone()) {
            return Err(Problem::Twice { name }.at(of.line()));
        }
        let processes = of.number("instances", 1..=THREADS_MAX, 1)?;
        for thread in &process.threads {
            let of = Attributes::new(self, &thread.item)?;
            let each = of.number("instances", 1..=THREADS_MAX, 1)?;
            let before: u64 = threads.iter().map(|other| other.instances).sum();
            let instances = processes * each;
            if before + instances > THREADS_MAX {
                let problem = Problem::Value {
                    attribute: "instances".into(),
                    found: format!("{} threads in all", before + instances),
                    takes: format!("at most {THREADS_MAX}"),
                };
                return Err(problem.at(of.line()));
            }
            let flowops = thread.flowops.iter();
            let flowops = flowops.map(|operation| self.flowop(operation, sets));
            threads.push(Threads {
                process: name.clone(),
                thread: of.name()?,
                instances,
                in_process: each,
                flowops: flowops.collect::<Result<_, _>>()?,
            });
        }
        Ok(())
    }

    fn flowop(&self, operation: &Operation, sets: &[FileSet]) -> Result<Flowop, ModelError> {
        let of = Attributes::new(self, &operation.item)?;
        let flowop = Flowop {
            kind: operation.kind,
            name: of.name()?,
            line: of.line(),
            set: set(&of, sets)?,
            fd: of.number("fd", 0..=FD_MAX, 0)? as u8,
            source: of.number("srcfd", 0..=FD_MAX, 0)? as u8,
            rotates: of.flag("opennext")?,
            io_size: of.amount("iosize", 0)?,
            working_set: of.number("workingset", 0..=LARGEST, 0)?,
            random: of.flag("random")?,
            synchronous: of.flag("dsync")?,
            iterations: of.amount("iters", 1)?,
            value: of.amount("value", 0)?,
            high_water: of.number("highwater", 0..=SEMAPHORE_MAX, 1)?,
            blocking: of.flag("blocking")?,
            target: of.text("target")?,
        };
        needs(&of, &flowop)?;
        Ok(flowop)
    }
}

/// The set that a flowop names.
fn set(of: &Attributes<'_>, sets: &[FileSet]) -> Result<Option<usize>, ModelError> {
    let Some(name) = of.text("filesetname")? else {
        return Ok(None);
    };
    if let Some(set) = sets.iter().position(|set| set.name == name) {
        return Ok(Some(set));
    }
    let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
    let problem = Problem::Unknown {
        what: "fileset",
        name,
        known: match names.is_empty() {
            true => "none".into(),
            false => names.join(", "),
        },
    };
    Err(problem.at(of.line_of("filesetname")))
}

/// Checks that the attributes are there that this kind needs.
fn needs(of: &Attributes<'_>, flowop: &Flowop) -> Result<(), ModelError> {
    use Kind as K;
    let what = format!("flowop `{}`", flowop.name);
    match flowop.kind {
        K::Read | K::Write | K::AppendFile | K::AppendFileRand | K::AioWrite
            if flowop.io_size == Amount::Fixed(0) =>
        {
            of.wanted_number(&what, "iosize", 1..=LARGEST)?;
        }
        K::SemBlock => {
            of.wanted_number(&what, "value", 1..=SEMAPHORE_MAX)?;
        }
        K::SemPost => {
            of.wanted_number(&what, "value", 1..=SEMAPHORE_MAX)?;
            of.wanted_text(&what, "target")?;
        }
        K::FinishOnBytes | K::FinishOnCount => {
            of.wanted_number(&what, "value", 0..=u64::MAX)?;
        }
        _ => {}
    }
    if flowop.kind == K::AioWrite && !flowop.random {
        let what = "needs `random`, as in filebench".into();
        let flowop = flowop.name.clone();
        return Err(Problem::Flow { flowop, what }.at(of.line()));
    }
    let rotating = [K::Read, K::Write, K::AioWrite];
    if flowop.rotates && (!rotating.contains(&flowop.kind) || flowop.set.is_none()) {
        let what =
            "has `opennext`: only read, write and aiowrite of a `filesetname` take it".into();
        let flowop = flowop.name.clone();
        return Err(Problem::Flow { flowop, what }.at(of.line()));
    }
    Ok(())
}
