//! The schedulers of `irbw` 4.2: reads and LBA-bundles of writes are held in one way, and what goes next is each one's own.
//!
//! How writes are gathered into bundles, and what the paper leaves open there, is in `bundles.rs`. Nothing here decides
//! between reads and bundles: an [`Order`] does.

use super::bundles::Bundles;
use crate::{BadConfig, Bundled, Io, Scheduler};
use fathom_base::{Bytes, SECTOR_BYTES, Time};
use fathom_block::Op;

/// What sets one of these schedulers apart from another.
pub trait Order: std::fmt::Debug {
    /// The scheduler's name in the list.
    const NAME: &'static str;

    /// Takes out what goes next; `None` only where nothing is held.
    fn next(&mut self, held: &mut Bundles, now: Time) -> Option<Io>;
}

/// A scheduler of reads and bundles.
#[derive(Clone, Debug)]
pub struct Irbw<O> {
    held: Bundles,
    order: O,
}

impl<O: Order> Irbw<O> {
    /// Nothing is held; a bundle is that large, and begins at a multiple of it.
    ///
    /// # Errors
    /// [`BadConfig`] where the size is 0 or no multiple of 512 bytes.
    pub(super) fn of(Bytes(bundle): Bytes, order: O) -> Result<Self, BadConfig> {
        if bundle == 0 {
            return Self::bad(
                "is missing; it is the drive's `logical_block`, which `fathom probe --only logical_block` measures"
                    .into(),
            );
        }
        if !bundle.is_multiple_of(SECTOR_BYTES) {
            return Self::bad(format!(
                "is {bundle} bytes; it must be a multiple of {SECTOR_BYTES} bytes"
            ));
        }
        Ok(Self {
            held: Bundles::new(bundle),
            order,
        })
    }

    fn bad<T>(problem: String) -> Result<T, BadConfig> {
        Err(BadConfig {
            part: O::NAME,
            key: "bundle",
            problem,
        })
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

    fn check(&self, logical_block: u64) -> Result<(), BadConfig> {
        let bundle = self.held.bundle();
        if bundle.is_multiple_of(logical_block) {
            return Ok(());
        }
        Self::bad(format!(
            "is {}, and must be a multiple of the drive's logical block of {logical_block} bytes",
            Bytes(bundle)
        ))
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

/// Requests by hand, with the time at which they came in nanoseconds.
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

    /// A scheduler that holds these.
    pub(in super::super) fn filled<S: Scheduler>(mut scheduler: S, requests: &[Io]) -> S {
        for io in requests {
            scheduler.insert(io.queued, *io);
        }
        scheduler
    }
}
