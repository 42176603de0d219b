//! The driver's queue: requests that wait until the drive accepts another one.
//!
//! Requests are dispatched in order of arrival, or by DiskSim's scheduling policy 3, `CYCLE_LBN` (disksim_ioqueue.c),
//! which is C-LOOK. The extension's own parameter files (ssdmodel/valid/ssd-*.parv) set the driver to policy 3 and the
//! `Max queue length` of the drive to 20.

use std::collections::VecDeque;

/// Waiting requests in dispatch order.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    elevator: bool,
    /// First page and request, in order of arrival; for the elevator in order of page, then arrival.
    requests: VecDeque<(u64, u32)>,
    /// First page of the last dispatched request.
    at: u64,
}

impl Waiting {
    pub(super) fn new(elevator: bool) -> Self {
        Self {
            elevator,
            requests: VecDeque::new(),
            at: 0,
        }
    }

    pub(super) fn push(&mut self, page: u64, request: u32) {
        if !self.elevator {
            return self.requests.push_back((page, request));
        }
        let at = self.requests.partition_point(|&(other, _)| other <= page);
        self.requests.insert(at, (page, request));
    }

    /// Notes a request that was dispatched without waiting.
    pub(super) fn passed(&mut self, page: u64) {
        self.at = page;
    }

    /// Removes and returns the next request to dispatch. The elevator moves upwards only, and restarts at the lowest
    /// address.
    pub(super) fn pop(&mut self) -> Option<u32> {
        if !self.elevator {
            return self.requests.pop_front().map(|(_, request)| request);
        }
        let above = self.requests.partition_point(|&(page, _)| page < self.at);
        let index = if above < self.requests.len() {
            above
        } else {
            0
        };
        let (page, request) = self.requests.remove(index)?;
        self.at = page;
        Some(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the dispatch order of `pages`, after a request for page `passed` was dispatched without waiting.
    fn order(elevator: bool, passed: u64, pages: &[u64]) -> Vec<u32> {
        let mut waiting = Waiting::new(elevator);
        waiting.passed(passed);
        for (&page, request) in pages.iter().zip(0..) {
            waiting.push(page, request);
        }
        std::iter::from_fn(|| waiting.pop()).collect()
    }

    /// The rule of `ioqueue_get_request_from_lbn_scan_queue` for `CYCLE_LBN`: the lowest address at or above the last
    /// one, or the lowest of all if there is none; equal addresses in order of arrival.
    #[test]
    fn the_elevator_goes_up_and_begins_again_at_the_lowest() {
        let pages = [40, 90, 10, 50, 90, 20];
        assert_eq!(order(true, 50, &pages), [3, 1, 4, 2, 5, 0]);
        assert_eq!(order(true, 0, &pages), [2, 5, 0, 3, 1, 4]);
        assert_eq!(order(false, 50, &pages), [0, 1, 2, 3, 4, 5]);
    }
}
