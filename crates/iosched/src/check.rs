//! The check suite: tests whether something is a valid [`Scheduler`].
//!
//! It simulates the queue and a drive with random service times. It inserts, grows and joins requests as the queue
//! does, and checks every decision: no request is lost or dispatched twice, each dispatched request is as it was held,
//! none is held for ever, a stream of other requests delays none for longer than the options allow, and equal input
//! gives equal decisions. The queue, not the scheduler, keeps the order of overlapping requests and the meaning of
//! flushes and FUA; the device conformance suite tests that with every scheduler.

use crate::{Io, IoKey, Scheduler};
use fathom_base::{Dur, Rng, Time};
use fathom_block::Op;
use std::collections::BTreeMap;

/// The unit of offsets and lengths here, in bytes.
const BLOCK: u64 = 4096;
/// Steps without a decision after which the check fails a scheduler for holding its requests for ever.
const PATIENCE: u32 = 100_000;

/// The parameters of a check.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The seed of all random choices.
    pub seed: u64,
    /// Number of requests to insert.
    pub requests: u32,
    /// Maximum number of requests in flight.
    pub depth: u32,
    /// The longest time that a request may wait behind a stream of others that come before it in every respect but age.
    pub starvation: Dur,
}

/// A rule that a scheduler broke.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("seed {seed}, decision {decision}: {what}")]
pub struct Failure {
    /// The seed of the run.
    pub seed: u64,
    /// Number of decisions made before the failure.
    pub decision: u64,
    /// The description of the problem.
    pub what: String,
}

/// Checks the schedulers that `make` creates, and returns the decisions of the random run.
///
/// # Errors
/// The first rule that is broken.
pub fn check(
    make: &dyn Fn() -> Box<dyn Scheduler>,
    options: &Options,
) -> Result<Vec<IoKey>, Failure> {
    let decisions = Play::new(make(), options).random()?;
    let again = Play::new(make(), options).random()?;
    if decisions != again {
        return Err(Failure {
            seed: options.seed,
            decision: 0,
            what: "equal input gave other decisions".into(),
        });
    }
    for victim in [Op::Read, Op::Write] {
        for others in [Op::Read, Op::Write] {
            // Some of these lengths suit the boundaries that a scheduler prefers, and some do not.
            for blocks in [1, 4] {
                for other_blocks in [1, 8] {
                    let victim = Shape { op: victim, blocks };
                    let others = Shape {
                        op: others,
                        blocks: other_blocks,
                    };
                    Play::new(make(), options).starve(victim, others)?;
                }
            }
        }
    }
    Ok(decisions)
}

/// The kind and the length of a request.
#[derive(Clone, Copy)]
struct Shape {
    op: Op,
    blocks: u64,
}

struct Play<'a> {
    scheduler: Box<dyn Scheduler>,
    options: &'a Options,
    rng: Rng,
    now: Time,
    held: BTreeMap<IoKey, Io>,
    /// When each request in flight completes.
    flying: Vec<(Time, Io)>,
    decisions: Vec<IoKey>,
    next_key: u32,
    free: Vec<u32>,
    inserted: u32,
}

impl<'a> Play<'a> {
    fn new(scheduler: Box<dyn Scheduler>, options: &'a Options) -> Self {
        Self {
            scheduler,
            options,
            rng: Rng::new(options.seed, 11),
            now: Time(1),
            held: BTreeMap::new(),
            flying: Vec::new(),
            decisions: Vec::new(),
            next_key: 0,
            free: Vec::new(),
            inserted: 0,
        }
    }

    fn fail<T>(&self, what: impl Into<String>) -> Result<T, Failure> {
        Err(Failure {
            seed: self.options.seed,
            decision: self.decisions.len() as u64,
            what: what.into(),
        })
    }

    fn key(&mut self) -> IoKey {
        let key = self.free.pop().unwrap_or_else(|| {
            self.next_key += 1;
            self.next_key - 1
        });
        IoKey(key)
    }

