//! Flushes that wait: first for the buffer to be drained, then for the programs that this has begun.

use super::domain::Domains;
use crate::buffer::lines::WriteLines;

#[derive(Clone, Debug)]
struct Flushing {
    request: u32,
    /// Lines that became dirty up to here are to be drained.
    mark: u64,
    /// Once they are: in every domain, the number before which each program is to be done.
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

    /// A request is to be complete when lines that became dirty up to `mark` are in the flash array.
    pub(super) fn push(&mut self, request: u32, mark: u64) {
        self.waiting.push(Flushing {
            request,
            mark,
            before: None,
        });
    }

    /// Takes out those whose data is in the flash array, in order.
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

    /// Takes out those whose lines are not drained yet.
    pub(super) fn take_undrained(&mut self) -> Vec<u32> {
        let undrained = self.waiting.extract_if(.., |flush| flush.before.is_none());
        undrained.map(|flush| flush.request).collect()
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }
}
