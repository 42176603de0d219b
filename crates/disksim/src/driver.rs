//! The driver's queue: requests that wait until the drive may have another one.
//!
//! In order of arrival, or by DiskSim's scheduling policy 3, `CYCLE_LBN` (disksim_ioqueue.c), which is C-LOOK. The extension's
//! own parameter files (ssdmodel/valid/ssd-*.parv) give the driver policy 3 and the drive a `Max queue length` of 20.

use std::collections::VecDeque;

/// Requests in the order in which they go to the drive.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    elevator: bool,
    /// First page and request; in order of arrival, or of page and then arrival.
    requests: VecDeque<(u64, u32)>,
    /// The first page of the last request that went.
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

    /// A request went without waiting.
    pub(super) fn passed(&mut self, page: u64) {
        self.at = page;
    }

    /// Takes the request that goes next. The elevator only goes up, and begins again at the lowest address.
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

    /// What goes, in order, where the request of page `passed` went without waiting and the others wait then.
    fn order(elevator: bool, passed: u64, pages: &[u64]) -> Vec<u32> {
        let mut waiting = Waiting::new(elevator);
        waiting.passed(passed);
        for (&page, request) in pages.iter().zip(0..) {
            waiting.push(page, request);
        }
        std::iter::from_fn(|| waiting.pop()).collect()
    }

    /// The rule of `ioqueue_get_request_from_lbn_scan_queue` for `CYCLE_LBN`: the lowest address at or above the last one, and
    /// where there is none the lowest of all; equal addresses in order of arrival.
    #[test]
    fn the_elevator_goes_up_and_begins_again_at_the_lowest() {
        let pages = [40, 90, 10, 50, 90, 20];
        assert_eq!(order(true, 50, &pages), [3, 1, 4, 2, 5, 0]);
        assert_eq!(order(true, 0, &pages), [2, 5, 0, 3, 1, 4]);
        assert_eq!(order(false, 50, &pages), [0, 1, 2, 3, 4, 5]);
    }
}
