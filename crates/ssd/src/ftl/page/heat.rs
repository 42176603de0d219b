//! Counts how often each unit is written. All counts are halved after as many writes as there are units.
//!
//! Counting with decay is the idea of Hsieh, Kuo and Chang, "Efficient identification of hot data for flash memory
//! storage systems" (ACM Transactions on Storage 2(1), 2006). They hash many units onto few counters; here each
//! unit has a counter of its own, which takes one byte. A unit is hot if it is written more than twice as often as
//! the mean. The counts are lost in a power cut.

use fathom_base::Lpn;

/// Smallest count of a hot unit. Between two halvings a unit is written once on average, and a count is the sum of
/// the writes since the last halving, half of those before, and so on: 1 to 2 for the mean unit.
const HOT: u8 = 4;
const MOST: u8 = 15;

/// Write counts of units, if data is separated by heat.
#[derive(Clone, Debug)]
pub(super) struct Heat {
    counts: Vec<u8>,
    /// Writes since the last halving.
    written: usize,
}

impl Heat {
    /// Counters for `units` units, all 0. `units` is 0 where heat is not used.
    pub(super) fn new(units: u32) -> Self {
        Self {
            counts: vec![0; units as usize],
            written: 0,
        }
    }

    /// Returns true if heat is used at all.
    #[inline]
    pub(super) fn is_used(&self) -> bool {
        !self.counts.is_empty()
    }

    /// Counts a host write of a unit.
    pub(super) fn count(&mut self, lpn: Lpn) {
        let count = &mut self.counts[lpn.index()];
        *count = (*count + 1).min(MOST);
        self.written += 1;
        if self.written == self.counts.len() {
            self.counts.iter_mut().for_each(|count| *count /= 2);
            self.written = 0;
        }
    }

    /// Returns true if a unit is written often.
    #[inline]
    pub(super) fn is_hot(&self, lpn: Lpn) -> bool {
        self.counts.get(lpn.index()).is_some_and(|&n| n >= HOT)
    }

    /// Resets all counts.
    pub(super) fn clear(&mut self) {
        self.counts.fill(0);
        self.written = 0;
    }

    pub(super) fn state_bytes(&self) -> usize {
        self.counts.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(heat: &mut Heat, lpn: u32, times: u32) {
        (0..times).for_each(|_| heat.count(Lpn(lpn)));
    }

    #[test]
    fn what_is_written_more_than_twice_as_often_as_the_mean_is_hot_until_it_is_not() {
        let mut heat = Heat::new(100);
        write(&mut heat, 1, 3);
        assert!(!heat.is_hot(Lpn(1)));
        write(&mut heat, 1, 1);
        assert!(heat.is_hot(Lpn(1)) && !heat.is_hot(Lpn(2)));
        // Units that are written once in a hundred writes are never hot.
        for lpn in (0..100).cycle().take(1000) {
            write(&mut heat, lpn, 1);
        }
        assert!((0..100).all(|lpn| !heat.is_hot(Lpn(lpn))));
        // Counts are capped at fifteen. The three halvings during the following writes make unit 3 cold.
        write(&mut heat, 3, 90);
        write(&mut heat, 4, 10);
        assert!(heat.is_hot(Lpn(3)) && heat.is_hot(Lpn(4)));
        write(&mut heat, 5, 200);
        assert!(!heat.is_hot(Lpn(3)) && heat.is_hot(Lpn(5)));
        heat.clear();
        assert!(!heat.is_hot(Lpn(5)));
    }
}
