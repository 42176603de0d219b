//! Any text as a workload in filebench's language: refused with its line, or threads whose accesses lie on the drive.

use fathom_base::{Bytes, Time};
use fathom_block::program::{Done, Next, Program};
use fathom_workload::program::filebench::language::{Model, ModelError, Workload};
use fathom_workload::program::filebench::{ModelSettings, example};

const CAPACITY: u64 = 1 << 26;
const PAGE: u64 = 4096;
/// More files and threads than this are not played: one line can ask for millions.
const FILES_MAX: u64 = 500;
const THREADS_MAX: u64 = 50;
/// How often every thread is asked for its next access.
const TURNS: usize = 300;

/// Tries one input.
pub fn try_one(text: &str) {
    let Some(workload) = read(text) else {
        return;
    };
    let files = workload.file_sets.iter().map(|set| set.entries);
    let threads = workload.threads.iter().map(|threads| threads.instances);
    if files.sum::<u64>() > FILES_MAX || threads.sum::<u64>() > THREADS_MAX {
        return;
    }
    let mut settings = ModelSettings {
        model: text.to_owned(),
        operations: Some(500),
        ..example()
    };
    // Little memory, so that writers wait and pages leave the cache.
    settings.system.memory = Bytes::mib(8);
    match settings.build(CAPACITY, 1) {
        Ok(machine) => play(machine),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// The workload of a text; `None` if it is refused.
fn read(text: &str) -> Option<Workload> {
    let lines = 1 + text.bytes().filter(|&byte| byte == b'\n').count();
    let refused = |error: ModelError| {
        assert!((1..=lines).contains(&error.line), "{error}");
        assert!(!error.problem.to_string().is_empty());
    };
    let model = Model::parse(text.as_bytes()).map_err(refused).ok()?;
    model.workload().map_err(refused).ok()
}

/// Answers every access at once.
fn play(mut machine: impl Program<Error = impl std::fmt::Display>) {
    let mut now = Time::ZERO;
    for _ in 0..TURNS {
        let mut wake = Time::MAX;
        for actor in 0..machine.actors() {
            match machine.next(actor, now) {
                Ok(Next::Wait(until) | Next::Watch(until)) => {
                    assert!(until > now);
                    wake = wake.min(until);
                }
                Ok(Next::Request(request)) => {
                    let access = &request.access;
                    assert!(access.end() <= CAPACITY);
                    assert!(access.offset.is_multiple_of(PAGE) && access.len.is_multiple_of(PAGE));
                    let done = Done {
                        access,
                        tag: request.tag,
                        completed: now,
                        data: None,
                    };
                    let answered = machine.done(actor, done);
                    assert!(answered.is_ok(), "the access was asked for");
                    wake = Time(now.0 + 1);
                }
                Err(error) => return assert!(!error.to_string().is_empty()),
            }
        }
        if wake == Time::MAX {
            return;
        }
        now = wake;
    }
}
