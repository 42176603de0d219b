//! Where things are: planes, lanes, stripes, clustered blocks.
//!
//! A *lane* is the set of planes that a clustered page is striped over and that work in step. A *group* is the
//! set of lanes that a clustered block is striped over. A *station* is what one operation occupies: the dies of
//! a lane, or the one die that several lanes share. Clustered blocks are numbered group by group; clustered
//! page `i` of a block lies on lane `i mod lanes_per_group` of its group. Dies are numbered channel first, so
//! that neighbours lie on different channels.

use crate::spec::Spec;
use fathom_base::SECTOR_BYTES;

/// The derived layout of a drive. Counts, all of them; `cpage` is a clustered page, `cblock` a clustered block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Channels.
    pub channels: u32,
    /// Stations: what one flash operation occupies.
    pub stations: u32,
    /// Groups of lanes that a clustered block is striped over.
    pub groups: u32,
    /// Lanes in a group.
    pub lanes_per_group: u32,
    /// Clustered blocks in a group, over-provisioning included.
    pub cblocks_per_group: u32,
    /// Clustered pages in a clustered block.
    pub cpages_per_cblock: u32,
    /// Mapped units in a clustered page.
    pub units_per_cpage: u32,
    /// Mapped units in a clustered block.
    pub units_per_cblock: u32,
    /// Sectors in a mapped unit.
    pub sectors_per_unit: u32,
    /// Sectors in a clustered page.
    pub sectors_per_cpage: u32,
    /// Sectors in a flash page.
    pub sectors_per_page: u32,
    /// Mapped units that the host can address.
    pub logical_units: u32,
    /// Clustered blocks' worth of capacity.
    pub logical_cblocks: u32,
    dies: u32,
    dies_per_station: u32,
    planes_per_lane_die: u32,
}

impl Geometry {
    /// The layout of a checked spec.
    pub fn new(spec: &Spec) -> Geometry {
        let flash = &spec.flash;
        let dies = flash.channels * flash.packages_per_channel * flash.dies_per_package;
        let width = (flash.clustered_page.0 / flash.page.0) as u32;
        let block = flash.page.0 * u64::from(flash.pages_per_block);
        let wide = (flash.clustered_block.0 / block) as u32;
        let planes = dies * flash.planes_per_die;
        let groups = planes / wide;
        let units_per_cblock = (flash.clustered_block.0 / spec.unit()) as u32;
        let logical_cblocks = (spec.capacity.0 / flash.clustered_block.0) as u32;
        let share = logical_cblocks.div_ceil(groups);
        let over =
            (f64::from(share) * spec.mapping.over_provisioning_percent / 100.0).round() as u32;
        let logs = spec.mapping.log_blocks.div_ceil(groups);
        // Two open blocks and two in exchange beyond what the user asked for: without them nothing can move.
        let spare = over.max(logs) + crate::ftl::RESERVE_CBLOCKS;
        Geometry {
            channels: flash.channels,
            stations: dies / (width / flash.planes_per_die).max(1),
            groups,
            lanes_per_group: wide / width,
            cblocks_per_group: share + spare,
            cpages_per_cblock: (flash.clustered_block.0 / flash.clustered_page.0) as u32,
            units_per_cpage: (flash.clustered_page.0 / spec.unit()) as u32,
            units_per_cblock,
            sectors_per_unit: (spec.unit() / SECTOR_BYTES) as u32,
            sectors_per_cpage: (flash.clustered_page.0 / SECTOR_BYTES) as u32,
            sectors_per_page: (flash.page.0 / SECTOR_BYTES) as u32,
            logical_units: logical_cblocks * units_per_cblock,
            logical_cblocks,
            dies,
            dies_per_station: (width / flash.planes_per_die).max(1),
            planes_per_lane_die: width.min(flash.planes_per_die),
        }
    }

    /// Clustered blocks in all.
    pub fn cblocks(&self) -> u32 {
        self.groups * self.cblocks_per_group
    }

    /// Physical mapped units in all.
    pub fn physical_units(&self) -> u32 {
        self.cblocks() * self.units_per_cblock
    }

    /// The station that works on a clustered page (numbered over all clustered blocks).
    #[inline]
    pub(crate) fn station_of_cpage(&self, cpage: u32) -> u32 {
        let cblock = cpage / self.cpages_per_cblock;
        let group = cblock / self.cblocks_per_group;
        let lane_in_group = (cpage % self.cpages_per_cblock) % self.lanes_per_group;
        self.station_of_lane(group * self.lanes_per_group + lane_in_group)
    }

    /// The station that lane `lane` lies on.
    #[inline]
    pub(crate) fn station_of_lane(&self, lane: u32) -> u32 {
        lane % self.stations
    }

    /// The stations of a clustered block, which an erase occupies, may repeat where lanes share a die.
    pub(crate) fn stations_of_cblock(&self, cblock: u32) -> impl Iterator<Item = u32> + '_ {
        let group = cblock / self.cblocks_per_group;
        (0..self.lanes_per_group)
            .map(move |l| self.station_of_lane(group * self.lanes_per_group + l))
    }

    /// The channels of station `station` and how many planes of a clustered page lie on each, in page order.
    pub(crate) fn planes_of_station(&self, station: u32) -> Vec<u32> {
        let first = station * self.dies_per_station;
        let per_die = self.planes_per_lane_die as usize;
        (first..(first + self.dies_per_station).min(self.dies))
            .flat_map(|die| std::iter::repeat_n(die % self.channels, per_die))
            .collect()
    }
}
