//! Splits the time of single I/Os into phases.

use super::rejection::Rejection;
use super::route::{Io, Route};
use super::seen::{Path, Seen};
use super::timeline::Timeline;
use crate::layer::Phase;
use fathom_block::kernel::{Event, Record};
use std::collections::BTreeMap;

/// The phases of an I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Index of the I/O.
    pub index: usize,
    /// Time by [`Phase::ALL`]; `None` for a phase that the I/O did not pass, or that is part of another. The sum is what the
    /// caller saw.
    pub time: [Option<u64>; Phase::ALL.len()],
    /// Number of recorded events in each phase, on the processors that the I/O waited for.
    pub events: [u32; Phase::ALL.len()],
}

/// The phases of many I/Os.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latencies {
    /// The I/Os that could be told, in order.
    pub ios: Vec<Parts>,
    /// Number of the others.
    pub rejected: BTreeMap<Rejection, u64>,
}

impl Parts {
    /// Returns the time of a phase.
    pub fn of(&self, phase: Phase) -> Option<u64> {
        self.time[phase as usize]
    }

    /// Returns the number of recorded events.
    pub fn all_events(&self) -> u32 {
        self.events.iter().sum()
    }
}

/// Splits the time of each I/O into phases.
///
/// The phases go from the caller's stamp to the event of the system call, of the bio, of the issue to the driver, of the
/// completion, of the caller's waking, of the switch to it, and to the caller's stamp. A thread that did not sleep has
/// neither [`Phase::Completion`] nor [`Phase::Wake`]: from the completion on it is [`Phase::Return`]. Where the kernel did not
/// report the switch, the wake-up is part of the return.
pub fn latencies(records: &[Record], ios: &[Io], route: &Route) -> Latencies {
    let timeline = Timeline::new(records);
    let mut found = Latencies::default();
    for (index, io) in ios.iter().enumerate() {
        match parts(&timeline, io, route) {
            Ok(parts) => found.ios.push(Parts { index, ..parts }),
            Err(reason) => *found.rejected.entry(reason).or_default() += 1,
        }
    }
    found
}

fn parts(timeline: &Timeline<'_>, io: &Io, route: &Route) -> Result<Parts, Rejection> {
    if io.after < io.before {
        return Err(Rejection::Stamps);
    }
    if timeline.lost_between(io.before, io.after) {
        return Err(Rejection::Lost);
    }
    let records = timeline.between(io.before, io.after);
    let mut seen = Seen::default();
    for record in records {
        seen.add(record, io, route)?;
    }
    let path = seen.path(io, route)?;
    let mut parts = Parts::default();
    let mut from = io.before;
    for end in bounds(&path, io, route) {
        let time = end.at.checked_sub(from).ok_or(Rejection::OutOfOrder)?;
        parts.time[end.phase as usize] = Some(time);
        let within = |r: &&Record| r.at >= from && r.at < end.at && end.cpus.contains(&r.cpu);
        let events = records.iter().filter(within);
        let events = events.filter(|r| !matches!(r.event, Event::Lost { .. }));
        parts.events[end.phase as usize] = events.count() as u32;
        from = end.at;
    }
    Ok(parts)
}

/// The end of a phase, and the processors on which it passes.
struct End {
    phase: Phase,
    at: u64,
    cpus: [u16; 2],
}

fn bounds(path: &Path, io: &Io, route: &Route) -> Vec<End> {
    let mut ends = Vec::with_capacity(7);
    let mut end = |phase, at, cpus| ends.push(End { phase, at, cpus });
    let own = [path.bio.cpu; 2];
    if let Some(enter) = path.enter.filter(|_| route.submitter.is_none()) {
        end(Phase::Entry, enter, own);
    }
    end(Phase::FileSystem, path.bio.at, own);
    end(Phase::Block, path.issue.at, [path.bio.cpu, path.issue.cpu]);
    end(Phase::Device, path.done.at, [path.issue.cpu, path.done.cpu]);
    if let Some(waking) = path.waking {
        end(Phase::Completion, waking.at, [path.done.cpu; 2]);
        if let Some(ran) = path.ran {
            end(Phase::Wake, ran.at, [waking.cpu, ran.cpu]);
        }
    }
    end(Phase::Return, io.after, [path.last_cpu; 2]);
    ends
}
