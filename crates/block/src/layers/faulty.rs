//! Errors: makes chosen requests fail, to see what stands above a device do with it.
//!
//! A fault before the device fails at once and the device never hears of the request; a fault after it lets the device
//! do the work, in the device's time, and then lies about the result: a write that failed so has changed the medium.
//! Which requests fail is a function of the faults, the seed and the order of submission alone.

use super::held::Held;
use crate::{
    Busy, Completion, Contents, Device, DeviceInfo, IoError, IoErrorKind, Op, Request, RequestId,
};
use fathom_base::{Rng, Time};
use std::collections::BTreeMap;

/// Which of the requests that a fault is about fail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum When {
    /// The n-th, counted from one, and no other.
    Nth(u64),
    /// Each with this probability, from 0 to 1.
    Chance(f64),
}

/// Where a request fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// On the way to the device: it never gets there and completes at once.
    Before,
    /// On the way back: it was done.
    After,
}

/// A rule by which requests fail.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The kinds of request that it is about; only these are counted.
    pub ops: Vec<Op>,
    /// Which of them.
    pub when: When,
    /// Where.
    pub stage: Stage,
    /// With which error.
    pub kind: IoErrorKind,
}

/// A device some of whose requests fail.
#[derive(Clone, Debug)]
pub struct Faulty<D> {
    held: Held<D>,
    faults: Vec<(Fault, u64)>,
    seed: u64,
    marked: BTreeMap<RequestId, IoError>,
}

impl<D: Device> Faulty<D> {
    /// Lets requests to `inner` fail; where several faults hit one request, the first of the list decides.
    pub fn new(inner: D, faults: Vec<Fault>, seed: u64) -> Self {
        Self {
            held: Held::new(inner),
            faults: faults.into_iter().map(|fault| (fault, 0)).collect(),
            seed,
            marked: BTreeMap::new(),
        }
    }

    /// The device below.
    pub fn inner(&self) -> &D {
        &self.held.inner
    }

    /// What hits the next request. Changes nothing: the device below may yet be busy.
    fn decide(&self, op: Op) -> Option<(Stage, IoErrorKind)> {
        let hit = |(index, (fault, seen)): &(usize, &(Fault, u64))| match fault.when {
            _ if !fault.ops.contains(&op) => false,
            When::Nth(n) => seen.checked_add(1) == Some(n),
            // One stream for each fault and request, so that a request refused by a busy device draws the same again.
            When::Chance(p) => Rng::new(self.seed ^ ((*index as u64) << 56), *seen).chance(p),
        };
        let (_, (fault, _)) = self.faults.iter().enumerate().find(hit)?;
        Some((fault.stage, fault.kind))
    }

    fn count(&mut self, op: Op) {
        for (_, seen) in self.faults.iter_mut().filter(|(f, _)| f.ops.contains(&op)) {
            *seen += 1;
        }
    }
}

impl<D: Device> Device for Faulty<D> {
    fn info(&self) -> &DeviceInfo {
        self.held.inner.info()
    }

    fn now(&self) -> Time {
        self.held.inner.now()
    }

    fn contents(&mut self, offset: u64, len: u64) -> Result<Contents, IoError> {
        self.held.inner.contents(offset, len)
    }

    fn submit(&mut self, request: Request) -> Result<(), Busy> {
        if self.held.is_full() {
            return Err(Busy(request));
        }
        let op = request.op;
        match self.decide(op) {
            Some((Stage::Before, kind)) => {
                let now = self.now();
                let result = Err(request.error(kind));
                let failed = Completion::of(&request, now..now, result, None);
                self.held.complete(failed);
            }
            Some((Stage::After, kind)) => {
                let (id, error) = (request.id, request.error(kind));
                self.held.submit(request)?;
                self.marked.insert(id, error);
            }
            None => self.held.submit(request)?,
        }
        self.count(op);
        Ok(())
    }

    fn wait(&mut self, until: Time, done: &mut Vec<Completion>) {
        let marked = &mut self.marked;
        self.held.wait(until, done, |completion| {
            if let Some(error) = marked.remove(&completion.id) {
                completion.result = Err(error);
                completion.data = None;
            }
        });
    }
}