    fn insert(&mut self, op: Op, block: u64, blocks: u64, process: u32) -> IoKey {
        let offset = block * BLOCK;
        let len = (blocks * BLOCK).min(self.scheduler.room(op, offset));
        let io = Io {
            key: self.key(),
            op,
            offset,
            len,
            process,
            class: crate::Class::default(),
            priority: 4 + (process % 2) as u8,
            sync: op == Op::Read || process == 1,
            fua: false,
            placement: 0,
            queued: self.now,
        };
        self.held.insert(io.key, io);
        self.scheduler.insert(self.now, io);
        self.inserted += 1;
        io.key
    }

    /// Grows a held request at its end or its beginning into free space, as merging does.
    fn grow(&mut self) {
        let Some(before) = self.any_held() else {
            return;
        };
        let blocks = 1 + self.rng.below(4);
        let back = self.rng.below(3) > 0;
        let extent = blocks * BLOCK;
        let (offset, new_at) = match back {
            true => (before.offset, before.end()),
            false if before.offset >= extent => (before.offset - extent, before.offset - extent),
            false => return,
        };
        let new = Io {
            offset: new_at,
            len: extent,
            queued: self.now,
            ..before
        };
        let whole = before.len + extent;
        let is_free =
            |io: &Io| io.key == before.key || io.end() <= new_at || io.offset >= new_at + extent;
        if whole > self.scheduler.room(before.op, offset)
            || !self.scheduler.may_merge(&before, &new)
            || !self.held.values().all(is_free)
        {
            return;
        }
        let grown = Io {
            offset,
            len: whole,
            ..before
        };
        self.held.insert(grown.key, grown);
        self.scheduler.changed(self.now, &before, grown);
    }

    /// Joins two held requests that have become adjacent.
    fn join(&mut self) {
        let Some(first) = self.any_held() else {
            return;
        };
        let next = |io: &&Io| io.offset == first.end() && io.op == first.op && io.key != first.key;
        let Some(second) = self.held.values().find(next).copied() else {
            return;
        };
        if first.len + second.len > self.scheduler.room(first.op, first.offset)
            || !self.scheduler.may_merge(&first, &second)
        {
            return;
        }
        self.scheduler.remove(&second);
        self.held.remove(&second.key);
        self.free.push(second.key.0);
        self.inserted -= 1;
        let grown = Io {
            len: first.len + second.len,
            sync: first.sync || second.sync,
            queued: first.queued.min(second.queued),
            priority: first.priority.min(second.priority),
            ..first
        };
        self.held.insert(grown.key, grown);
        self.scheduler.changed(self.now, &first, grown);
    }

    fn any_held(&mut self) -> Option<Io> {
        let count = self.held.len() as u64;
        if count == 0 {
            return None;
        }
        let index = self.rng.below(count) as usize;
        self.held.values().nth(index).copied()
    }

    /// Dispatches until the drive is full or the scheduler returns none.
    fn dispatch(&mut self, service: Dur) -> Result<(), Failure> {
        while self.flying.len() < self.options.depth as usize {
            let held = self.held.len();
            if self.scheduler.len() != held || self.scheduler.is_empty() != (held == 0) {
                return self.fail(format!("holds {held}, says {}", self.scheduler.len()));
            }
            let Some(io) = self.scheduler.dispatch(self.now) else {
                return Ok(());
            };
            match self.held.remove(&io.key) {
                Some(known) if known == io => {}
                Some(known) => return self.fail(format!("gave {io:?}, holds {known:?}")),
                None => return self.fail(format!("gave {io:?}, which it does not hold")),
            }
            self.decisions.push(io.key);
            let jitter = Dur(self.rng.below(service.0 / 4 + 1));
            self.flying.push((self.now + service + jitter, io));
        }
        Ok(())
    }

