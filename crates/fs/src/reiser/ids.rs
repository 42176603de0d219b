//! The object numbers that are in use, as the super block keeps them: ends of ranges in use and not in use, in turn.
//!
//! The lowest number that is not in use is taken. If the map is full, a number that would need two more entries is not
//! given back. After `fs/reiserfs/objectid.c` of Linux 6.1.

/// Entries for which the super block has room: its 4,096 bytes without 204, in words of 4, an even number.
const MOST: usize = (4096 - 204) / 4 / 2 * 2;

/// The object numbers of a volume.
#[derive(Clone, Debug)]
pub(super) struct Ids {
    /// The beginnings of ranges: the first is in use, the second not, and so on.
    bounds: Vec<u32>,
}

impl Ids {
    /// Numbers below `first` are in use.
    pub(super) fn new(first: u32) -> Self {
        Self {
            bounds: vec![1, first],
        }
    }

    /// The lowest number that is not in use; `None` if all are.
    pub(super) fn take(&mut self) -> Option<u32> {
        let id = self.bounds[1];
        if id == u32::MAX {
            return None;
        }
        self.bounds[1] += 1;
        if self.bounds.len() > 2 && self.bounds[1] == self.bounds[2] {
            self.bounds.drain(1..3);
        }
        Some(id)
    }

    /// Gives a number back.
    pub(super) fn release(&mut self, id: u32) {
        let behind = self.bounds.partition_point(|&bound| bound <= id);
        let Some(at) = behind.checked_sub(1).filter(|at| at.is_multiple_of(2)) else {
            return;
        };
        let end = self.bounds.get(at + 1).copied().unwrap_or(u32::MAX);
        if self.bounds[at] == id {
            self.bounds[at] += 1;
            if self.bounds[at] == end {
                self.bounds.drain(at..at + 2);
            }
        } else if id + 1 == end {
            self.bounds[at + 1] = id;
        } else if self.bounds.len() < MOST {
            self.bounds.splice(at + 1..at + 1, [id, id + 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_number_is_taken_and_ranges_join() {
        let mut ids = Ids::new(3);
        let first: Vec<_> = (0..5).map(|_| ids.take().unwrap()).collect();
        assert_eq!(first, [3, 4, 5, 6, 7]);
        ids.release(5);
        ids.release(4);
        assert_eq!(ids.bounds, [1, 4, 6, 8]);
        ids.release(7);
        assert_eq!(ids.bounds, [1, 4, 6, 7]);
        assert_eq!(
            [ids.take(), ids.take(), ids.take()],
            [Some(4), Some(5), Some(7)]
        );
        assert_eq!(ids.bounds, [1, 8]);
        ids.release(1);
        assert_eq!(ids.bounds, [2, 8]);
    }
}
