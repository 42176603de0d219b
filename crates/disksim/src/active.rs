//! Requests in flight, and the queues of the host channel.

use fathom_base::Time;
use fathom_base::links::NONE;
use fathom_block::{Op, Request, RequestId};
use std::collections::VecDeque;

/// A request in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Active {
    pub(super) id: RequestId,
    pub(super) op: Op,
    pub(super) submitted: Time,
    pub(super) offset: u64,
    pub(super) len: u64,
    /// First page.
    pub(super) first: u64,
    /// Number of pages.
    pub(super) pages: u32,
    /// Number of parts that have not completed.
    pub(super) pending: u32,
    pub(super) failed: bool,
}

impl Active {
    /// Creates a request, rounded out to whole pages.
    pub(super) fn new(request: &Request, now: Time, page_bytes: u64) -> Self {
        let first = request.offset / page_bytes;
        let pages = request.end().div_ceil(page_bytes).saturating_sub(first) as u32;
        Self {
            id: request.id,
            op: request.op,
            submitted: now,
            offset: request.offset,
            len: request.len,
            first,
            pages,
            pending: pages,
            failed: false,
        }
    }
}

/// The request on the host channel, and the requests that wait for it.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    pub(super) current: u32,
    pub(super) completions: VecDeque<u32>,
    pub(super) commands: VecDeque<u32>,
}

impl Default for Channel {
    fn default() -> Self {
        Self {
            current: NONE,
            completions: VecDeque::new(),
            commands: VecDeque::new(),
        }
    }
}
