//! Single requests with their own times: a closed loop of a given depth, or requests that are due at given times.

use super::limits::Along;
use super::transfer::{PATIENCE, longest, split};
use fathom_base::{Dur, Time};
use fathom_block::{Busy, Completion, Device, IoError, IoErrorKind, Op, Request, Tag};
use std::collections::BTreeMap;
use std::ops::Range;

/// A request to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The operation.
    pub op: Op,
    /// The offset, in bytes.
    pub offset: u64,
    /// The length, in bytes. One that is longer than the drive's longest request becomes several, submitted together.
    pub len: u64,
    /// The time after the beginning of the loop at which it is due; `None`: as soon as there is room.
    pub due: Option<Dur>,
}

impl Ask {
    /// A read, as soon as there is room.
    pub const fn read(offset: u64, len: u64) -> Self {
        Self {
            op: Op::Read,
            offset,
            len,
            due: None,
        }
    }

    /// A write, as soon as there is room.
    pub const fn write(offset: u64, len: u64) -> Self {
        Self {
            op: Op::Write,
            ..Self::read(offset, len)
        }
    }

    /// The same request, due at a time after the beginning of the loop.
    #[must_use]
    pub const fn at(self, due: Dur) -> Self {
        Self {
            due: Some(due),
            ..self
        }
    }
}

/// A request that was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// What was asked.
    pub ask: Ask,
    /// When it was due, or submitted if it had no time of its own: a request that found no room in time has waited since.
    pub from: Time,
    /// When it was complete.
    pub to: Time,
}

impl Served {
    /// Returns the time from when it was due to its completion.
    pub fn took(&self) -> Dur {
        self.to.since(self.from)
    }
}

/// What is known before a request is submitted.
pub(super) struct Before<'a> {
    /// The number of the request.
    pub(super) number: usize,
    /// The requests that are complete, by their number.
    pub(super) ended: &'a [Option<Served>],
    pub(super) now: Time,
    pub(super) along: Along,
}

/// What a request is a part of: the number of what was asked, and when that was submitted or due.
#[derive(Clone, Copy, Debug)]
struct Part {
    number: usize,
    from: Time,
}

/// The state of a loop.
pub(super) struct Serving<'a> {
    device: &'a mut dyn Device,
    ids: &'a mut Range<u64>,
    tag: Tag,
    depth: usize,
    began: Time,
    /// The requests in flight.
    open: BTreeMap<u64, Part>,
    /// What has been asked and is not complete.
    in_flight: usize,
    /// The requests that are not complete, of each that was asked.
    left: Vec<u64>,
    ended: Vec<Option<Served>>,
    failed: Option<IoError>,
    done: Vec<Completion>,
}

impl<'a> Serving<'a> {
    pub(super) fn new(
        device: &'a mut dyn Device,
        ids: &'a mut Range<u64>,
        tag: Tag,
        depth: u32,
    ) -> Self {
        Self {
            began: device.now(),
            device,
            ids,
            tag,
            depth: depth.max(1) as usize,
            open: BTreeMap::new(),
            in_flight: 0,
            left: Vec::new(),
            ended: Vec::new(),
            failed: None,
            done: Vec::new(),
        }
    }

    /// Serves the requests in the order given, each if the state before it allows. After a failure, or one that is not allowed,
    /// it submits no more and waits for those in flight. Returns those that were served, in the order given, and the number
    /// submitted.
    pub(super) fn run_while(
        mut self,
        asks: &[Ask],
        goes_on: impl Fn(&Before<'_>) -> bool,
    ) -> (Vec<Served>, u64, Result<(), IoError>) {
        self.ended = vec![None; asks.len()];
        self.left = vec![0; asks.len()];
        let mut submitted = 0;
        for (number, ask) in asks.iter().enumerate() {
            self.make_room(asks, ask);
            let now = self.device.now();
            let open = self.in_flight as u64;
            let along = Along {
                began: self.began,
                now,
                done: (number as u64).saturating_sub(open),
                open,
            };
            let before = Before {
                number,
                ended: &self.ended,
                now,
                along,
            };
            if self.failed.is_some() || !goes_on(&before) {
                break;
            }
            submitted += self.submit(asks, number, ask);
        }
        while !self.open.is_empty() {
            self.collect(asks, Time::MAX);
        }
        let served = self.ended.into_iter().flatten().collect();
        (served, submitted, self.failed.map_or(Ok(()), Err))
    }

    /// Waits until the request is due and there is room for it.
    fn make_room(&mut self, asks: &[Ask], ask: &Ask) {
        let due = self.began + ask.due.unwrap_or_default();
        while self.failed.is_none() {
            if self.in_flight >= self.depth {
                self.collect(asks, Time::MAX);
            } else if self.device.now() < due {
                self.collect(asks, due);
            } else {
                return;
            }
        }
    }

    /// Submits the requests of what is asked, and returns their number.
    fn submit(&mut self, asks: &[Ask], number: usize, ask: &Ask) -> u64 {
        let longest = longest(self.device.info(), ask.op);
        self.left[number] = ask.len.div_ceil(longest).max(1);
        self.in_flight += 1;
        let now = self.device.now();
        let due = ask.due.map(|due| self.began + due);
        let from = due.map_or(now, |due| due.min(now));
        let mut submitted = 0;
        for (offset, len) in split((ask.offset, ask.len), longest) {
            let id = self.ids.next().unwrap_or_default();
            let mut request = Request::new(id, ask.op, offset, len);
            request.tag = self.tag;
            if !self.submit_one(asks, request, Part { number, from }) {
                break;
            }
            submitted += 1;
        }
        submitted
    }

    fn submit_one(&mut self, asks: &[Ask], request: Request, part: Part) -> bool {
        let (id, mut request) = (request.id.0, request);
        for _ in 0..PATIENCE {
            match self.device.submit(request) {
                Ok(()) => {
                    self.open.insert(id, part);
                    return true;
                }
                Err(Busy(back)) => request = back,
            }
            let soon = self.device.now() + Dur::ms(1);
            let until = if self.open.is_empty() {
                soon
            } else {
                Time::MAX
            };
            self.collect(asks, until);
            if self.failed.is_some() {
                return false;
            }
        }
        self.fail(&asks[part.number]);
        false
    }

    fn collect(&mut self, asks: &[Ask], until: Time) {
        self.device.wait(until, &mut self.done);
        if self.done.is_empty() && until == Time::MAX && !self.open.is_empty() {
            // The contract of `Device` promises a completion. A device that breaks it has lost the requests.
            let lost = self.open.values().next().map_or(0, |part| part.number);
            self.open.clear();
            self.fail(&asks[lost]);
        }
        for completion in self.done.drain(..) {
            let Some(Part { number, from }) = self.open.remove(&completion.id.0) else {
                continue;
            };
            if let Err(error) = completion.result {
                self.failed.get_or_insert(error);
            }
            self.left[number] -= 1;
            if self.left[number] == 0 {
                self.in_flight -= 1;
                self.ended[number] = Some(Served {
                    ask: asks[number],
                    from,
                    to: completion.completed,
                });
            }
        }
    }

    fn fail(&mut self, ask: &Ask) {
        self.failed.get_or_insert(IoError {
            kind: IoErrorKind::Gone,
            op: ask.op,
            offset: ask.offset,
            len: ask.len,
        });
    }
}
