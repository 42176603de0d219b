//! Waiting flushes. A flush waits until the buffer is drained, then until the programs issued by the drain are done.

use super::domain::Domains;
use crate::buffer::lines::WriteLines;

#[derive(Clone, Debug)]
struct Flushing {
    request: u32,
    /// Lines that became dirty up to this mark must be drained.
    mark: u64,
    /// Set after the drain: for every domain, all programs with a lower number must be done.
    before: Option<Box<[u64]>>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Flushes {
    waiting: Vec<Flushing>,
}

impl Flushes {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Adds a flush that completes when all lines that became dirty up to `mark` are in the flash array.
    pub(super) fn push(&mut self, request: u32, mark: u64) {
        self.waiting.push(Flushing {
            request,
            mark,
            before: None,
        });
    }

    /// Removes and returns the flushes whose data is in the flash array, in order.
    pub(super) fn settle(&mut self, lines: &WriteLines, domains: &Domains) -> Vec<u32> {
        let mut done = Vec::new();
        self.waiting.retain_mut(|flush| {
            if flush.before.is_none() && !lines.oldest_is_due(flush.mark) {
                flush.before = Some(domains.next());
            }
            let is_done = flush.before.as_ref().is_some_and(|b| domains.are_done(b));
            if is_done {
                done.push(flush.request);
            }
            !is_done
        });
        done
    }

    /// Removes and returns the flushes whose lines are not drained yet.
    pub(super) fn take_undrained(&mut self) -> Vec<u32> {
        let undrained = self.waiting.extract_if(.., |flush| flush.before.is_none());
        undrained.map(|flush| flush.request).collect()
    }

    /// Forgets all flushes.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }
}
