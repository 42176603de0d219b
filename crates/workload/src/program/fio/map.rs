//! A map of the covered units of a region: a hierarchical bitmap. Each bit of a higher level stands for a full word of
//! the level below, so finding the next free unit takes a few steps however full the map is.

const BITS: u64 = u64::BITS as u64;

/// The units `0..units`, each free or taken.
#[derive(Clone, Debug)]
pub(super) struct Map {
    units: u64,
    /// A set bit is a taken unit or, in the higher levels, a full word. The unused bits at the end of each level are
    /// set, so that they are never found.
    levels: Vec<Vec<u64>>,
}

fn levels(units: u64) -> Vec<Vec<u64>> {
    let mut levels = Vec::new();
    let mut bits = units.max(1);
    loop {
        let words = bits.div_ceil(BITS);
        let mut level = vec![0; words as usize];
        if let (Some(last), used @ 1..) = (level.last_mut(), bits % BITS) {
            *last = u64::MAX << used;
        }
        levels.push(level);
        if words == 1 {
            return levels;
        }
        bits = words;
    }
}

impl Map {
    /// Makes a map of `units` free units.
    pub(super) fn new(units: u64) -> Self {
        Self {
            units,
            levels: levels(units),
        }
    }

    /// Frees all units.
    pub(super) fn clear(&mut self) {
        self.levels = levels(self.units);
    }

    /// Returns the number of units.
    pub(super) fn units(&self) -> u64 {
        self.units
    }

    /// Returns true if the unit exists and is free.
    pub(super) fn is_free(&self, unit: u64) -> bool {
        let word = self.levels[0].get((unit / BITS) as usize);
        word.is_some_and(|word| word >> (unit % BITS) & 1 == 0)
    }

    /// Takes a free unit.
    pub(super) fn take(&mut self, unit: u64) {
        let mut at = unit;
        for level in &mut self.levels {
            let Some(word) = level.get_mut((at / BITS) as usize) else {
                return;
            };
            *word |= 1 << (at % BITS);
            if *word != u64::MAX {
                return;
            }
            at /= BITS;
        }
    }

    /// Returns the first free unit at or after `from`.
    fn free_from(&self, from: u64) -> Option<u64> {
        let mut at = from;
        for (height, level) in self.levels.iter().enumerate() {
            let word = level.get((at / BITS) as usize)?;
            let free = !word & (u64::MAX << (at % BITS));
            if free != 0 {
                let mut found = at / BITS * BITS + u64::from(free.trailing_zeros());
                for below in self.levels[..height].iter().rev() {
                    let word = below[found as usize];
                    found = found * BITS + u64::from((!word).trailing_zeros());
                }
                return Some(found);
            }
            at = at / BITS + 1;
        }
        None
    }

    /// Returns the first free unit at or after `from`; if there is none, the first free unit of all.
    pub(super) fn next_free(&self, from: u64) -> Option<u64> {
        self.free_from(from).or_else(|| self.free_from(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Rng;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_map_is_a_set(units in 1u64..20_000, seed in 0u64..1000, steps in 1u32..400) {
            let (mut map, mut free) = (Map::new(units), (0..units).collect::<BTreeSet<_>>());
            let mut rng = Rng::new(seed, 0);
            for _ in 0..steps {
                let from = rng.below(units);
                let wanted = free.range(from..).next().or_else(|| free.first()).copied();
                prop_assert_eq!(map.next_free(from), wanted);
                prop_assert_eq!(map.is_free(from), free.contains(&from));
                let Some(first) = wanted else { break };
                // Runs fill whole words, which exercises the higher levels.
                for unit in first..(first + rng.below(200)).min(units) {
                    map.take(unit);
                    free.remove(&unit);
                }
            }
            map.clear();
            prop_assert_eq!(map.next_free(units - 1), Some(units - 1));
            prop_assert!(!map.is_free(units));
        }
    }
}
