//! The order of operations in a thread: which file descriptors are open where, and that every target exists.
//!
//! A thread repeats its list, and an operation either succeeds or ends the thread. So the descriptors are known at every
//! operation, and what filebench finds when it performs it is found here. The list is followed twice, and an operation that
//! may be repeated twice each time.

use super::amount::Amount;
use super::error::{ModelError, Problem};
use super::workload::{Flowop, Kind, Threads, Workload};
use std::collections::{BTreeMap, BTreeSet};

/// A descriptor that has had a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Descriptor {
    set: Option<usize>,
    open: bool,
}

type Descriptors = BTreeMap<u8, Descriptor>;

/// Checks all threads.
pub(super) fn check(workload: &Workload) -> Result<(), ModelError> {
    let semaphores: BTreeSet<&str> = workload
        .threads
        .iter()
        .flat_map(|threads| &threads.flowops)
        .filter(|flowop| flowop.kind == Kind::SemBlock)
        .map(|flowop| flowop.name.as_str())
        .collect();
    for threads in &workload.threads {
        for flowop in &threads.flowops {
            target(flowop, threads, &semaphores)?;
            sizes(flowop, workload)?;
        }
        let mut open = Descriptors::new();
        for flowop in [&threads.flowops, &threads.flowops].into_iter().flatten() {
            let times = match flowop.iterations {
                Amount::Fixed(times) => times.min(2),
                Amount::Random(_) => 2,
            };
            for _ in 0..times {
                follow(flowop, &mut open)?;
            }
        }
    }
    Ok(())
}

fn wrong<T>(flowop: &Flowop, what: impl Into<String>) -> Result<T, ModelError> {
    let problem = Problem::Flow {
        flowop: flowop.name.clone(),
        what: what.into(),
    };
    Err(problem.at(flowop.line))
}

/// Checks that what a flowop names as its target exists.
fn target(
    flowop: &Flowop,
    threads: &Threads,
    semaphores: &BTreeSet<&str>,
) -> Result<(), ModelError> {
    let Some(target) = flowop.target.as_deref() else {
        return Ok(());
    };
    let exists = match flowop.kind {
        Kind::SemPost => semaphores.contains(target),
        _ => threads.flowops.iter().any(|other| other.name == target),
    };
    match exists {
        true => Ok(()),
        false if flowop.kind == Kind::SemPost => wrong(
            flowop,
            format!("has the target `{target}`, and no semblock has this name"),
        ),
        false => wrong(
            flowop,
            format!("has the target `{target}`, and its thread has no such flowop"),
        ),
    }
}

/// Checks that a call at random fits the files, where both lengths are numbers.
fn sizes(flowop: &Flowop, workload: &Workload) -> Result<(), ModelError> {
    let set = flowop.set.and_then(|set| workload.file_sets.get(set));
    let all = match (flowop.working_set, set) {
        (0, Some(set)) => set.size.fixed(),
        (0, None) => None,
        (part, _) => Some(part),
    };
    match (flowop.io_size.fixed(), all) {
        (Some(call), Some(all)) if flowop.random && call > all => wrong(
            flowop,
            format!("moves {call} bytes at a time in files of {all} bytes"),
        ),
        _ => Ok(()),
    }
}

/// Performs a flowop on the descriptors.
fn follow(flowop: &Flowop, open: &mut Descriptors) -> Result<(), ModelError> {
    use Kind as K;
    let fd = flowop.fd;
    let now = open.get(&fd).copied();
    let is_open = now.is_some_and(|now| now.open);
    let opened = Descriptor {
        set: flowop.set,
        open: true,
    };
    match flowop.kind {
        K::OpenFile | K::CreateFile => {
            if is_open {
                return wrong(
                    flowop,
                    format!("opens fd {fd}, which is open: close it before"),
                );
            }
            if flowop.set.is_none() {
                return wrong(flowop, "has no `filesetname`");
            }
            open.insert(fd, opened);
        }
        K::CloseFile | K::Fsync => match now {
            Some(now) if now.open => {
                let open_after = flowop.kind == K::Fsync;
                let after = Descriptor {
                    open: open_after,
                    ..now
                };
                open.insert(fd, after);
            }
            _ => return wrong(flowop, format!("needs fd {fd}, which is not open")),
        },
        K::StatFile if fd > 0 && is_open => {}
        K::DeleteFile if fd > 0 && is_open => {
            return wrong(
                flowop,
                format!("deletes the file of fd {fd}: close it before"),
            );
        }
        K::DeleteFile if fd > 0 && now.is_some() => {
            open.remove(&fd);
        }
        K::DeleteFile | K::StatFile if flowop.set.is_none() => {
            return wrong(flowop, "has no `filesetname`");
        }
        K::Read
        | K::Write
        | K::AioWrite
        | K::ReadWholeFile
        | K::WriteWholeFile
        | K::AppendFile
        | K::AppendFileRand
            if !flowop.rotates =>
        {
            uses(flowop, now, open)?;
            if flowop.source > 0 && !open.contains_key(&flowop.source) {
                return wrong(
                    flowop,
                    format!("has srcfd {}, which was never open", flowop.source),
                );
            }
        }
        _ => {}
    }
    Ok(())
}

/// A flowop that moves data opens its file if it is not open.
fn uses(
    flowop: &Flowop,
    now: Option<Descriptor>,
    open: &mut Descriptors,
) -> Result<(), ModelError> {
    let fd = flowop.fd;
    match (now, flowop.set) {
        (Some(now), set) if now.open => match set {
            Some(_) if set != now.set && fd > 0 => wrong(
                flowop,
                format!("names another fileset than the one that fd {fd} is open in"),
            ),
            _ => Ok(()),
        },
        (_, None) => wrong(
            flowop,
            format!("needs fd {fd}, which is not open, or a `filesetname`"),
        ),
        (_, set) => {
            open.insert(fd, Descriptor { set, open: true });
            Ok(())
        }
    }
}
