//! The search for a free run by criteria, from the strictest on.

use super::super::buddy::{self, Group, MOST};
use super::settings::Ext4Settings;
use crate::block::{Extent, GROUP_BLOCKS};
use crate::space::Space;

/// Powers of two by which a request is cut at most before groups are searched whatever their runs.
const MOST_CUT: u32 = 3;

/// A search.
pub(super) struct Search<'a> {
    pub(super) settings: &'a Ext4Settings,
    /// What is known of each group, with the state of the group for which it holds.
    pub(super) groups: &'a mut [(u32, Group)],
    pub(super) space: &'a Space,
    /// The group of the goal.
    pub(super) first: u64,
    /// Blocks wanted, at most those of a group.
    pub(super) wanted: u64,
    /// Whether groups are sorted; else the first group from the goal's on that meets a criterion is taken.
    pub(super) sorted: bool,
}

/// The order of an average run, by which groups are sorted.
fn average_order(blocks: u64) -> u32 {
    (u64::BITS - blocks.leading_zeros())
        .saturating_sub(2)
        .min(MOST)
}

impl Search<'_> {
    pub(super) fn by_criteria(&mut self) -> Option<Extent> {
        if self.space.free() == 0 {
            return None;
        }
        let wanted = self.wanted;
        let order = wanted.trailing_zeros();
        if wanted.is_power_of_two()
            && (1..=MOST).contains(&order)
            && let Some(found) = self.buddy(order)
        {
            return Some(found);
        }
        if let Some(found) = self.by_average(wanted) {
            return Some(found);
        }
        let cuts = if self.sorted { MOST_CUT } else { 0 };
        for cut in 1..=cuts {
            let less = wanted.next_power_of_two() >> cut;
            if less < wanted
                && less > 0
                && let Some(found) = self.by_average(less)
            {
                return Some(found);
            }
        }
        let enough = |search: &Self, group| search.space.free_in(group) >= wanted;
        self.ring()
            .find(|&group| enough(self, group))
            .and_then(|group| self.best(group, wanted, false))
            .or_else(|| {
                let any = self.ring().find(|&group| self.space.free_in(group) > 0)?;
                self.best(any, wanted, false)
            })
    }

    /// The groups from the goal's on.
    fn ring(&self) -> impl Iterator<Item = u64> + use<> {
        let (first, groups) = (self.first, self.space.groups());
        (0..groups).map(move |step| (first + step) % groups)
    }

    fn group(&mut self, group: u64) -> Group {
        let now = self.space.changes(group);
        let known = &mut self.groups[group as usize];
        if known.0 != now {
            *known = (now, buddy::survey(self.space.words(group)));
        }
        known.1
    }

    /// The smallest buddy of at least an order, in the first group of those whose largest is smallest.
    fn buddy(&mut self, order: u32) -> Option<Extent> {
        let mut best: Option<(u32, u64)> = None;
        for group in self.ring() {
            if let Some(largest) = self.group(group).largest
                && largest >= order
                && best.is_none_or(|(least, _)| largest < least)
            {
                best = Some((largest, group));
                if largest == order || !self.sorted {
                    break;
                }
            }
        }
        let (_, group) = best?;
        let words = self.space.words(group);
        let block = (order..=MOST).find_map(|order| buddy::first(words, order))?;
        Some(Extent::new(group * GROUP_BLOCKS + block, self.wanted))
    }

    /// The best run of the first group whose runs are long enough on average, of those where they are shortest.
    fn by_average(&mut self, wanted: u64) -> Option<Extent> {
        let least = average_order(wanted);
        let mut best: Option<(u32, u64)> = None;
        for group in self.ring() {
            let free = self.space.free_in(group);
            if free < wanted {
                continue;
            }
            let average = free / u64::from(self.group(group).fragments.max(1));
            let order = average_order(average);
            if average >= wanted && best.is_none_or(|(order_of, _)| order < order_of) {
                best = Some((order, group));
                if order == least || !self.sorted {
                    break;
                }
            }
        }
        self.best(best?.1, wanted, true)
    }

    /// The best of the first runs of a group: the shortest that is long enough, or else the longest.
    fn best(&mut self, group: u64, wanted: u64, only_long: bool) -> Option<Extent> {
        let bounds = self.space.group(group);
        let mut best: Option<Extent> = None;
        let (mut from, mut seen) = (bounds.start, 0);
        while let Some(run) = self.space.run(from, bounds.end(), u64::MAX) {
            from = run.end();
            if only_long && run.blocks < wanted {
                continue;
            }
            let found = self.cut_at_buddies(group, run, wanted);
            from = found.end();
            seen += 1;
            if found.blocks == wanted {
                return Some(found);
            }
            let better = best.is_none_or(|best| match best.blocks < wanted {
                true => found.blocks > best.blocks,
                false => found.blocks > wanted && found.blocks < best.blocks,
            });
            if better {
                best = Some(found);
            }
            let enough = best.is_some_and(|best| best.blocks >= wanted);
            if seen > self.settings.mb_max_to_scan || enough && seen > self.settings.mb_min_to_scan
            {
                break;
            }
        }
        best.map(|best| Extent::new(best.start, best.blocks.min(wanted)))
    }

    /// As much of a free run as the buddies from its start on that are needed (`mb_find_extent`).
    fn cut_at_buddies(&self, group: u64, run: Extent, wanted: u64) -> Extent {
        let words = self.space.words(group);
        let start = run.start - group * GROUP_BLOCKS;
        let mut end = start;
        while end < start + run.blocks && end - start < wanted {
            let step = 1 << buddy::order_at(words, end);
            end = (end / step + 1) * step;
        }
        Extent::new(run.start, (end - start).min(run.blocks))
    }
}
