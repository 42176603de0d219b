//! Planes of one die that are filled in step (`flash.program_mode = "multi-plane"`).
//!
//! Pages of several planes are programmed together where they have the same number in their blocks (ONFI 4, Multi-plane
//! Program). So a plane that is ahead of another one of its die, because copies went into its open block or because the
//! other one waited for an erase, is left out until the others have caught up. It works where each plane is a group
//! of its own and pages go where the turn is.

use super::group::{Group, Open};
use crate::geometry::Geometry;
use crate::spec::ProgramMode;

/// Which groups are planes of one die: those with the same remainder.
#[derive(Clone, Copy, Debug)]
pub(super) struct InStep {
    dies: usize,
    units_per_cblock: u32,
    units_per_cpage: u32,
}

impl InStep {
    /// `None` where planes need not be in step.
    pub(super) fn new(mode: ProgramMode, g: &Geometry) -> Option<Self> {
        let together = mode == ProgramMode::MultiPlane;
        (together && g.lanes_per_group == 1 && g.groups > g.stations).then_some(Self {
            dies: g.stations as usize,
            units_per_cblock: g.units_per_cblock,
            units_per_cpage: g.units_per_cpage,
        })
    }

    /// Whether no other plane of its die that takes pages too (`takes`) is behind a group.
    pub(super) fn is_due(
        self,
        groups: &[Group],
        group: usize,
        front: usize,
        takes: impl Fn(&Group) -> bool,
    ) -> bool {
        let here = self.position(groups[group].open[front]);
        let mut planes = groups.iter().skip(group % self.dies).step_by(self.dies);
        planes.all(|plane| !takes(plane) || self.position(plane.open[front]) >= here)
    }

    /// Which block of its die a group opens after `full`: of one that is blocks behind, that of the others, so that it
    /// has no more to catch up with than a block.
    pub(super) fn next_block(self, groups: &[Group], group: usize, front: usize) -> u32 {
        let planes = groups.iter().skip(group % self.dies).step_by(self.dies);
        let furthest = planes.map(|plane| plane.open[front].nth).max();
        let next = groups[group].open[front].nth.wrapping_add(1);
        furthest.map_or(next, |furthest| furthest.max(next))
    }

    /// Pages from the first one of the first block.
    fn position(self, open: Open) -> u64 {
        let units = u64::from(open.nth) * u64::from(self.units_per_cblock) + u64::from(open.next);
        units / u64::from(self.units_per_cpage)
    }
}
