//! Evicts sequential streams first.
//!
//! Pages that are written one after another in ascending order form a run. A run of [`STREAM_PAGES`] pages is a stream.
//! The stream that grew longest ago is evicted first, whole, however recently that was. If there is no stream, the run
//! that was written longest ago is evicted. A page that is written again moves to the run that wrote it last, and only
//! that run can continue from it.
//!
//! Sequential data should stay in a write cache only briefly, because it is not expected to be rewritten and is cheap to
//! evict. This idea is from Gill and Modha ("WOW: wise ordering for writes", FAST 2005, III), who never mark a sequential
//! write as recent. A page region in order of use beside a region for sequential data is from Wei, Chen and Yang ("CBM:
//! a cooperative buffer management for SSD", MSST 2014). The detection of streams and the order between them were
//! decided here.

use super::groups::Groups;
use super::policy::{How, Leaving, Policy, Shape};
use fathom_base::About;
use fathom_base::{Links, List};
use rustc_hash::FxHashMap;

pub(super) const ABOUT: About = About::new("evicts whole sequential streams first, the rest in order of last use").text(
    "\
Consecutive pages make a run, and four or more a stream. The stream that grew longest ago is evicted first, whole;
without a stream, the run that was written longest ago. So sequential writes do not displace pages that are
rewritten often. After Gill and Modha, FAST 2005 (sequential writes are never recent), and Wei, Chen and Yang, MSST
2014 (sequential and random writes apart); the detection and the order are Fathom's own. A stream that was evicted
starts anew with its next page. It does not use blocks or elements.",
);

/// Length of a run, in pages, from which it is a stream.
pub(crate) const STREAM_PAGES: u32 = 4;

#[derive(Clone, Copy, Debug)]
struct Run {
    /// The page that would continue the run.
    next: u32,
    /// Number of pages written in a row.
    length: u32,
}

/// Short runs and streams, each in order of age.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    runs: Groups<Run>,
    order: Links,
    short: List,
    streams: List,
    /// Maps the page that would continue a run to that run.
    by_next: FxHashMap<u32, u32>,
}

impl Order {
    fn list(&mut self, length: u32) -> (&mut Links, &mut List) {
        let list = if length < STREAM_PAGES {
            &mut self.short
        } else {
            &mut self.streams
        };
        (&mut self.order, list)
    }

    /// Adds a page that is in no run to the run that it continues, or starts a run with it.
    #[inline]
    fn place(&mut self, slot: u32, page: u32) {
        let next = page.wrapping_add(1);
        let run = match self.by_next.remove(&page) {
            Some(run) => {
                let length = self.runs.about(run).length;
                let (order, list) = self.list(length);
                order.detach(list, run);
                let length = length.saturating_add(1);
                *self.runs.about_mut(run) = Run { next, length };
                run
            }
            None => self.runs.open(Run { next, length: 1 }),
        };
        let (order, list) = self.list(self.runs.about(run).length);
        order.append(list, run);
        self.by_next.insert(next, run);
        self.runs.join(run, slot);
    }
}

impl Policy for Order {
    fn new(_: &Shape) -> Self {
        Self {
            runs: Groups::default(),
            order: Links::default(),
            short: List::default(),
            streams: List::default(),
            by_next: FxHashMap::default(),
        }
    }

    #[inline]
    fn insert(&mut self, slot: u32, page: u32, _: u64) {
        self.place(slot, page);
    }

    #[inline]
    fn touch(&mut self, slot: u32, page: u32, _: u64) {
        self.remove(slot);
        self.place(slot, page);
    }

    #[inline]
    fn remove(&mut self, slot: u32) {
        let (run, left) = self.runs.leave(slot);
        if left == 0 {
            let Run { next, length } = self.runs.about(run);
            let (order, list) = self.list(length);
            order.detach(list, run);
            if self.by_next.get(&next) == Some(&run) {
                self.by_next.remove(&next);
            }
            self.runs.close(run);
        }
    }

    fn choose(&mut self, leaving: &mut Leaving) {
        leaving.how = How::Runs;
        let list = if self.streams.is_empty() {
            self.short
        } else {
            self.streams
        };
        if !list.is_empty() {
            leaving.slots.extend(self.runs.members(list.oldest));
        }
    }
}
