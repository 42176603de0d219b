//! LBA-bundles: the grouping of writes that the two schedulers of `irbw` 4.2 share.
//!
//! `irbw` 4.1: "we can arrange write requests into bundles the size of a logical block so that write requests falling
//! in a logical block belong to the same bundle", "aligned along the logical block boundary", "sort all requests within
//! a bundle and then write them sequentially at once". Reads are not grouped. The age of a bundle is that of its oldest
//! request (4.2).
//!
//! The paper does not say what happens to a write for a bundle that is being written. Here a bundle accepts neither
//! requests nor merges once its first write was dispatched. Otherwise a stream of writes to one place would keep the
//! next bundle from ever beginning, and a late write could lie before data that is already written. A late write begins
//! a new bundle, which is ordered by its own age. The paper does not say either how full a bundle must be: here it goes
//! when its turn comes, with the writes it has.
//!
//! This file does not choose between reads and bundles.

use crate::{Bundled, Io, IoKey};
use fathom_base::Time;
use fathom_block::Op;
use std::collections::{BTreeMap, BTreeSet};

/// The age of a request: its arrival time, and a sequence number for requests that arrive at the same time.
pub(super) type Age = (Time, u64);

/// The held writes of one logical block.
#[derive(Clone, Debug)]
struct Bundle {
    /// The writes by offset. They do not overlap.
    writes: BTreeMap<u64, IoKey>,
    /// The age of the oldest write.
    age: Age,
}

/// A held request and its sequence number.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    io: Option<Io>,
    number: u64,
}

/// The held requests: reads in order of age, and writes in bundles.
#[derive(Clone, Debug)]
pub struct Bundles {
    bundle: u64,
    /// The requests by key.
    slots: Vec<Slot>,
    came: u64,
    held: usize,
    reads: BTreeMap<Age, IoKey>,
    /// Bundles that have not begun, by their place in units of the bundle size, and the same in order of age.
    waiting: BTreeMap<u64, Bundle>,
    order: BTreeSet<(Age, u64)>,
    /// The places of waiting bundles that have yielded. Several are possible, since another bundle may become the
    /// oldest after one has yielded.
    yielded: BTreeSet<u64>,
    /// The bundle that has begun: the writes that are left, its age, and whether it has yielded.
    writing: BTreeMap<u64, IoKey>,
    writing_age: Age,
    writing_yielded: bool,
    /// The writes of that bundle dispatched so far, and their bytes.
    written: (u64, u64),
    done: Bundled,
}

impl Bundles {
    /// Creates an empty set; `bundle` is the size of a bundle in bytes and must not be 0.
    pub(super) fn new(bundle: u64) -> Self {
        Self {
            bundle,
            slots: Vec::new(),
            came: 0,
            held: 0,
            reads: BTreeMap::new(),
            waiting: BTreeMap::new(),
            order: BTreeSet::new(),
            yielded: BTreeSet::new(),
            writing: BTreeMap::new(),
            writing_age: Age::default(),
            writing_yielded: false,
            written: (0, 0),
            done: Bundled::default(),
        }
    }

    /// The size of a bundle, in bytes.
    pub(super) fn bundle(&self) -> u64 {
        self.bundle
    }

    /// The counters of finished bundles.
    pub(super) fn done(&self) -> &Bundled {
        &self.done
    }

    pub(super) fn insert(&mut self, io: Io) {
        let index = io.key.0 as usize;
        if self.slots.len() <= index {
            self.slots.resize(index + 1, Slot::default());
        }
        self.came += 1;
        self.slots[index].number = self.came;
        self.put(io);
    }

    /// Replaces a request that has grown. It is not in the bundle that has begun: [`Bundles::may_merge`] forbids that.
    pub(super) fn changed(&mut self, before: &Io, io: Io) {
        if self.remove(before) {
            self.put(io);
        }
    }

    /// Returns the age of the oldest read.
    pub(super) fn read_age(&self) -> Option<Age> {
        self.reads.first_key_value().map(|(&age, _)| age)
    }

    /// Returns the age of the oldest bundle that has not begun.
    pub(super) fn bundle_age(&self) -> Option<Age> {
        self.order.first().map(|&(age, _)| age)
    }

    /// Returns true if a bundle has begun and is not finished.
    pub(super) fn is_writing(&self) -> bool {
        !self.writing.is_empty()
    }

