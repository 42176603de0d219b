//! A slab: what is in flight, by a small stable index, without allocation once warm.

/// Values by index; a freed index is used again, last freed first.
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
    /// Stores a value and gives its index.
    #[inline]
    pub fn insert(&mut self, value: T) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.items[index as usize] = Some(value);
                index
            }
            None => {
                self.items.push(Some(value));
                (self.items.len() - 1) as u32
            }
        }
    }

    /// Takes a value out; `None` where nothing is stored.
    #[inline]
    pub fn remove(&mut self, index: u32) -> Option<T> {
        let value = self.items.get_mut(index as usize)?.take()?;
        self.free.push(index);
        Some(value)
    }

    /// The value at an index.
    #[inline]
    pub fn get(&self, index: u32) -> Option<&T> {
        self.items.get(index as usize)?.as_ref()
    }

    /// The value at an index, to change.
    #[inline]
    pub fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        self.items.get_mut(index as usize)?.as_mut()
    }

    /// The indices of the values stored, in order.
    pub fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        let used = self
            .items
            .iter()
            .enumerate()
            .filter(|(_, item)| item.is_some());
        used.map(|(index, _)| index as u32)
    }

    /// Values stored.
    pub fn len(&self) -> usize {
        self.items.len() - self.free.len()
    }

    /// Whether nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Drops every value.
    pub fn clear(&mut self) {
        self.items.clear();
        self.free.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_used_again_and_never_twice_at_once() {
        let mut slab = Slab::default();
        let (a, b) = (slab.insert('a'), slab.insert('b'));
        assert_eq!(slab.remove(a), Some('a'));
        assert_eq!(slab.remove(a), None);
        assert_eq!(slab.insert('c'), a);
        assert_eq!(
            (slab.get(a), slab.get(b), slab.len()),
            (Some(&'c'), Some(&'b'), 2)
        );
    }
}
