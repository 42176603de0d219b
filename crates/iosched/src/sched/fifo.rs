//! A queue of requests in order of arrival, with access by key in constant time.

use crate::{Io, IoKey};

/// The index that marks the end of a list.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Slot {
    io: Option<Io>,
    previous: u32,
    next: u32,
}

/// A list of requests. Every operation takes constant time. The memory is proportional to the highest key.
#[derive(Clone, Debug)]
pub(crate) struct Fifo {
    slots: Vec<Slot>,
    head: u32,
    tail: u32,
    len: usize,
}

impl Default for Fifo {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            head: NONE,
            tail: NONE,
            len: 0,
        }
    }
}

impl Fifo {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Appends a request.
    #[inline]
    pub(crate) fn push(&mut self, io: Io) {
        let index = io.key.0 as usize;
        if self.slots.len() <= index {
            let empty = Slot {
                io: None,
                previous: NONE,
                next: NONE,
            };
            self.slots.resize(index + 1, empty);
        }
        debug_assert!(
            self.slots[index].io.is_none(),
            "{:?} is in the list",
            io.key
        );
        self.slots[index] = Slot {
            io: Some(io),
            previous: self.tail,
            next: NONE,
        };
        match self.slots.get_mut(self.tail as usize) {
            Some(last) => last.next = io.key.0,
            None => self.head = io.key.0,
        }
        self.tail = io.key.0;
        self.len += 1;
    }

    /// Returns the oldest request.
    #[inline]
    pub(crate) fn first(&self) -> Option<&Io> {
        self.slots.get(self.head as usize)?.io.as_ref()
    }

    /// Takes out the oldest request.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Io> {
        let key = self.first()?.key;
        self.take(key)
    }

    /// Returns the request with this key for modification.
    #[inline]
    pub(crate) fn get_mut(&mut self, key: IoKey) -> Option<&mut Io> {
        self.slots.get_mut(key.0 as usize)?.io.as_mut()
    }

    /// Returns the keys of the requests before and after the one with this key.
    pub(crate) fn neighbours(&self, key: IoKey) -> [Option<IoKey>; 2] {
        let slot = self
            .slots
            .get(key.0 as usize)
            .filter(|slot| slot.io.is_some());
        let listed = |key: u32| (key != NONE).then_some(IoKey(key));
        slot.map_or([None; 2], |slot| [listed(slot.previous), listed(slot.next)])
    }

    /// Takes out the request with this key.
    #[inline]
    pub(crate) fn take(&mut self, key: IoKey) -> Option<Io> {
        let slot = self.slots.get_mut(key.0 as usize)?;
        let io = slot.io.take()?;
        let (previous, next) = (slot.previous, slot.next);
        match self.slots.get_mut(previous as usize) {
            Some(before) => before.next = next,
            None => self.head = next,
        }
        match self.slots.get_mut(next as usize) {
            Some(after) => after.previous = previous,
            None => self.tail = previous,
        }
        self.len -= 1;
        Some(io)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Time;
    use fathom_block::Op;

    fn io(key: u32) -> Io {
        Io {
            key: IoKey(key),
            op: Op::Read,
            offset: 0,
            len: 512,
            process: 0,
            class: crate::Class::default(),
            priority: 4,
            sync: true,
            fua: false,
            queued: Time::ZERO,
        }
    }

    #[test]
    fn what_is_taken_out_of_the_middle_leaves_the_order() {
        let mut fifo = Fifo::default();
        for key in [3, 0, 7, 5] {
            fifo.push(io(key));
        }
        assert_eq!(fifo.take(IoKey(0)).map(|io| io.key.0), Some(0));
        assert_eq!(fifo.take(IoKey(0)), None);
        assert_eq!(fifo.take(IoKey(5)).map(|io| io.key.0), Some(5));
        fifo.push(io(0));
        let order: Vec<u32> = std::iter::from_fn(|| fifo.pop())
            .map(|io| io.key.0)
            .collect();
        assert_eq!(order, [3, 7, 0]);
        assert!(fifo.len() == 0 && fifo.first().is_none());
    }
}
