//! A drive that accepts every access at once and completes it after a fixed time, with a run loop.

use fathom_base::{Dur, Time};
use fathom_block::Access;
use fathom_block::devices::Zones;
use fathom_block::program::{Done, Next, Program, Request};
use fathom_block::zoned::ZoneAction;
use fathom_block::{DeviceInfo, Op, Tag};
use fathom_workload::program::fio::{JobError, Jobs, parse};
use std::collections::BTreeMap;

/// An access that was issued, with its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Played {
    pub(crate) actor: usize,
    pub(crate) access: Access,
    pub(crate) tag: Tag,
    pub(crate) asked: Time,
    pub(crate) completed: Time,
    pub(crate) counts: Time,
    /// Number of zones that are open or closed after it, if the drive is zoned.
    pub(crate) zones_active: usize,
}

/// The drive.
pub(crate) struct Drive {
    pub(crate) capacity: u64,
    pub(crate) latency: Dur,
    /// The content by 512-byte logical block; `None` if the drive keeps no data.
    pub(crate) bytes: Option<BTreeMap<u64, [u8; 512]>>,
    /// The zones, if the drive is zoned; an access that their rules do not allow fails the test.
    pub(crate) zones: Option<Zones>,
    /// The accesses of a zoned drive in the order in which they were issued.
    pub(crate) issued: Vec<Played>,
    /// Ask the actors in reverse order.
    pub(crate) backwards: bool,
    /// The end of the last run.
    pub(crate) ended: Time,
    /// Called after every write, with the content of the drive.
    pub(crate) spoil: fn(&Access, &mut BTreeMap<u64, [u8; 512]>),
}

pub(crate) const LATENCY: Dur = Dur(100_000);

impl Drive {
    pub(crate) fn new(capacity: u64) -> Self {
        Self {
            capacity,
            latency: LATENCY,
            bytes: None,
            zones: None,
            issued: Vec::new(),
            backwards: false,
            ended: Time::ZERO,
            spoil: |_, _| {},
        }
    }

    fn write(&mut self, access: &Access, data: Option<&[u8]>) {
        let (Some(bytes), Some(data)) = (&mut self.bytes, data) else {
            return;
        };
        assert_eq!(data.len() as u64, access.len);
        for (index, sector) in data.chunks_exact(512).enumerate() {
            let at = access.offset / 512 + index as u64;
            bytes.insert(at, sector.try_into().unwrap());
        }
        (self.spoil)(access, bytes);
    }

    fn read(&self, access: &Access) -> Option<Vec<u8>> {
        let bytes = self.bytes.as_ref()?;
        let sectors = access.offset / 512..access.end() / 512;
        let sector = |at| bytes.get(&at).copied().unwrap_or([0; 512]);
        Some(sectors.flat_map(sector).collect())
    }

    /// Runs jobs to their end. An actor is asked when its time has come and after each of its completions. An actor
    /// that watches is asked at every event. A program must not rely on more.
    pub(crate) fn play(&mut self, jobs: &mut Jobs) -> Result<Vec<Played>, JobError> {
        let (mut now, mut played) = (Time::ZERO, Vec::new());
        let mut wakes = vec![Time::ZERO; jobs.actors()];
        let mut watches = vec![false; jobs.actors()];
        let mut flying: BTreeMap<(Time, usize), Played> = BTreeMap::new();
        let mut number = 0;
        loop {
            let mut order: Vec<usize> = (0..wakes.len()).collect();
            if self.backwards {
                order.reverse();
            }
            for actor in order {
                while wakes[actor] <= now || std::mem::take(&mut watches[actor]) {
                    match jobs.next(actor, now)? {
                        waits @ (Next::Wait(until) | Next::Watch(until)) => {
                            assert!(until > now, "actor {actor} waits for {until:?} at {now:?}");
                            wakes[actor] = until;
                            watches[actor] = matches!(waits, Next::Watch(_));
                            break;
                        }
                        Next::Request(request) => {
                            wakes[actor] = now;
                            let one = self.take(actor, &request, now);
                            self.take_zone(&one, flying.values());
                            flying.insert((one.completed, number), one);
                            number += 1;
                            assert!(number < 10_000_000, "it does not end");
                        }
                    }
                }
            }
            let first = flying.keys().next().map_or(Time::MAX, |key| key.0);
            let wake = wakes.iter().copied().min().unwrap_or(Time::MAX);
            if first.min(wake) == Time::MAX {
                self.ended = now;
                return Ok(played);
            }
            now = first.min(wake);
            while let Some(entry) = flying.first_entry()
                && entry.key().0 <= now
            {
                let one = entry.remove();
                self.answer(&one, jobs)?;
                wakes[one.actor] = now;
                played.push(one);
            }
        }
    }

