//! PAI, the parameter-aware I/O scheduler: dispatches well-split requests at once and holds the others back for
//! merging.
//!
//! `parameter-aware-io` 5.3 and Figure 8b: a normal queue for requests "which are aligned to the clustered page or
//! block size and split by the read or write buffer size", and a pending queue for the others, which "stay in the
//! pending queue for a while, to be merged with other requests". The normal queue goes first; "PAI sets the time bound
//! for dispatching the requests from the pending queue".
//!
//! The paper does not give the bound, nor does it say how to treat an aligned request that is shorter than the buffer.
//! Here a request is well split if it begins and ends at a boundary and is no longer than the buffer. A pending request
//! that has waited for the bound no longer yields to the normal queue: the older of the two first requests goes. So
//! neither queue starves the other, and requests that belong together stay together where all wait for longer than the
//! bound anyway. A request waits in the pending queue even while the drive is idle, as in the paper ("PAI may slightly
//! delay issuing requests").

use crate::scheduler::{Policy, given};
use crate::{Io, Scheduler};
use fathom_base::{About, BadValue, Bytes, Dur, Time, keys};
use fathom_block::Op;
use std::collections::BTreeMap;

const NEEDS: &[(&str, &str)] = &[
    ("read", "read_buffer"),
    ("write", "write_buffer"),
    ("read_boundary", "clustered_page"),
    ("write_boundary", "clustered_page"),
];

/// Entry in the list of schedulers.
pub(crate) const ABOUT: About =
    About::new("well-split requests first; the others wait briefly for a merge")
        .example("pai,read=256KiB,write=256KiB,read_boundary=16KiB,write_boundary=16KiB")
        .needs(NEEDS);

keys! {
    /// The sizes of the drive, from its profile, and the bound on waiting.
    pub struct Tunables {
        /// Size of the drive's read buffer.
        pub read: Bytes = Bytes(0),
        /// Size of the drive's write buffer.
        pub write: Bytes = Bytes(0),
        /// Alignment of the start and end of a well-split read: a multiple of the clustered page.
        pub read_boundary: Bytes = Bytes(0),
        /// Alignment of the start and end of a well-split write: a multiple of the clustered page or block.
        pub write_boundary: Bytes = Bytes(0),
        /// Maximum time that a request waits to be merged. The paper gives none; this default is of the order of one
        /// program operation and its transfer.
        pub bound: Dur = Dur::ms(1),
    }
}

impl Policy for Tunables {
    /// Covers the queue ahead of a request.
    const STARVATION: Dur = Dur::ms(50);

    fn build(&self) -> Result<Box<dyn Scheduler>, BadValue> {
        Ok(Box::new(Pai::new(self)?))
    }
}

/// The scheduler PAI; see the module.
#[derive(Clone, Debug)]
pub struct Pai {
    tunables: Tunables,
    /// Both queues are ordered by arrival.
    normal: BTreeMap<u64, Io>,
    pending: BTreeMap<u64, Io>,
    /// The sequence number of each request, by key.
    came: Vec<u64>,
    next: u64,
}

