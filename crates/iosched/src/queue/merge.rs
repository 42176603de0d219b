//! Finding what a request can be merged with: by where it ends, and by where it begins.

use crate::{Io, IoKey};
use fathom_block::Op;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// Requests that may grow: those in the plug and those that the scheduler holds. Only ever asked for one place, so that
/// the maps need no order.
#[derive(Clone, Debug, Default)]
pub(super) struct Mergeable {
    by_end: FxHashMap<(Op, u64), IoKey>,
    by_start: FxHashMap<(Op, u64), IoKey>,
}

impl Mergeable {
    /// A request may grow from now on. Reads may lie over one another; the last one is found.
    pub(super) fn insert(&mut self, io: &Io) {
        self.by_end.insert((io.op, io.end()), io.key);
        self.by_start.insert((io.op, io.offset), io.key);
    }

    /// A request does not grow any more.
    pub(super) fn remove(&mut self, io: &Io) {
        for (map, place) in [
            (&mut self.by_end, io.end()),
            (&mut self.by_start, io.offset),
        ] {
            if let Entry::Occupied(entry) = map.entry((io.op, place))
                && *entry.get() == io.key
            {
                entry.remove();
            }
        }
    }

    /// The request that ends where `io` begins.
    pub(super) fn before(&self, io: &Io) -> Option<IoKey> {
        self.by_end.get(&(io.op, io.offset)).copied()
    }

    /// The request that begins where `io` ends.
    pub(super) fn after(&self, io: &Io) -> Option<IoKey> {
        self.by_start.get(&(io.op, io.end())).copied()
    }
}
