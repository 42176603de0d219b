//! LBA-bundles: what the two schedulers of `irbw` 4.2 have in common.
//!
//! `irbw` 4.1: "we can arrange write requests into bundles the size of a logical block so that write requests falling in
//! a logical block belong to the same bundle", "aligned along the logical block boundary", "sort all requests within a
//! bundle and then write them sequentially at once". Reads stay as they come. The age of a bundle is that of its oldest
//! request (4.2).
//!
//! The paper does not say what becomes of a write for a bundle that is being written. Here a bundle takes nothing more
//! once its first write has gone, neither a request nor a merge: else a stream of writes to one place would never let the
//! next bundle begin, and what comes late may lie before what is written already. A late write begins a new bundle,
//! which takes its place by its own age. Nor does the paper say how full a bundle must be: it goes when its turn comes,
//! with what it has got.
//!
//! Nothing here decides between reads and bundles.

use crate::{BadConfig, Io};
use fathom_base::{Bytes, SECTOR_BYTES, Time};
use fathom_block::Op;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The drive's logical block, from its profile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tunables {
    /// The size of a bundle, which begins at a multiple of it: a multiple of 512 bytes. It has no default; `irbw` 4.1
    /// measures 4 MiB and 8 MiB on its drives.
    pub bundle: Bytes,
}

/// When a request came, and a number that tells apart what came at one instant, in order.
pub(super) type Age = (Time, u64);

/// Writes of one logical block.
#[derive(Clone, Debug, Default)]
struct Bundle {
    /// By where they begin: they do not overlap.
    writes: BTreeMap<u64, Io>,
    ages: BTreeSet<Age>,
    yielded: bool,
}

/// Reads in order of age, and writes in bundles.
#[derive(Clone, Debug)]
pub(super) struct Bundles {
    bundle: u64,
    reads: BTreeMap<Age, Io>,
    /// Bundles that have not begun, by their place in units of a bundle.
    waiting: BTreeMap<u64, Bundle>,
    /// Those by age.
    order: BTreeSet<(Age, u64)>,
    /// What is left of the bundle that has begun.
    writing: Bundle,
    /// The number that a request got when it came, by its key.
    numbers: Vec<u64>,
    came: u64,
    writes: usize,
}

impl Bundles {
    pub(super) fn new(scheduler: &'static str, tunables: &Tunables) -> Result<Self, BadConfig> {
        let bundle = tunables.bundle.0;
        let problem = if bundle == 0 {
            "is missing; it is the drive's `logical_block`, which `fathom probe --only logical_block` measures"
                .to_owned()
        } else if !bundle.is_multiple_of(SECTOR_BYTES) {
            format!("is {bundle} bytes; it must be a multiple of {SECTOR_BYTES} bytes")
        } else {
            return Ok(Self {
                bundle,
                reads: BTreeMap::new(),
                waiting: BTreeMap::new(),
                order: BTreeSet::new(),
                writing: Bundle::default(),
                numbers: Vec::new(),
                came: 0,
                writes: 0,
            });
        };
        Err(BadConfig {
            scheduler,
            key: "bundle",
            problem,
        })
    }

    pub(super) fn insert(&mut self, io: Io) {
        let index = io.key.0 as usize;
        if self.numbers.len() <= index {
            self.numbers.resize(index + 1, 0);
        }
        self.came += 1;
        self.numbers[index] = self.came;
        self.put(io);
    }

    /// A request grew. It does not lie in the bundle that has begun, for [`Bundles::may_merge`] forbids that.
    pub(super) fn changed(&mut self, before: &Io, io: Io) {
        if self.take(before) {
            self.put(io);
        }
    }

    pub(super) fn remove(&mut self, io: &Io) {
        self.take(io);
    }

    /// The age of the oldest read.
    pub(super) fn read_age(&self) -> Option<Age> {
        self.reads.first_key_value().map(|(&age, _)| age)
    }

    /// The age of the oldest bundle that has not begun.
    pub(super) fn bundle_age(&self) -> Option<Age> {
        self.order.first().map(|&(age, _)| age)
    }

