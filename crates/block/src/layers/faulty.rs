//! Error injection: makes chosen requests fail, to test the code above a device.
//!
//! A fault before the device fails the request at once, and the device never receives it. A fault after the device lets
//! the device execute the request in its own time, and then reports an error: a failed write has then changed the medium.
//! Which requests fail depends only on the faults, the seed and the order of submission.

use super::held::Held;
use crate::{
    Busy, Completion, Contents, Device, DeviceInfo, DriveLog, IoError, IoErrorKind, Op, Request,
    RequestId, Zone,
};
use fathom_base::{Dur, Rng, Time};
use std::collections::BTreeMap;

/// Selects which of the matching requests fail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum When {
    /// Only the n-th, counted from one.
    Nth(u64),
    /// Each with this probability, from 0 to 1.
    Chance(f64),
}

/// The stage at which a request fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Before the device: it never receives the request, which completes at once.
    Before,
    /// After the device: the request was executed.
    After,
}

/// A rule that selects failing requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The matching operations; only these are counted.
    pub ops: Vec<Op>,
    /// Which of them fail.
    pub when: When,
    /// The stage of the failure.
    pub stage: Stage,
    /// The error.
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
    /// Adds faults to `inner`. If several faults match one request, the first in the list applies.
    pub fn new(inner: D, faults: Vec<Fault>, seed: u64) -> Self {
        Self {
            held: Held::new(inner),
            faults: faults.into_iter().map(|fault| (fault, 0)).collect(),
            seed,
            marked: BTreeMap::new(),
        }
    }

    /// Returns the inner device.
    pub fn inner(&self) -> &D {
        &self.held.inner
    }

    /// Returns the fault of the next request. Changes no state, because the inner device may be busy.
    fn decide(&self, op: Op) -> Option<(Stage, IoErrorKind)> {
        let hit = |(index, (fault, seen)): &(usize, &(Fault, u64))| match fault.when {
            _ if !fault.ops.contains(&op) => false,
            When::Nth(n) => seen.checked_add(1) == Some(n),
            // One random stream per fault and request, so that a request refused by a busy device draws the same number
            // again.
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

    fn log(&mut self) -> Option<DriveLog> {
        self.held.inner.log()
    }

    fn zones(&mut self, from: u64, count: usize) -> Vec<Zone> {
        self.held.inner.zones(from, count)
    }

    fn host_time(&self) -> Option<Dur> {
        self.held.inner.host_time()
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
