//! Keeps the planes of a die in step (`flash.program_mode = "multi-plane"`).
//!
//! Pages of several planes are programmed together if they have the same number in their blocks (ONFI 4,
//! Multi-plane Program). A plane can get ahead of another plane of its die, because copies went into its open block
//! or because the other one waited for an erase. Such a plane gets no writes until the others have caught up. This
//! requires that each plane is a group of its own and that writes are striped dynamically.

use super::group::{Group, Open};
use crate::geometry::Geometry;
use crate::spec::ProgramMode;

/// The groups that are planes of one die: those with the same remainder modulo `dies`.
#[derive(Clone, Copy, Debug)]
pub(super) struct InStep {
    dies: usize,
    units_per_cblock: u32,
    units_per_cpage: u32,
}

impl InStep {
    /// Returns `None` where planes need not be in step.
    pub(super) fn new(mode: ProgramMode, g: &Geometry) -> Option<Self> {
        let together = mode == ProgramMode::MultiPlane;
        (together && g.lanes_per_group == 1 && g.groups > g.stations).then_some(Self {
            dies: g.stations as usize,
            units_per_cblock: g.units_per_cblock,
            units_per_cpage: g.units_per_cpage,
        })
    }

    /// Returns true if no other plane of the same die that takes pages too (`takes`) is behind `group`. Planes whose next
    /// page goes into an open block of another kind (`front_in`) do not count.
    pub(super) fn is_due(
        self,
        groups: &[Group],
        group: usize,
        front_in: impl Fn(usize) -> usize,
        takes: impl Fn(&Group) -> bool,
    ) -> bool {
        let front = front_in(group);
        let here = self.position(groups[group].open[front]);
        let all = groups.iter().enumerate();
        let mut planes = all.skip(group % self.dies).step_by(self.dies);
        planes.all(|(i, plane)| {
            !takes(plane) || self.position(plane.open[front]) >= here || front_in(i) != front
        })
    }

    /// Returns the number of the block that a group opens after the full one. A group that is whole blocks behind
    /// skips to the number of the others, so that it never has more than one block to catch up.
    pub(super) fn next_block(self, groups: &[Group], group: usize, front: usize) -> u32 {
        let planes = groups.iter().skip(group % self.dies).step_by(self.dies);
        let furthest = planes.map(|plane| plane.open[front].nth).max();
        let next = groups[group].open[front].nth.wrapping_add(1);
        furthest.map_or(next, |furthest| furthest.max(next))
    }

    /// Number of pages from the first page of block 0 on.
    fn position(self, open: Open) -> u64 {
        let units = u64::from(open.nth) * u64::from(self.units_per_cblock) + u64::from(open.next);
        units / u64::from(self.units_per_cpage)
    }
}