impl Pai {
    /// Creates an empty scheduler.
    ///
    /// # Errors
    /// [`BadValue`] if a size of the drive is missing.
    pub fn new(tunables: &Tunables) -> Result<Self, BadValue> {
        let sizes = [
            tunables.read,
            tunables.write,
            tunables.read_boundary,
            tunables.write_boundary,
        ];
        for (size, (key, parameter)) in sizes.into_iter().zip(NEEDS) {
            given(size, key, parameter)?;
        }
        Ok(Self {
            tunables: tunables.clone(),
            normal: BTreeMap::new(),
            pending: BTreeMap::new(),
            came: Vec::new(),
            next: 0,
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

    fn put(&mut self, came: u64, io: Io) {
        let queue = match self.is_well_split(&io) {
            true => &mut self.normal,
            false => &mut self.pending,
        };
        queue.insert(came, io);
    }

    fn due(&self, io: &Io) -> Time {
        io.queued + self.tunables.bound
    }
}

impl Scheduler for Pai {
    fn insert(&mut self, _now: Time, io: Io) {
        let index = io.key.0 as usize;
        if self.came.len() <= index {
            self.came.resize(index + 1, 0);
        }
        self.came[index] = self.next;
        self.put(self.next, io);
        self.next += 1;
    }

    fn changed(&mut self, _now: Time, before: &Io, io: Io) {
        let came = self.came[before.key.0 as usize];
        // A request in the normal queue stays there.
        if let Some(held) = self.normal.get_mut(&came) {
            *held = io;
        } else if self.pending.remove(&came).is_some() {
            self.put(came, io);
        }
    }

    fn remove(&mut self, io: &Io) {
        let came = self.came[io.key.0 as usize];
        if self.normal.remove(&came).is_none() {
            self.pending.remove(&came);
        }
    }

    fn dispatch(&mut self, now: Time) -> Option<Io> {
        let overdue = self
            .pending
            .first_key_value()
            .filter(|(_, io)| self.due(io) <= now);
        let pending_first = match (overdue, self.normal.first_key_value()) {
            (Some((overdue, _)), Some((normal, _))) => overdue < normal,
            (overdue, _) => overdue.is_some(),
        };
        let from = match pending_first {
            true => &mut self.pending,
            false => &mut self.normal,
        };
        from.pop_first().map(|(_, io)| io)
    }

    fn next_timer(&self) -> Option<Time> {
        self.pending.first_key_value().map(|(_, io)| self.due(io))
    }

    fn len(&self) -> usize {
        self.normal.len() + self.pending.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IoKey;

    fn pai() -> Pai {
        let tunables = Tunables {
            read: Bytes::kib(64),
            write: Bytes::kib(64),
            read_boundary: Bytes::kib(16),
            write_boundary: Bytes::kib(16),
            ..Tunables::default()
        };
        Pai::new(&tunables).unwrap()
    }

    fn write(key: u32, kib: u64, len_kib: u64, at: Time) -> Io {
        Io {
            key: IoKey(key),
            op: Op::Write,
            offset: kib << 10,
            len: len_kib << 10,
            process: 0,
            class: crate::Class::default(),
            priority: 4,
            sync: false,
            fua: false,
            placement: 0,
            queued: at,
        }
    }

    fn keys(pai: &mut Pai, now: Time) -> Vec<u32> {
        std::iter::from_fn(|| pai.dispatch(now))
            .map(|io| io.key.0)
            .collect()
    }

    #[test]
    fn what_is_badly_split_waits_behind_what_is_not_and_no_longer_than_the_bound() {
        let mut pai = pai();
        let start = Time::ZERO;
        for (key, at, len) in [(0, 4, 12), (1, 16, 64), (2, 80, 128), (3, 256, 16)] {
            pai.insert(start, write(key, at, len, start));
        }
        assert_eq!(keys(&mut pai, start), [1, 3]);
        let due = start + Dur::ms(1);
        assert_eq!(pai.next_timer(), Some(due));
        // Once its bound is over it goes by age: ahead of later requests, behind earlier ones.
        pai.insert(due, write(4, 512, 16, due));
        assert_eq!(keys(&mut pai, due), [0, 2, 4]);
    }

    #[test]
    fn where_all_wait_for_longer_than_the_bound_the_order_is_that_of_arrival() {
        let mut pai = pai();
        for key in 0..8 {
            // Every second request is badly split.
            pai.insert(
                Time::ZERO,
                write(
                    key,
                    64 * u64::from(key) + u64::from(key % 2) * 4,
                    16,
                    Time::ZERO,
                ),
            );
        }
        assert_eq!(
            keys(&mut pai, Time::ZERO + Dur::ms(1)),
            [0, 1, 2, 3, 4, 5, 6, 7]
        );
    }

    #[test]
    fn what_is_merged_into_a_well_split_request_waits_no_more() {
        let mut pai = pai();
        let start = Time::ZERO;
        let half = write(0, 0, 8, start);
        pai.insert(start, half);
        assert_eq!(keys(&mut pai, start), []);
        pai.changed(start, &half, write(0, 0, 16, start));
        assert_eq!(keys(&mut pai, start), [0]);
    }
}