    /// Returns the age of the current bundle: the one that has begun, or else the oldest.
    pub(super) fn turn_age(&self) -> Option<Age> {
        match self.is_writing() {
            true => Some(self.writing_age),
            false => self.bundle_age(),
        }
    }

    /// Returns whether the current bundle has already yielded, and marks it as having yielded.
    pub(super) fn has_yielded(&mut self) -> bool {
        if self.is_writing() {
            return std::mem::replace(&mut self.writing_yielded, true);
        }
        let first = self.order.first();
        first.is_some_and(|&(_, place)| !self.yielded.insert(place))
    }

    /// Takes out the oldest read.
    pub(super) fn pop_read(&mut self) -> Option<Io> {
        let (_, key) = self.reads.pop_first()?;
        self.let_go(key)
    }

    /// Takes out the next write of the bundle that has begun, or of the oldest bundle, which then begins.
    pub(super) fn pop_write(&mut self) -> Option<Io> {
        if !self.is_writing() {
            let (age, place) = self.order.pop_first()?;
            self.writing = self.waiting.remove(&place)?.writes;
            self.writing_age = age;
            self.writing_yielded = self.yielded.remove(&place);
        }
        let (_, key) = self.writing.pop_first()?;
        let io = self.let_go(key)?;
        self.written = (self.written.0 + 1, self.written.1 + io.len);
        if !self.is_writing() {
            let (writes, bytes) = std::mem::take(&mut self.written);
            self.done.add(writes, bytes);
        }
        Some(io)
    }

    fn let_go(&mut self, key: IoKey) -> Option<Io> {
        self.held -= 1;
        self.slots.get_mut(key.0 as usize)?.io.take()
    }

    pub(super) fn len(&self) -> usize {
        self.held
    }

    /// A write may not cross the end of its bundle.
    pub(super) fn room(&self, op: Op, offset: u64) -> u64 {
        match op {
            Op::Write => self.bundle - offset % self.bundle,
            _ => u64::MAX,
        }
    }

    /// A merged write must lie in one bundle, and not in the one that has begun.
    pub(super) fn may_merge(&self, held: &Io, new: &Io) -> bool {
        if !held.is_write() {
            return true;
        }
        let begun = |io: &Io| self.writing.get(&io.offset) == Some(&io.key);
        self.place(held) == self.place(new) && !begun(held) && !begun(new)
    }

    fn place(&self, io: &Io) -> u64 {
        io.offset / self.bundle
    }

    fn age(&self, io: &Io) -> Age {
        let slot = self.slots.get(io.key.0 as usize);
        (io.queued, slot.map_or(0, |slot| slot.number))
    }

    fn put(&mut self, io: Io) {
        let age = self.age(&io);
        self.slots[io.key.0 as usize].io = Some(io);
        self.held += 1;
        if !io.is_write() {
            self.reads.insert(age, io.key);
            return;
        }
        let place = self.place(&io);
        let bundle = self.waiting.entry(place).or_insert_with(|| {
            self.order.insert((age, place));
            let writes = BTreeMap::new();
            Bundle { writes, age }
        });
        bundle.writes.insert(io.offset, io.key);
        if age < bundle.age {
            self.order.remove(&(bundle.age, place));
            self.order.insert((age, place));
            bundle.age = age;
        }
    }

    /// Removes a request. Returns false if it is not held, or belongs to the bundle that has begun.
    pub(super) fn remove(&mut self, io: &Io) -> bool {
        let age = self.age(io);
        let found = match io.is_write() {
            false => self.reads.remove(&age).is_some(),
            true => self.remove_write(io, age),
        };
        found && self.let_go(io.key).is_some()
    }

    fn remove_write(&mut self, io: &Io, age: Age) -> bool {
        let place = self.place(io);
        let Some(bundle) = self.waiting.get_mut(&place) else {
            return false;
        };
        if bundle.writes.get(&io.offset) != Some(&io.key) {
            return false;
        }
        bundle.writes.remove(&io.offset);
        if age > bundle.age {
            return true;
        }
        // The oldest write was removed, which only a merge does: search the other writes of the bundle for the new
        // oldest.
        self.order.remove(&(age, place));
        let left = bundle.writes.values();
        let slots = left.filter_map(|key| self.slots.get(key.0 as usize));
        let ages = slots.filter_map(|slot| Some((slot.io?.queued, slot.number)));
        match ages.min() {
            Some(next) => {
                bundle.age = next;
                self.order.insert((next, place));
            }
            None => {
                self.waiting.remove(&place);
                self.yielded.remove(&place);
            }
        }
        true
    }
}
