//! The driver's queue: requests that wait until the drive may have another one.

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
