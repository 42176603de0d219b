//! Recordings of the kernel, and the replay of a scheduler along them.

use fathom_base::Time;
use fathom_block::Op;
use fathom_iosched::{Io, IoKey, Scheduler};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// One line of a recording.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    at: Time,
    code: char,
    offset: u64,
    len: u64,
    flags: String,
    thread: u32,
}

/// The recording of the kernel under a scheduler with a job.
#[derive(Debug)]
pub(crate) struct Trace {
    events: Vec<Event>,
    /// Maximum number of requests in flight at the drive.
    depth: usize,
    /// Whether there is no scheduler: requests go to the drive as they are queued.
    direct: bool,
}

/// The orders of dispatch, as request numbers.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    pub(crate) theirs: Vec<u32>,
    pub(crate) ours: Vec<u32>,
}

const SECTOR: u64 = 512;

impl Trace {
    pub(crate) fn read(scheduler: &str, job: &str) -> Self {
        let path = format!(
            "{}/tests/kernel/{scheduler}-{job}.csv",
            env!("CARGO_MANIFEST_DIR")
        );
        let text = std::fs::read_to_string(&path).unwrap();
        let depth = text.lines().find_map(|line| line.strip_prefix("# depth "));
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        Self {
            events: lines.map(event).collect(),
            depth: depth.unwrap().parse().unwrap(),
            direct: scheduler == "none",
        }
    }

    /// Replays the recording with a scheduler.
    pub(crate) fn replay(&self, scheduler: &mut dyn Scheduler) -> Replay {
        let mut world = World::default();
        for event in &self.events {
            world.settle(event.at, scheduler);
            match event.code {
                'Q' => world.insert(event, scheduler),
                'I' if !self.direct => world.insert(event, scheduler),
                'M' | 'F' | 'R' => {
                    // A request that was merged into another one is not counted on its own.
                    if event.code == 'R' || self.direct {
                        world.withdraw(event, scheduler);
                    }
                    world.merge(event, scheduler);
                }
                'd' => world.flushes += 1,
                'c' => world.flushes -= 1,
                'U' => world.batch = event.offset / SECTOR,
                'D' => world.dispatch(event, scheduler),
                'C' => world.complete(event, scheduler),
                _ => {}
            }
            if matches!(event.code, 'I' | 'R') {
                world.batch = world.batch.saturating_sub(1);
            }
            world.take_ahead(event.at, self.depth, scheduler);
        }
        let end = self.events.last().unwrap().at;
        world.settle(end + fathom_base::Dur::ms(1_000), scheduler);
        world.replay
    }
}

fn event(line: &str) -> Event {
    let fields: Vec<&str> = line.split(',').collect();
    let number = |index: usize| fields.get(index).map_or(0, |field| field.parse().unwrap());
    Event {
        at: Time(number(0) * 1_000),
        code: fields[1].chars().next().unwrap(),
        offset: number(2) * SECTOR,
        len: number(3) * SECTOR,
        flags: fields.get(4).copied().unwrap_or_default().to_owned(),
        thread: number(5) as u32,
    }
}

/// The state of the replay: requests held and in flight in the kernel, and the progress of our scheduler.
#[derive(Debug, Default)]
struct World {
    replay: Replay,
    next: u32,
    /// Requests held by the kernel, and those held by our scheduler, by number.
    held: BTreeMap<u32, Io>,
    ours: BTreeSet<u32>,
    /// In flight in the kernel: number and position, by first byte.
    in_flight: BTreeMap<u64, VecDeque<usize>>,
    /// Requests dispatched by our scheduler, and positions that completed before our scheduler reached them.
    dispatched: Vec<Io>,
    done: Vec<usize>,
    owed: u32,
    /// Whether a request was taken that the drive has no room for yet.
    ahead: bool,
    /// Flushes in flight, which also take room in the drive.
    flushes: usize,
    /// Number of requests of a plug that are still to be inserted.
    batch: u64,
}

impl World {
    fn insert(&mut self, event: &Event, scheduler: &mut dyn Scheduler) {
        let op = if event.flags.contains('R') {
            Op::Read
        } else {
            Op::Write
        };
        let io = Io {
            key: IoKey(self.next),
            op,
            offset: event.offset,
            len: event.len,
            process: event.thread,
            class: fathom_iosched::Class::default(),
            priority: 4,
            sync: op == Op::Read || event.flags.contains('S'),
            fua: false,
            placement: 0,
            queued: event.at,
        };
        self.next += 1;
        self.held.insert(io.key.0, io);
        self.ours.insert(io.key.0);
        scheduler.insert(event.at, io);
    }

