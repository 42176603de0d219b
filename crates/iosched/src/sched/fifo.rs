//! A queue of requests in order of arrival, with access by key in constant time.

use crate::{Io, IoKey};
use fathom_base::links::{Links, List, NONE};

/// A list of requests. Every operation takes constant time. The memory is proportional to the highest key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fifo {
    ios: Vec<Option<Io>>,
    links: Links,
    order: List,
    len: usize,
}

impl Fifo {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Appends a request.
    #[inline]
    pub(crate) fn push(&mut self, io: Io) {
        let index = io.key.0 as usize;
        if self.ios.len() <= index {
            self.ios.resize(index + 1, None);
        }
        debug_assert!(self.ios[index].is_none(), "{:?} is in the list", io.key);
        self.ios[index] = Some(io);
        self.links.append(&mut self.order, io.key.0);
        self.len += 1;
    }

    /// Takes out the oldest request.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Io> {
        self.take(IoKey(self.order.oldest))
    }

    /// Returns the request with this key for modification.
    #[inline]
    pub(crate) fn get_mut(&mut self, key: IoKey) -> Option<&mut Io> {
        self.ios.get_mut(key.0 as usize)?.as_mut()
    }

    /// Returns the keys of the requests before and after the one with this key.
    pub(crate) fn neighbours(&self, key: IoKey) -> [Option<IoKey>; 2] {
        if self.ios.get(key.0 as usize).is_none_or(Option::is_none) {
            return [None; 2];
        }
        let listed = |key: u32| (key != NONE).then_some(IoKey(key));
        [self.links.older(key.0), self.links.newer(key.0)].map(listed)
    }

    /// Takes out the request with this key.
    #[inline]
    pub(crate) fn take(&mut self, key: IoKey) -> Option<Io> {
        let io = self.ios.get_mut(key.0 as usize)?.take()?;
        self.links.detach(&mut self.order, key.0);
        self.len -= 1;
        Some(io)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::hand::read;

    #[test]
    fn what_is_taken_out_of_the_middle_leaves_the_order() {
        let mut fifo = Fifo::default();
        for key in [3, 0, 7, 5] {
            fifo.push(read(key, 0));
        }
        assert_eq!(fifo.take(IoKey(0)).map(|io| io.key.0), Some(0));
        assert_eq!(fifo.take(IoKey(0)), None);
        assert_eq!(fifo.take(IoKey(5)).map(|io| io.key.0), Some(5));
        fifo.push(read(0, 0));
        let order: Vec<u32> = std::iter::from_fn(|| fifo.pop())
            .map(|io| io.key.0)
            .collect();
        assert_eq!(order, [3, 7, 0]);
        assert!(fifo.len() == 0 && fifo.pop().is_none());
    }
}
