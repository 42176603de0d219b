//! An index of the requests that can be merged with, by their end and by their start.

use crate::{Io, IoKey};
use fathom_block::Op;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// The requests held by the scheduler that may still grow. Only single offsets are looked up, so hash maps suffice.
#[derive(Clone, Debug, Default)]
pub(super) struct Mergeable {
    by_end: FxHashMap<(Op, u64), IoKey>,
    by_start: FxHashMap<(Op, u64), IoKey>,
}

impl Mergeable {
    /// Adds a request. Several reads may have the same start or end; the one added last is found.
    pub(super) fn insert(&mut self, io: &Io) {
        self.by_end.insert((io.op, io.end()), io.key);
        self.by_start.insert((io.op, io.offset), io.key);
    }

    /// Removes a request.
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