    fn withdraw(&mut self, event: &Event, scheduler: &mut dyn Scheduler) {
        let is = |io: &&Io| io.offset == event.offset && io.len == event.len;
        if let Some(gone) = self.held.values().rev().find(is).copied() {
            self.held.remove(&gone.key.0);
            if self.ours.remove(&gone.key.0) {
                scheduler.remove(&gone);
            }
        }
    }

    /// A request that was merged before its insertion is not found, and need not be.
    fn merge(&mut self, event: &Event, scheduler: &mut dyn Scheduler) {
        let write = event.flags.contains('W');
        let joins = |io: &&Io| {
            let place = if event.code == 'F' {
                io.offset == event.offset + event.len
            } else {
                io.end() == event.offset
            };
            place && io.is_write() == write
        };
        let Some(before) = self.held.values().find(joins).copied() else {
            return;
        };
        let after = Io {
            offset: before.offset.min(event.offset),
            len: before.len + event.len,
            ..before
        };
        self.held.insert(after.key.0, after);
        if self.ours.contains(&after.key.0) {
            scheduler.changed(event.at, &before, after);
        }
    }

    fn dispatch(&mut self, event: &Event, scheduler: &mut dyn Scheduler) {
        let io = self
            .held
            .values()
            .find(|io| io.offset == event.offset)
            .copied();
        let io = io.unwrap_or_else(|| panic!("nobody has inserted {event:?}"));
        self.held.remove(&io.key.0);
        let position = self.replay.theirs.len();
        self.replay.theirs.push(io.key.0);
        self.in_flight
            .entry(io.offset)
            .or_default()
            .push_back(position);
        self.owed += u32::from(!std::mem::take(&mut self.ahead));
        self.settle(event.at, scheduler);
    }

    /// The kernel takes requests from the scheduler until one finds the drive full (`__blk_mq_do_dispatch_sched`). That
    /// one stays chosen, whatever arrives later.
    fn take_ahead(&mut self, now: Time, depth: usize, scheduler: &mut dyn Scheduler) {
        let in_flight = self.in_flight.values().map(VecDeque::len).sum::<usize>() + self.flushes;
        if in_flight >= depth
            && !self.ahead
            && self.batch == 0
            && self.owed == 0
            && !self.held.is_empty()
        {
            self.owed = 1;
            self.settle(now, scheduler);
            self.ahead = self.owed == 0;
            self.owed = 0;
        }
    }

    /// Asks the scheduler for the requests due, and reports completions.
    fn settle(&mut self, now: Time, scheduler: &mut dyn Scheduler) {
        while self.owed > 0
            && let Some(io) = scheduler.dispatch(now)
        {
            self.owed -= 1;
            self.ours.remove(&io.key.0);
            self.replay.ours.push(io.key.0);
            self.dispatched.push(io);
        }
        let dispatched = &self.dispatched;
        self.done
            .retain(|&position| match dispatched.get(position) {
                Some(io) => {
                    scheduler.completed(now, io);
                    false
                }
                None => true,
            });
    }

    fn complete(&mut self, event: &Event, scheduler: &mut dyn Scheduler) {
        let positions = self.in_flight.get_mut(&event.offset).unwrap();
        self.done.push(positions.pop_front().unwrap());
        if positions.is_empty() {
            self.in_flight.remove(&event.offset);
        }
        self.settle(event.at, scheduler);
    }
}

/// The largest share of the requests that have the same order in both (a longest increasing subsequence).
pub(crate) fn in_order(ours: &[u32], theirs: &[u32]) -> f64 {
    let positions: BTreeMap<u32, usize> = theirs.iter().copied().zip(0..).collect();
    let mut ends: Vec<usize> = Vec::new();
    for position in ours.iter().filter_map(|id| positions.get(id)) {
        match ends.partition_point(|end| end < position) {
            at if at == ends.len() => ends.push(*position),
            at => ends[at] = *position,
        }
    }
    ends.len() as f64 / theirs.len() as f64
}
