//! PAI, the parameter-aware I/O scheduler: well-split requests at once, the others wait to be merged.
//!
//! `parameter-aware-io` 5.3 and Figure 8b: a normal queue for requests "which are aligned to the clustered page or block
//! size and split by the read or write buffer size", and a pending queue for the others, which "stay in the pending
//! queue for a while, to be merged with other requests". The normal queue goes first; "PAI sets the time bound for
//! dispatching the requests from the pending queue".
//!
//! The paper does not say how long the bound is, nor what a request is that is aligned and shorter than the buffer. Here
//! a request is well split if it begins and ends at a boundary and is no longer than the buffer. What has waited for as
//! long as the bound joins the normal queue at its end, so that neither queue starves the other. A request waits in the
//! pending queue even while the drive is idle, as the paper has it ("PAI may slightly delay issuing requests").

use super::Fifo;
use crate::{BadConfig, Io, Scheduler};
use fathom_base::{Bytes, Dur, Time};
use fathom_block::Op;
use serde::{Deserialize, Serialize};

/// Sizes of the drive, from its profile, and the bound on waiting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tunables {
    /// The drive's read buffer.
    pub read: Bytes,
    /// The drive's write buffer.
    pub write: Bytes,
    /// Where a well-split read begins and ends: a multiple of the clustered page.
    pub read_boundary: Bytes,
    /// Where a well-split write begins and ends: a multiple of the clustered page or block.
    pub write_boundary: Bytes,
    /// The longest that a request waits to be merged; 1 ms: ours, as the paper gives none, and of the order of one program
    /// and its transfer.
    pub bound: Dur,
}

impl Default for Tunables {
    fn default() -> Self {
        Self {
            read: Bytes(0),
            write: Bytes(0),
            read_boundary: Bytes(0),
            write_boundary: Bytes(0),
            bound: Dur::ms(1),
        }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Pai {
    tunables: Tunables,
    normal: Fifo,
    pending: Fifo,
}

impl Pai {
    /// Empty queues.
    ///
    /// # Errors
    /// [`BadConfig`] where a size of the drive is missing.
    pub fn new(tunables: &Tunables) -> Result<Self, BadConfig> {
        let sizes = [
            ("read", tunables.read, "read_buffer"),
            ("write", tunables.write, "write_buffer"),
            ("read_boundary", tunables.read_boundary, "clustered_page"),
            ("write_boundary", tunables.write_boundary, "clustered_page"),
        ];
        for (key, size, parameter) in sizes {
            if size.0 == 0 {
                return Err(BadConfig {
                    part: "pai",
                    key,
                    problem: format!(
                        "is missing; it is the drive's `{parameter}`, which `fathom probe --only {parameter}` measures"
                    ),
                });
            }
        }
        Ok(Self {
            tunables: tunables.clone(),
            normal: Fifo::default(),
            pending: Fifo::default(),
        })
    }

    fn is_well_split(&self, io: &Io) -> bool {
        let (limit, boundary) = match io.op {
            Op::Read => (self.tunables.read.0, self.tunables.read_boundary.0),
            _ => (self.tunables.write.0, self.tunables.write_boundary.0),
        };
        let aligned = io.offset.is_multiple_of(boundary) && io.end().is_multiple_of(boundary);
        aligned && io.len <= limit
    }

    fn due(&self, io: &Io) -> Time {
        io.queued + self.tunables.bound
    }
}

impl Scheduler for Pai {
    fn insert(&mut self, _now: Time, io: Io) {
        if self.is_well_split(&io) {
            self.normal.push(io);
        } else {
            self.pending.push(io);
        }
    }

    fn changed(&mut self, _now: Time, before: &Io, io: Io) {
        if let Some(held) = self.normal.get_mut(before.key) {
            *held = io;
        } else if self.is_well_split(&io) {
            self.pending.take(before.key);
            self.normal.push(io);
        } else if let Some(held) = self.pending.get_mut(before.key) {
            *held = io;
        }
    }

    fn remove(&mut self, io: &Io) {
        if self.normal.take(io.key).is_none() {
            self.pending.take(io.key);
        }
    }

    fn dispatch(&mut self, now: Time) -> Option<Io> {
        while self.pending.first().is_some_and(|io| self.due(io) <= now) {
            // Behind those that wait already: ahead of them, a stream of such requests would keep them back for ever.
            let Some(overdue) = self.pending.pop() else {
                break;
            };
            self.normal.push(overdue);
        }
        self.normal.pop()
    }

    fn next_timer(&self) -> Option<Time> {
        self.pending.first().map(|io| self.due(io))
    }

    fn len(&self) -> usize {
        self.normal.len() + self.pending.len()
    }
}
