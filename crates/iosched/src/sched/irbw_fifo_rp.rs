//! IRBW-FIFO-RP: individual reads and bundled writes, each first come, first served, and reads before bundles.
//!
//! `irbw` 4.2: it "maintains separate orderings of read requests and the LBA-bundles but gives favor to the read
//! requests". "To avoid write starvation, in our implementation, we allow each LBA-bundle to yield to a read request only
//! once."
//!
//! What that means is decided as follows, where the paper does not say:
//! - A bundle yields when a read goes first that came later. A read that came before the bundle's oldest write goes first
//!   in any case and counts for nothing: it takes no turn from the bundle.
//! - The bundle whose turn it is yields, and to one read, however many wait: "a read request only once". If all that wait
//!   could pass, a steady stream of reads would starve the bundle, which the rule is there to prevent. Bundles behind it
//!   have lost no turn and may still yield when theirs comes.
//! - A bundle that has not yielded when it begins may do so between two of its writes: a bundle of several MiB takes tens
//!   of milliseconds, and a read between two writes leaves them sequential for the flash.
//!
//! So at least one bundle goes for every read that passes one. The rest of what the paper leaves open is decided in
//! `irbw.rs`.

use super::bundles::Bundles;
pub use super::irbw::Tunables;
use super::irbw::{Irbw, Order};
use crate::Io;

/// See the module.
pub type IrbwFifoRp = Irbw<ReadsFirst>;

/// Reads go next; a bundle that came before one yields once.
#[derive(Clone, Copy, Debug)]
pub enum ReadsFirst {}

impl Order for ReadsFirst {
    const NAME: &'static str = "irbw-fifo-rp";

    fn next(held: &mut Bundles) -> Option<Io> {
        let Some(read) = held.read_age() else {
            return held.pop_write();
        };
        let came_later = match held.turn_age() {
            Some(bundle) => bundle < read,
            None => return held.pop_read(),
        };
        if came_later && held.has_yielded() {
            held.pop_write()
        } else {
            held.pop_read()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::irbw::by_hand::{self, BUNDLE, keys, read, write};
    use super::*;
    use crate::Scheduler;
    use fathom_base::Time;

    fn filled(requests: &[Io]) -> IrbwFifoRp {
        by_hand::filled(requests)
    }

    #[test]
    fn a_bundle_yields_to_one_read_and_then_goes_whole() {
        let mut scheduler = filled(&[
            write(0, 4096, 1),
            write(1, 0, 2),
            read(2, 1 << 20, 3),
            read(3, 2 << 20, 4),
        ]);
        assert_eq!(keys(&mut scheduler, Time(9)), [2, 1, 0, 3]);
    }

    #[test]
    fn each_bundle_yields_for_itself() {
        let mut scheduler = filled(&[
            write(0, 0, 1),
            write(1, BUNDLE, 2),
            read(2, 1 << 20, 3),
            read(3, 2 << 20, 4),
            read(4, 3 << 20, 5),
        ]);
        assert_eq!(keys(&mut scheduler, Time(9)), [2, 0, 3, 1, 4]);
    }

    #[test]
    fn reads_that_came_before_the_bundle_are_no_favour() {
        let mut scheduler = filled(&[
            read(0, 1 << 20, 1),
            read(1, 2 << 20, 2),
            write(2, 0, 3),
            read(3, 3 << 20, 4),
            read(4, 4 << 20, 5),
        ]);
        assert_eq!(keys(&mut scheduler, Time(9)), [0, 1, 3, 2, 4]);
    }

    #[test]
    fn a_bundle_that_has_begun_may_yield_once() {
        let mut scheduler = filled(&[write(0, 0, 1), write(1, 4096, 1), write(2, 8192, 1)]);
        assert_eq!(scheduler.dispatch(Time(2)).unwrap().key.0, 0);
        scheduler.insert(Time(3), read(3, 1 << 20, 3));
        scheduler.insert(Time(3), read(4, 2 << 20, 3));
        assert_eq!(keys(&mut scheduler, Time(4)), [3, 1, 2, 4]);
        // It is one bundle all the same.
        assert_eq!(scheduler.bundles().unwrap().by_writes, [(3, 1)].into());
    }

    #[test]
    fn a_read_that_came_before_a_bundle_began_is_no_favour_either() {
        let mut scheduler = filled(&[write(0, 0, 5), write(1, 4096, 6)]);
        assert_eq!(scheduler.dispatch(Time(7)).unwrap().key.0, 0);
        // It had to wait for a write that it overlaps.
        scheduler.insert(Time(8), read(2, 1 << 20, 3));
        scheduler.insert(Time(8), read(3, 2 << 20, 8));
        scheduler.insert(Time(8), read(4, 3 << 20, 8));
        assert_eq!(keys(&mut scheduler, Time(9)), [2, 3, 1, 4]);
    }

    #[test]
    fn the_next_bundle_at_a_place_yields_anew() {
        for is_written in [true, false] {
            let first = write(0, 0, 1);
            let mut scheduler = filled(&[first, read(1, 1 << 20, 2)]);
            assert_eq!(scheduler.dispatch(Time(3)).unwrap().key.0, 1);
            if is_written {
                assert_eq!(scheduler.dispatch(Time(3)), Some(first));
            } else {
                scheduler.remove(&first);
            }
            scheduler.insert(Time(4), write(2, 4096, 4));
            scheduler.insert(Time(5), read(3, 1 << 20, 5));
            assert_eq!(keys(&mut scheduler, Time(6)), [3, 2]);
        }
    }

    #[test]
    fn a_stream_of_reads_does_not_keep_a_bundle_back() {
        let mut scheduler = filled(&[write(0, 0, 1)]);
        let mut order = Vec::new();
        for turn in 0..4 {
            scheduler.insert(Time(2 + turn), read(1 + turn as u32, 1 << 20, 2 + turn));
            order.extend(scheduler.dispatch(Time(3 + turn)).map(|io| io.key.0));
        }
        assert_eq!(order, [1, 0, 2, 3]);
    }

    #[test]
    fn the_size_of_a_bundle_is_asked_for_in_its_own_name() {
        let error = IrbwFifoRp::new(&Tunables::default()).unwrap_err();
        assert_eq!((error.part, error.key), ("irbw-fifo-rp", "bundle"));
    }
}