    /// Executes an access on the zones. A reset must not meet an access in flight.
    fn take_zone<'a>(&mut self, one: &Played, mut flying: impl Iterator<Item = &'a Played>) {
        let Some(zones) = &mut self.zones else {
            return;
        };
        let &Played { access, .. } = one;
        if access.op == Op::Zone(ZoneAction::Reset) {
            let end = access.offset + access.len;
            let meets = flying.find(|other| (access.offset..end).contains(&other.access.offset));
            assert!(meets.is_none(), "{access:?} meets {meets:?}");
        }
        let request = fathom_block::Request::new(0, access.op, access.offset, access.len);
        if let Err(error) = zones.execute(&request) {
            panic!("{access:?}: {error:?}");
        }
        let all = zones.report(0, usize::MAX);
        let zones_active = all.iter().filter(|zone| zone.state.is_active()).count();
        self.issued.push(Played {
            zones_active,
            ..*one
        });
    }

    fn take(&mut self, actor: usize, request: &Request, now: Time) -> Played {
        assert!(request.asked <= now);
        assert!(request.access.end() <= self.capacity);
        assert_eq!(request.tag.process as usize, actor);
        self.write(&request.access, request.data.as_deref());
        Played {
            actor,
            access: request.access,
            tag: request.tag,
            asked: request.asked,
            completed: now + self.latency,
            counts: request.counts,
            zones_active: 0,
        }
    }

    fn answer(&self, one: &Played, jobs: &mut Jobs) -> Result<(), JobError> {
        let data = (one.access.op == Op::Read)
            .then(|| self.read(&one.access))
            .flatten();
        let done = Done {
            access: &one.access,
            tag: one.tag,
            completed: one.completed,
            data: data.as_deref(),
        };
        jobs.done(one.actor, done)
    }
}

/// Describes a drive without zones, of so many bytes.
pub(crate) fn info(capacity_bytes: u64) -> DeviceInfo {
    DeviceInfo {
        capacity_bytes,
        ..DeviceInfo::default()
    }
}

/// Parses a job file and makes its jobs for a drive of `capacity` bytes.
pub(crate) fn jobs(text: &str, capacity: u64, seed: u64) -> Jobs {
    let file = parse(text).unwrap_or_else(|error| panic!("{error}"));
    Jobs::new(&file.jobs, &info(capacity), seed).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the accesses of a job file on a drive of `capacity` bytes, in the order in which they are issued.
pub(crate) fn play(text: &str, capacity: u64) -> Vec<Played> {
    let mut played = Drive::new(capacity)
        .play(&mut jobs(text, capacity, 1))
        .unwrap();
    played.sort_by_key(|one| one.asked);
    played
}

/// Counts how often each key occurs.
pub(crate) fn tally(keys: impl IntoIterator<Item = u64>) -> BTreeMap<u64, u64> {
    let mut counts = BTreeMap::new();
    for key in keys {
        *counts.entry(key).or_insert(0) += 1;
    }
    counts
}

/// Returns the accesses of one operation.
pub(crate) fn of(played: &[Played], op: Op) -> Vec<&Played> {
    played.iter().filter(|one| one.access.op == op).collect()
}
