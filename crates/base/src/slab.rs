//! A slab: values addressed by small stable indices, without allocation once warm. Used for requests and operations in
//! flight.

/// Values by index. Freed indices are reused, the last freed first.
#[derive(Clone, Debug)]
pub struct Slab<T> {
    items: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Slab<T> {
    /// Stores a value and returns its index.
    #[inline]
    pub fn insert(&mut self, value: T) -> u32 {
        self.insert_with(|_| value)
    }

    /// Stores a value that knows its index, and returns the index.
    #[inline]
    pub fn insert_with(&mut self, value: impl FnOnce(u32) -> T) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.items[index as usize] = Some(value(index));
                index
            }
            None => {
                let index = self.items.len() as u32;
                self.items.push(Some(value(index)));
                index
            }
        }
    }

    /// Removes and returns a value; `None` if the index is free.
    #[inline]
    pub fn remove(&mut self, index: u32) -> Option<T> {
        let value = self.items.get_mut(index as usize)?.take()?;
        self.free.push(index);
        Some(value)
    }

    /// Drops a value where it lies, without moving it. Returns false if the index is free.
    #[inline]
    pub fn discard(&mut self, index: u32) -> bool {
        let Some(item) = self.items.get_mut(index as usize) else {
            return false;
        };
        let stored = item.is_some();
        *item = None;
        if stored {
            self.free.push(index);
        }
        stored
    }

    /// Returns the value at an index.
    #[inline]
    pub fn get(&self, index: u32) -> Option<&T> {
        self.items.get(index as usize)?.as_ref()
    }

    /// Returns the value at an index, for modification.
    #[inline]
    pub fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        self.items.get_mut(index as usize)?.as_mut()
    }

    /// Iterates over the indices of the stored values, in ascending order.
    pub fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        let used = self
            .items
            .iter()
            .enumerate()
            .filter(|(_, item)| item.is_some());
        used.map(|(index, _)| index as u32)
    }

    /// Returns the number of stored values.
    pub fn len(&self) -> usize {
        self.items.len() - self.free.len()
    }

    /// Returns true if no values are stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all values.
    pub fn clear(&mut self) {
        self.items.clear();
        self.free.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_can_know_its_index() {
        let mut slab = Slab::default();
        let (a, b) = (
            slab.insert_with(|index| index),
            slab.insert_with(|index| index),
        );
        slab.discard(a);
        let again = slab.insert_with(|index| index + 10);
        assert_eq!((again, slab.get(b)), (a, Some(&b)));
        assert_eq!(slab.get(a), Some(&(a + 10)));
    }

    #[test]
    fn an_index_is_used_again_and_never_twice_at_once() {
        let mut slab = Slab::default();
        let (a, b) = (slab.insert('a'), slab.insert('b'));
        assert_eq!(slab.remove(a), Some('a'));
        assert_eq!(slab.remove(a), None);
        assert_eq!(slab.insert('c'), a);
        assert!(slab.discard(b) && !slab.discard(b) && !slab.discard(9));
        assert_eq!(slab.insert_with(|_| 'b'), b);
        assert_eq!(
            (slab.get(a), slab.get(b), slab.len()),
            (Some(&'c'), Some(&'b'), 2)
        );
    }
}
