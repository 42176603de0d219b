//! The common part of the two schedulers of `irbw` 4.2: both hold reads and LBA-bundles of writes, and differ in the
//! order in which they dispatch them.
//!
//! The file `bundles.rs` gathers writes into bundles and says how it fills the gaps that the paper leaves there. An
//! [`Order`] chooses between reads and bundles.

use super::bundles::Bundles;
use crate::scheduler::given;
use crate::{Bundled, Io, Scheduler};
use fathom_base::{BadValue, Bytes, SECTOR_BYTES, Time, want};
use fathom_block::Op;

/// The keys that are sizes of the drive, each with its name in a profile.
pub(super) const NEEDS: &[(&str, &str)] = &[("bundle", "logical_block")];

/// The order of dispatch, in which these schedulers differ.
pub trait Order: std::fmt::Debug {
    /// Takes out the next request. `None` only if no request is held.
    fn next(&mut self, held: &mut Bundles, now: Time) -> Option<Io>;
}

/// A scheduler of reads and bundles of writes.
#[derive(Clone, Debug)]
pub struct Irbw<O> {
    held: Bundles,
    order: O,
}

impl<O: Order> Irbw<O> {
    /// Creates an empty scheduler. A bundle has `bundle` bytes and begins at a multiple of that.
    ///
    /// # Errors
    /// [`BadValue`] if the size is 0 or not a multiple of 512 bytes.
    pub(super) fn of(Bytes(bundle): Bytes, order: O) -> Result<Self, BadValue> {
        for (key, parameter) in NEEDS {
            given(Bytes(bundle), key, parameter)?;
        }
        Self::multiple(bundle, SECTOR_BYTES, "")?;
        Ok(Self {
            held: Bundles::new(bundle),
            order,
        })
    }

    /// Checks that a bundle consists of whole blocks; `whose` describes the block in the error.
    fn multiple(bundle: u64, block: u64, whose: &str) -> Result<(), BadValue> {
        let why = || format!("it must be a multiple of {whose}{block} bytes");
        want(bundle.is_multiple_of(block), "bundle", Bytes(bundle), why)
    }
}

impl<O: Order> Scheduler for Irbw<O> {
    fn insert(&mut self, _now: Time, io: Io) {
        self.held.insert(io);
    }

    fn changed(&mut self, _now: Time, before: &Io, io: Io) {
        self.held.changed(before, io);
    }

    fn remove(&mut self, io: &Io) {
        self.held.remove(io);
    }

    fn dispatch(&mut self, now: Time) -> Option<Io> {
        self.order.next(&mut self.held, now)
    }

    fn len(&self) -> usize {
        self.held.len()
    }

    fn check(&self, logical_block: u64) -> Result<(), BadValue> {
        Self::multiple(
            self.held.bundle(),
            logical_block,
            "the drive's logical block of ",
        )
    }

    fn room(&self, op: Op, offset: u64) -> u64 {
        self.held.room(op, offset)
    }

    fn may_merge(&self, held: &Io, new: &Io) -> bool {
        self.held.may_merge(held, new)
    }

    fn bundles(&self) -> Option<&Bundled> {
        Some(self.held.done())
    }
}

/// Requests made by hand for tests, with their arrival times in nanoseconds.
#[cfg(test)]
pub(super) mod by_hand {
    use super::super::hand;
    use crate::{Io, Scheduler};
    use fathom_base::Time;

    /// The size of a bundle, in bytes.
    pub(in super::super) const BUNDLE: u64 = 64 << 10;

    pub(in super::super) fn read(key: u32, offset: u64, at: u64) -> Io {
        Io {
            queued: Time(at),
            ..hand::read(key, offset)
        }
    }

    pub(in super::super) fn write(key: u32, offset: u64, at: u64) -> Io {
        Io {
            queued: Time(at),
            ..hand::write(key, offset)
        }
    }

    pub(in super::super) fn keys(scheduler: &mut dyn Scheduler, now: Time) -> Vec<u32> {
        hand::next(scheduler, now, usize::MAX)
    }

    /// Returns the scheduler holding these requests.
    pub(in super::super) fn filled<S: Scheduler>(mut scheduler: S, requests: &[Io]) -> S {
        for io in requests {
            scheduler.insert(io.queued, *io);
        }
        scheduler
    }
}