    /// Advances the time to `until`, the next completion or the scheduler's timer, whichever is first.
    fn advance(&mut self, until: Time) -> Result<(), Failure> {
        let done = self.flying.iter().map(|(at, _)| *at).min();
        let full = self.flying.len() >= self.options.depth as usize;
        let timer = self.scheduler.next_timer().filter(|_| !full);
        if let Some(at) = timer
            && at <= self.now
            && !self.held.is_empty()
        {
            return self.fail(format!("wants to be asked at {at:?}, which is past"));
        }
        let timer = timer.filter(|_| !self.held.is_empty());
        let at = [done, timer].into_iter().flatten().min().unwrap_or(until);
        self.now = at.min(until).max(self.now);
        let mut index = 0;
        while let Some(&(at, io)) = self.flying.get(index) {
            if at <= self.now {
                self.flying.remove(index);
                self.scheduler.completed(self.now, &io);
                self.free.push(io.key.0);
            } else {
                index += 1;
            }
        }
        Ok(())
    }

    /// Plays random requests of several processes, then drains the scheduler.
    fn random(mut self) -> Result<Vec<IoKey>, Failure> {
        let places = u64::from(self.options.requests) * 64;
        while self.inserted < self.options.requests {
            match self.rng.below(8) {
                0..3 => {
                    let op = if self.rng.below(2) == 0 {
                        Op::Read
                    } else {
                        Op::Write
                    };
                    let block = self.rng.below(places / 8) * 8;
                    let taken =
                        |io: &Io| io.offset < (block + 8) * BLOCK && io.end() > block * BLOCK;
                    if !self.held.values().any(taken) {
                        let (blocks, process) = (1 + self.rng.below(8), self.rng.below(4) as u32);
                        self.insert(op, block, blocks, process);
                    }
                }
                3 => self.grow(),
                4 => self.join(),
                _ => {
                    self.dispatch(Dur::us(200))?;
                    let step = Dur(self.rng.below(400_000));
                    self.advance(self.now + step)?;
                }
            }
        }
        let mut still = 0;
        while !self.held.is_empty() || !self.flying.is_empty() {
            let before = self.decisions.len();
            self.dispatch(Dur::us(200))?;
            if self.flying.is_empty()
                && self.scheduler.next_timer().is_none()
                && !self.held.is_empty()
            {
                return self.fail("holds requests, waits for nothing, and gives none");
            }
            self.advance(Time::MAX)?;
            still = if self.decisions.len() > before {
                0
            } else {
                still + 1
            };
            if still > PATIENCE {
                return self.fail(format!("holds {} requests for ever", self.held.len()));
            }
        }
        match self.scheduler.len() {
            0 => Ok(self.decisions),
            len => self.fail(format!("is empty, says {len}")),
        }
    }

    /// Plays one distant request behind an endless stream of others, which one process makes in ascending order.
    fn starve(mut self, victim: Shape, others: Shape) -> Result<(), Failure> {
        const AHEAD: usize = 64;
        const WARM: Dur = Dur(50_000_000);
        let mut block = 1 << 20;
        for _ in 0..AHEAD {
            self.insert(others.op, block, others.blocks, 1);
            block += 16;
        }
        let mut key = None;
        let mut began = self.now;
        loop {
            self.dispatch(Dur::us(100))?;
            let waited = self.now.since(began);
            match key {
                // The stream has run for a while.
                None if waited > WARM => {
                    key = Some(self.insert(victim.op, 64, victim.blocks, 2));
                    began = self.now;
                }
                Some(key) if self.decisions.contains(&key) => return Ok(()),
                Some(_) if waited > self.options.starvation => {
                    return self.fail(format!(
                        "a {} of {} blocks waits for {waited} behind {}s of {} blocks",
                        victim.op, victim.blocks, others.op, others.blocks
                    ));
                }
                _ => {}
            }
            self.decisions.clear();
            self.advance(Time::MAX)?;
            while self.held.len() < AHEAD {
                self.insert(others.op, block, others.blocks, 1);
                block += 16;
            }
        }
    }
}
