//! How the items of a leaf are divided among the leaf, its neighbours and new leaves.
//!
//! As `fs/reiserfs/fix_node.c` of Linux 6.1 decides: as few new leaves as possible, then as few changed neighbours as
//! possible, and the left one rather than the right one. Items are divided only where that saves a leaf.

use super::item::{HEAD, Item, ROOM};

/// A place between units: before a unit of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cut {
    item: usize,
    unit: usize,
}

/// What becomes of a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    Stay,
    /// What is before the cut goes to the left neighbour, the rest to the right one, and the leaf is gone.
    Remove(Cut),
    /// What is before the first cut goes to the left neighbour, what is behind the last one to the right one, and the others
    /// divide the rest between the leaf and new ones.
    Divide(Vec<Cut>),
}

/// The items of a leaf whose change may not fit, with the room in its neighbours.
#[derive(Debug)]
pub(super) struct Overfull<'a> {
    pub(super) items: &'a [Item],
    pub(super) used: u32,
    pub(super) left: u32,
    pub(super) right: u32,
    /// Whether the right neighbour's first item continues the last one.
    pub(super) continued: bool,
}

/// A part of the items, and whether items of it may be divided.
#[derive(Clone, Copy)]
struct Part {
    from: Cut,
    end: Cut,
    flow: bool,
}

impl Cut {
    fn new(item: usize, unit: usize) -> Self {
        Self { item, unit }
    }

    /// The place before its item.
    fn whole(self) -> Self {
        Self::new(self.item, 0)
    }
}

