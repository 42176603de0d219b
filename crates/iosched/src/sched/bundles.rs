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

use crate::{Bundled, Io, IoKey};
use fathom_base::Time;
use fathom_block::Op;
use std::collections::{BTreeMap, BTreeSet};

/// When a request came, and a number that tells apart what came at one instant, in order.
pub(super) type Age = (Time, u64);

/// Writes of one logical block.
#[derive(Clone, Debug)]
struct Bundle {
    /// By where they begin: they do not overlap.
    writes: BTreeMap<u64, IoKey>,
    /// That of its oldest write.
    age: Age,
}

/// A request that is held, and the number that it got when it came.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    io: Option<Io>,
    number: u64,
}

/// Reads in order of age, and writes in bundles.
#[derive(Clone, Debug)]
pub struct Bundles {
    bundle: u64,
    /// By key.
    slots: Vec<Slot>,
    came: u64,
    held: usize,
    reads: BTreeMap<Age, IoKey>,
    /// Bundles that have not begun, by their place in units of a bundle, and by age.
    waiting: BTreeMap<u64, Bundle>,
    order: BTreeSet<(Age, u64)>,
    /// The places of those of them that have given way: one, or a few where another has become older since.
    yielded: BTreeSet<u64>,
    /// What is left of the bundle that has begun, its age, and whether it has given way.
    writing: BTreeMap<u64, IoKey>,
    writing_age: Age,
    writing_yielded: bool,
    /// Of the bundle that has begun: the writes that have gone, and their bytes.
    written: (u64, u64),
    done: Bundled,
}

impl Bundles {
    /// Nothing is held; the size of a bundle is in bytes, and not 0.
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

    /// The bundles that were written to their end.
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

    /// A request grew. It does not lie in the bundle that has begun, for [`Bundles::may_merge`] forbids that.
    pub(super) fn changed(&mut self, before: &Io, io: Io) {
        if self.remove(before) {
            self.put(io);
        }
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
        !self.writing.is_empty()
    }

    /// The age of the bundle whose turn it is: the one that has begun, or else the oldest.
    pub(super) fn turn_age(&self) -> Option<Age> {
        match self.is_writing() {
            true => Some(self.writing_age),
            false => self.bundle_age(),
        }
    }

    /// Whether the bundle whose turn it is has given way before; if not, it has now.
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

    /// Takes out the next write of the bundle that has begun, or else begins the oldest.
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

    /// Takes out a request; whether there was such a one outside of the bundle that has begun.
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
        // The oldest is gone, which only a merge does: the next one is looked for among the writes of this bundle.
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