    /// Whether a bundle has begun and is not at its end.
    pub(super) fn is_writing(&self) -> bool {
        !self.writing.writes.is_empty()
    }

    /// The age of the bundle whose turn it is: the one that has begun, or else the oldest.
    pub(super) fn turn_age(&self) -> Option<Age> {
        match self.writing.ages.first() {
            Some(&age) if self.is_writing() => Some(age),
            _ => self.bundle_age(),
        }
    }

    /// Whether the bundle whose turn it is has given way before; if not, it has now.
    pub(super) fn has_yielded(&mut self) -> bool {
        let next = if self.is_writing() {
            Some(&mut self.writing)
        } else {
            let first = self.order.first().map(|&(_, place)| place);
            first.and_then(|place| self.waiting.get_mut(&place))
        };
        next.is_some_and(|bundle| std::mem::replace(&mut bundle.yielded, true))
    }

    /// Takes out the oldest read.
    pub(super) fn pop_read(&mut self) -> Option<Io> {
        self.reads.pop_first().map(|(_, io)| io)
    }

    /// Takes out the next write of the bundle that has begun, or else begins the oldest.
    pub(super) fn pop_write(&mut self) -> Option<Io> {
        if !self.is_writing() {
            let (_, place) = self.order.pop_first()?;
            self.writing = self.waiting.remove(&place)?;
        }
        let (_, io) = self.writing.writes.pop_first()?;
        self.writes -= 1;
        Some(io)
    }

    pub(super) fn len(&self) -> usize {
        self.reads.len() + self.writes
    }

    /// A write ends where its bundle does.
    pub(super) fn room(&self, op: Op, offset: u64) -> u64 {
        match op {
            Op::Write => self.bundle - offset % self.bundle,
            _ => u64::MAX,
        }
    }

    /// A merged write lies in one bundle, and not in the one that has begun.
    pub(super) fn may_merge(&self, held: &Io, new: &Io) -> bool {
        if !held.is_write() {
            return true;
        }
        let begun = |io: &Io| {
            let same = self.writing.writes.get(&io.offset);
            same.is_some_and(|write| write.key == io.key)
        };
        self.place(held) == self.place(new) && !begun(held) && !begun(new)
    }

    fn place(&self, io: &Io) -> u64 {
        io.offset / self.bundle
    }

    fn age(&self, io: &Io) -> Age {
        let number = self.numbers.get(io.key.0 as usize);
        (io.queued, number.copied().unwrap_or_default())
    }

    fn put(&mut self, io: Io) {
        let age = self.age(&io);
        if !io.is_write() {
            self.reads.insert(age, io);
            return;
        }
        let place = self.place(&io);
        let bundle = self.waiting.entry(place).or_default();
        let oldest = bundle.ages.first().copied();
        if oldest.is_none_or(|oldest| age < oldest) {
            if let Some(oldest) = oldest {
                self.order.remove(&(oldest, place));
            }
            self.order.insert((age, place));
        }
        bundle.ages.insert(age);
        bundle.writes.insert(io.offset, io);
        self.writes += 1;
    }

    /// Whether there was such a request, outside of the bundle that has begun.
    fn take(&mut self, io: &Io) -> bool {
        let age = self.age(io);
        if !io.is_write() {
            return self.reads.remove(&age).is_some();
        }
        let place = self.place(io);
        let Some(bundle) = self.waiting.get_mut(&place) else {
            return false;
        };
        if !bundle.ages.remove(&age) {
            return false;
        }
        bundle.writes.remove(&io.offset);
        self.writes -= 1;
        let next = bundle.ages.first().copied();
        if next.is_none_or(|next| age < next) {
            self.order.remove(&(age, place));
            match next {
                Some(next) => drop(self.order.insert((next, place))),
                None => drop(self.waiting.remove(&place)),
            }
        }
        true
    }
}

/// Requests by hand, with the time at which they came in nanoseconds.
#[cfg(test)]
pub(super) mod by_hand {
    use super::super::hand;
    use crate::{Io, Scheduler};
    use fathom_base::Time;

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
}
