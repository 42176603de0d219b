//! IRBW-FIFO: individual reads and bundled writes, first come, first served.
//!
//! `irbw` 4.2: it bundles "write requests into LBA-bundles" and "retains the ordering of individual read requests and
//! the LBA-bundles"; it "does not provide favor to either read or write requests". So the oldest read or bundle goes
//! next, and a bundle that has begun is written to its end. `bundles.rs` decides what the paper leaves open. Requests
//! that arrive at the same time go in the order in which the scheduler got them.

use super::bundles::Bundles;
use super::irbw::{Irbw, NEEDS, Order};
use crate::scheduler::Policy;
use crate::{Io, Scheduler};
use fathom_base::{About, BadValue, Bytes, Dur, Time, keys};

/// Entry in the list of schedulers.
pub(crate) const ABOUT: About =
    About::new("bundles writes by logical block; reads and bundles go first come, first served")
        .example("irbw-fifo,bundle=1MiB")
        .needs(NEEDS);

keys! {
    /// The size of a bundle: the drive's logical block, from its profile.
    pub struct Tunables {
        /// Size and alignment of a bundle: a multiple of 512 bytes. Required; `irbw` 4.1 measures logical blocks of 4
        /// MiB and 8 MiB on its drives.
        pub bundle: Bytes = Bytes(0),
    }
}

impl Policy for Tunables {
    /// Covers the queue ahead of a request.
    const STARVATION: Dur = Dur::ms(50);

    fn build(&self) -> Result<Box<dyn Scheduler>, BadValue> {
        Ok(Box::new(IrbwFifo::new(self)?))
    }
}

/// The scheduler IRBW-FIFO; see the module.
pub type IrbwFifo = Irbw<FirstCome>;

/// The order of IRBW-FIFO: the oldest read or bundle goes next.
#[derive(Clone, Copy, Debug)]
pub struct FirstCome;

impl IrbwFifo {
    /// Creates an empty scheduler.
    ///
    /// # Errors
    /// [`BadValue`] if the size of a bundle is missing or not a multiple of 512 bytes.
    pub fn new(tunables: &Tunables) -> Result<Self, BadValue> {
        Self::of(tunables.bundle, FirstCome)
    }
}