impl Overfull<'_> {
    fn begin(&self) -> Cut {
        Cut::new(0, 0)
    }

    fn end(&self) -> Cut {
        Cut::new(self.items.len(), 0)
    }

    /// Bytes that are saved if the first item joins the last one of the left neighbour.
    fn saved_left(&self) -> u32 {
        let continues = self.items.first().is_some_and(Item::continues);
        if continues { HEAD } else { 0 }
    }

    fn saved_right(&self) -> u32 {
        if self.continued { HEAD } else { 0 }
    }

    /// Whether all goes into the left neighbour.
    pub(super) fn fits_left(&self) -> bool {
        self.left + self.saved_left() >= self.used
    }

    /// Whether all goes into the right neighbour.
    pub(super) fn fits_right(&self) -> bool {
        self.right + self.saved_right() >= self.used
    }

    /// Whether the leaf and both neighbours go into one.
    pub(super) fn fits_one(&self) -> bool {
        ROOM + self.used <= self.left + self.right + self.saved_left() + self.saved_right()
    }

    /// What fits into the left neighbour (`check_left`).
    fn to_left(&self) -> Cut {
        let (mut room, mut saved) = (self.left, self.saved_left());
        for (index, item) in self.items.iter().enumerate() {
            let bytes = item.bytes() - saved;
            if bytes <= room {
                room -= bytes;
            } else {
                let room = room.saturating_sub(HEAD - saved);
                return Cut::new(index, item.fit_from(0, item.units(), room));
            }
            saved = 0;
        }
        self.end()
    }

    /// What fits into the right neighbour (`check_right`).
    fn to_right(&self) -> Cut {
        let (mut room, mut saved) = (self.right, self.saved_right());
        for (index, item) in self.items.iter().enumerate().rev() {
            let bytes = item.bytes() - saved;
            if bytes <= room {
                room -= bytes;
            } else {
                let units = item.fit_behind(room.saturating_sub(HEAD - saved));
                return match units {
                    0 => Cut::new(index + 1, 0),
                    units => Cut::new(index, item.units() - units),
                };
            }
            saved = 0;
        }
        self.begin()
    }

    /// Where all can be divided between the neighbours (`is_leaf_removable`).
    pub(super) fn removable(&self) -> Option<Cut> {
        let (left, right) = (self.to_left(), self.to_right());
        if left.item >= self.items.len() {
            return Some(left);
        }
        let whole_right = if right.unit > 0 {
            right.item + 1
        } else {
            right.item
        };
        if whole_right <= left.item {
            return Some(left.whole());
        }
        // A single remaining item may be divided.
        let single = whole_right == left.item + 1 && left.unit > 0 && right.unit > 0;
        (single && right.unit <= left.unit).then_some(left)
    }

    /// The cuts between nodes if a part is packed into as few as possible (`get_num_ver`).
    fn pack(&self, part: Part) -> Vec<Cut> {
        let mut cuts = Vec::new();
        let (mut at, mut total, mut flow) = (part.from, 0, part.flow);
        while at < part.end && at.item < self.items.len() {
            let item = &self.items[at.item];
            let end = match at.item == part.end.item {
                true => part.end.unit,
                false => item.units(),
            };
            let bytes = HEAD + item.part(at.unit, end);
            if total + bytes <= ROOM {
                total += bytes;
                at = Cut::new(at.item + 1, 0);
                continue;
            }
            flow |= bytes > ROOM;
            let room = ROOM.saturating_sub(total + HEAD);
            let units = if flow {
                item.fit_from(at.unit, end, room)
            } else {
                0
            };
            if units == 0 && total == 0 {
                // A single unit always fits into an empty node.
                break;
            }
            at.unit += units;
            cuts.push(at);
            total = 0;
        }
        cuts
    }

    /// Packs a part without dividing items, unless dividing needs fewer nodes; `whole` is the part with whole items only.
    fn best(&self, from: Cut, end: Cut) -> Vec<Cut> {
        let end_whole = match end.unit {
            0 => end,
            _ => Cut::new(end.item + 1, 0),
        };
        let part = |from, end, flow| Part { from, end, flow };
        let plain = self.pack(part(from.whole(), end_whole, false));
        let flowing = self.pack(part(from, end, true));
        let (from, end, inner) = match flowing.len() < plain.len() {
            true => (from, end, flowing),
            false => (from.whole(), end_whole, plain),
        };
        [vec![from], inner, vec![end]].concat()
    }

    /// What becomes of a leaf after an insertion (`ip_check_balance`).
    pub(super) fn inserted(&self) -> Plan {
        let fits = self.used <= ROOM;
        let saved = self.saved_left() + self.saved_right();
        if fits && self.left + self.right + saved < self.used {
            return Plan::Stay;
        }
        if let Some(cut) = self.removable() {
            return Plan::Remove(cut);
        }
        if fits {
            return Plan::Stay;
        }
        let (left, right) = (self.to_left(), self.to_right());
        let none = self.best(self.begin(), self.end());
        let to_left = self.best(left, self.end());
        let to_right = self.best(self.begin(), right);
        let to_both = self.best(left, right);
        let better = |one: &[Cut], other: &[Cut]| one.len() < other.len();
        if better(&to_both, &to_left) && better(&to_both, &to_right) {
            Plan::Divide(to_both)
        } else if none.len() == to_both.len() {
            Plan::Divide(none)
        } else if better(&to_right, &to_left) {
            Plan::Divide(to_right)
        } else {
            Plan::Divide(to_left)
        }
    }
}

/// Divides items at cuts, which are in order. Returns one part more than there are cuts.
pub(super) fn divide(items: Vec<Item>, cuts: &[Cut]) -> Vec<Vec<Item>> {
    let mut parts = vec![Vec::new()];
    let mut cuts = cuts.iter().peekable();
    for (index, mut item) in items.into_iter().enumerate() {
        let mut done = 0;
        while let Some(cut) = cuts.next_if(|cut| cut.item == index) {
            let at = cut.unit - done;
            if at > 0 {
                let rest = item.split_off(at);
                parts.extend([Vec::new()]);
                let before = parts.len() - 2;
                parts[before].push(std::mem::replace(&mut item, rest));
                done = cut.unit;
            } else {
                parts.push(Vec::new());
            }
        }
        let last = parts.len() - 1;
        parts[last].push(item);
    }
    cuts.for_each(|_| parts.push(Vec::new()));
    parts
}

/// Puts items behind others; the first joins the last one that it continues.
pub(super) fn append(left: &mut Vec<Item>, right: Vec<Item>) {
    let mut right = right.into_iter();
    if let Some(first) = right.next() {
        match left.last_mut() {
            Some(last) if first.continues() && last.continued_by(&first) => last.join(first),
            _ => left.push(first),
        }
    }
    left.extend(right);
}
