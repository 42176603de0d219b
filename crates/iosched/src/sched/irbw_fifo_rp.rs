//! IRBW-FIFO-RP: individual reads and bundled writes, each first come, first served, with reads preferred to bundles.
//!
//! `irbw` 4.2: it "maintains separate orderings of read requests and the LBA-bundles but gives favor to the read
//! requests". "To avoid write starvation, in our implementation, we allow each LBA-bundle to yield to a read request
//! only once."
//!
//! Where the paper does not say what that means, it is decided as follows:
//! - A bundle yields when a read that arrived later goes first. A read older than the bundle's oldest write goes first
//!   in any case and does not count as yielding.
//! - The current bundle yields, and to one read, however many wait: "a read request only once". The bundles behind it
//!   have not yielded and may do so when their turn comes.
//! - A bundle that has not yielded before it begins may yield between two of its writes: a bundle of several MiB takes
//!   tens of milliseconds, and a read between two writes leaves them sequential for the flash.
//!
//! So at least one bundle goes for every read that passes one. "Only once" may also mean one occasion: then all reads
//! that wait at that moment pass, and no later ones (`pass = "all"`). `bundles.rs` decides the other questions that the
//! paper leaves open.

use super::bundles::Bundles;
use super::irbw::{Irbw, NEEDS, Order};
use crate::scheduler::Policy;
use crate::{Io, Scheduler};
use fathom_base::{About, BadValue, Bytes, Dur, Time, keys};
use serde::{Deserialize, Serialize};

/// Entry in the list of schedulers.
pub(crate) const ABOUT: About =
    About::new("irbw-fifo with read preference: reads go first, each bundle yields once")
        .example("irbw-fifo-rp,bundle=1MiB")
        .needs(NEEDS);

keys! {
    /// The size of a bundle, from the drive's profile, and how far a bundle yields.
    pub struct Tunables {
        /// Size of a bundle, as for `irbw-fifo`.
        pub bundle: Bytes = Bytes(0),
        /// Reads that pass a bundle when it yields.
        pub pass: Pass = Pass::One,
    }
}

impl Policy for Tunables {
    /// Covers the queue ahead of a request.
    const STARVATION: Dur = Dur::ms(50);

    fn build(&self) -> Result<Box<dyn Scheduler>, BadValue> {
        Ok(Box::new(IrbwFifoRp::new(self)?))
    }
}

/// The reading of "yield to a read request only once" (`irbw` 4.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pass {
    /// The oldest read.
    #[default]
    One,
    /// All reads that wait when the bundle yields.
    All,
}

/// The scheduler IRBW-FIFO-RP; see the module.
pub type IrbwFifoRp = Irbw<ReadsFirst>;

/// The order of IRBW-FIFO-RP: reads go next; an older bundle yields once.
#[derive(Clone, Copy, Debug)]
pub struct ReadsFirst {
    pass: Pass,
    /// When a bundle yielded to all waiting reads: reads that arrived until then go first.
    yielded_at: Option<Time>,
}

impl IrbwFifoRp {
    /// Creates an empty scheduler.
    ///
    /// # Errors
    /// [`BadValue`] if the size of a bundle is missing or not a multiple of 512 bytes.
    pub fn new(tunables: &Tunables) -> Result<Self, BadValue> {
        let order = ReadsFirst {
            pass: tunables.pass,
            yielded_at: None,
        };
        Self::of(tunables.bundle, order)
    }
}

impl Order for ReadsFirst {
    fn next(&mut self, held: &mut Bundles, now: Time) -> Option<Io> {
        let Some(read) = held.read_age() else {
            return held.pop_write();
        };
        let came_later = match held.turn_age() {
            Some(bundle) => bundle < read,
            None => return held.pop_read(),
        };
        let passes = self.yielded_at.is_some_and(|moment| read.0 <= moment);
        if !came_later || passes {
            return held.pop_read();
        }
        if held.has_yielded() {
            return held.pop_write();
        }
        self.yielded_at = (self.pass == Pass::All).then_some(now);
        held.pop_read()
    }
}

#[cfg(test)]
mod tests {
    use super::super::irbw::by_hand::{self, BUNDLE, keys, read, write};
    use super::*;
    use crate::Config;
    use crate::Scheduler;

    fn passing(pass: Pass, requests: &[Io]) -> IrbwFifoRp {
        let bundle = Bytes(BUNDLE);
        by_hand::filled(
            IrbwFifoRp::new(&Tunables { bundle, pass }).unwrap(),
            requests,
        )
    }

    fn filled(requests: &[Io]) -> IrbwFifoRp {
        passing(Pass::One, requests)
    }

    /// `irbw` 4.2, "yield to a read request only once", with once as one occasion: all reads that wait then pass.
    #[test]
    fn all_reads_that_wait_at_one_moment_may_pass_and_none_that_comes_later() {
        let mut scheduler = passing(
            Pass::All,
            &[
                write(0, 0, 1),
                write(1, BUNDLE, 2),
                read(2, 1 << 20, 3),
                read(3, 2 << 20, 4),
                read(4, 3 << 20, 5),
            ],
        );
        assert_eq!(scheduler.dispatch(Time(6)).unwrap().key.0, 2);
        scheduler.insert(Time(7), read(5, 4 << 20, 7));
        // The first bundle has yielded to 2, 3 and 4. Read 5 arrived later, and the second bundle yields to it.
        assert_eq!(keys(&mut scheduler, Time(8)), [3, 4, 0, 5, 1]);
    }

    #[test]
    fn with_all_passing_a_stream_of_reads_does_not_keep_a_bundle_back_either() {
        let mut scheduler = passing(Pass::All, &[write(0, 0, 1)]);
        let mut order = Vec::new();
        for turn in 0..4 {
            scheduler.insert(
                Time(2 + 2 * turn),
                read(1 + turn as u32, 1 << 20, 2 + 2 * turn),
            );
            order.extend(scheduler.dispatch(Time(3 + 2 * turn)).map(|io| io.key.0));
        }
        assert_eq!(order, [1, 0, 2, 3]);
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
        // It still counts as one bundle.
        assert_eq!(scheduler.bundles().unwrap().by_writes, [(3, 1)].into());
    }

    #[test]
    fn a_read_that_came_before_a_bundle_began_is_no_favour_either() {
        let mut scheduler = filled(&[write(0, 0, 5), write(1, 4096, 6)]);
        assert_eq!(scheduler.dispatch(Time(7)).unwrap().key.0, 0);
        // Read 2 is older because it had to wait for an overlapping write.
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
        let error = Config::IrbwFifoRp(Tunables::default()).build().unwrap_err();
        assert_eq!((&*error.part, error.key), ("irbw-fifo-rp", "bundle"));
    }
}