impl Order for FirstCome {
    fn next(&mut self, held: &mut Bundles, _now: Time) -> Option<Io> {
        let read = held.read_age();
        let bundle = held.bundle_age();
        let read_first = read.is_some_and(|read| bundle.is_none_or(|bundle| read < bundle));
        if read_first && !held.is_writing() {
            held.pop_read()
        } else {
            held.pop_write()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::hand::LEN;
    use super::super::irbw::by_hand::{self, BUNDLE, keys, read, write};
    use super::*;
    use crate::{Bundled, Scheduler};
    use fathom_block::Op;

    fn filled(requests: &[Io]) -> IrbwFifo {
        let bundle = Bytes(BUNDLE);
        by_hand::filled(IrbwFifo::new(&Tunables { bundle }).unwrap(), requests)
    }

    #[test]
    fn four_writes_of_the_paper_go_in_two_bundles() {
        // `irbw` 4.2: w0, w2 and w3 belong to bundle 0 and w1 to bundle 1.
        let mut scheduler = filled(&[
            write(0, 0, 1),
            write(1, BUNDLE, 2),
            write(2, 8192, 3),
            write(3, 4096, 4),
        ]);
        assert_eq!(keys(&mut scheduler, Time(9)), [0, 3, 2, 1]);
    }

    #[test]
    fn a_bundle_is_as_old_as_its_oldest_write_and_nothing_comes_between() {
        let mut scheduler = filled(&[
            read(0, 1 << 20, 1),
            write(1, 4096, 2),
            read(2, 2 << 20, 3),
            write(3, BUNDLE, 4),
            read(4, 3 << 20, 5),
            write(5, 0, 6),
        ]);
        assert_eq!(keys(&mut scheduler, Time(9)), [0, 5, 1, 2, 3, 4]);
    }

    #[test]
    fn what_came_first_goes_first_though_it_was_handed_over_late() {
        let mut scheduler = filled(&[read(0, 0, 5), read(1, 4096, 2), write(2, BUNDLE, 1)]);
        assert_eq!(keys(&mut scheduler, Time(9)), [2, 1, 0]);

        let mut scheduler = filled(&[write(0, 0, 5), read(1, 1 << 20, 3), write(2, 4096, 2)]);
        assert_eq!(keys(&mut scheduler, Time(9)), [0, 2, 1]);
    }

    #[test]
    fn a_bundle_that_has_begun_takes_nothing_more() {
        let mut scheduler = filled(&[write(0, 0, 1), write(1, 8192, 1), read(2, 1 << 20, 2)]);
        assert_eq!(scheduler.dispatch(Time(3)).unwrap().key.0, 0);
        let late = write(3, 4096, 4);
        assert!(!scheduler.may_merge(&write(1, 8192, 1), &late));
        assert!(!scheduler.may_merge(&late, &write(1, 8192, 1)));
        scheduler.insert(Time(4), late);
        assert_eq!(keys(&mut scheduler, Time(5)), [1, 2, 3]);
    }

    #[test]
    fn a_write_ends_with_its_bundle_and_a_read_does_not() {
        let scheduler = filled(&[write(0, BUNDLE - 4096, 1)]);
        assert_eq!(scheduler.room(Op::Write, BUNDLE - 4096), 4096);
        assert_eq!(scheduler.room(Op::Write, BUNDLE), BUNDLE);
        assert_eq!(scheduler.room(Op::Read, BUNDLE - 4096), u64::MAX);
        assert!(!scheduler.may_merge(&write(0, BUNDLE - 4096, 1), &write(1, BUNDLE, 2)));
        assert!(scheduler.may_merge(&write(0, BUNDLE - 4096, 1), &write(1, BUNDLE - 8192, 2)));
        assert!(scheduler.may_merge(&read(0, BUNDLE - 4096, 1), &read(1, BUNDLE, 2)));
    }

    #[test]
    fn a_bundle_loses_the_age_of_a_write_that_is_taken_out() {
        let old = write(0, 0, 1);
        let mut scheduler = filled(&[
            old,
            write(1, 8192, 4),
            write(2, 4096, 6),
            read(3, 1 << 20, 3),
            read(4, 2 << 20, 5),
        ]);
        scheduler.remove(&old);
        assert_eq!(scheduler.len(), 4);
        assert_eq!(keys(&mut scheduler, Time(7)), [3, 2, 1, 4]);
    }

    #[test]
    fn a_write_that_grew_to_the_front_is_sorted_anew_and_older() {
        let before = write(0, 8192, 4);
        let mut scheduler = filled(&[before, write(1, 4096, 5), read(2, 1 << 20, 3)]);
        let grown = Io {
            offset: 0,
            len: 8192,
            queued: Time(2),
            ..before
        };
        scheduler.remove(&write(1, 4096, 5));
        scheduler.changed(Time(6), &before, grown);
        scheduler.insert(Time(6), write(3, 12288, 6));
        assert_eq!(scheduler.dispatch(Time(7)), Some(grown));
        assert_eq!(keys(&mut scheduler, Time(7)), [3, 2]);
    }

    #[test]
    fn a_bundle_is_counted_when_its_last_write_goes() {
        let mut scheduler = filled(&[
            write(0, 0, 1),
            write(1, BUNDLE, 2),
            write(2, 8192, 3),
            write(3, 4096, 4),
            read(4, 4 << 20, 5),
        ]);
        for bundles in [0, 0, 1] {
            scheduler.dispatch(Time(6)).unwrap();
            assert_eq!(scheduler.bundles().unwrap().count, bundles);
        }
        // This write to the first logical block comes too late for its bundle.
        scheduler.insert(Time(7), write(5, 12288, 7));
        assert_eq!(keys(&mut scheduler, Time(8)), [1, 4, 5]);
        let expected = Bundled {
            count: 3,
            writes: 5,
            bytes: 5 * LEN,
            by_writes: [(1, 2), (3, 1)].into(),
            by_bytes: [(LEN, 2), (3 * LEN, 1)].into(),
        };
        assert_eq!(scheduler.bundles(), Some(&expected));
    }

    #[test]
    fn the_size_of_a_bundle_is_asked_for() {
        let error = |bundle| {
            let tunables = Tunables {
                bundle: Bytes(bundle),
            };
            IrbwFifo::new(&tunables).unwrap_err().to_string()
        };
        assert!(error(0).contains("fathom probe --only logical_block"));
        assert!(error(4097).contains("4097B"));
    }
}
