//! The layout of a drive: planes, lanes, stations, groups and clustered blocks.
//!
//! A *lane* is the set of planes over which a clustered page is striped and which operate in step. A *group* is the set
//! of lanes over which a clustered block is striped. A *station* is the unit that one flash operation occupies: the dies
//! of a lane, or the one die that several lanes share. Clustered blocks are numbered group by group; clustered page `i`
//! of a block lies on lane `i mod lanes_per_group` of its group. Dies are numbered channel first, so that neighbours lie
//! on different channels.

mod blocks;

pub(crate) use blocks::physical_units;

use crate::spec::Spec;
use blocks::{Blocks, map_units};
use fathom_base::SECTOR_BYTES;

/// Division by a number that is fixed at construction and is often a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Divisor {
    by: u32,
    /// log2 of `by`, or 64 if `by` is not a power of two.
    shift: u32,
    /// 2^64 / `by`, rounded up; 0 if `by` is a power of two.
    inverse: u64,
}

impl Divisor {
    /// Prepares a division by a number other than zero.
    pub(crate) fn new(by: u32) -> Self {
        let power = by.is_power_of_two();
        Self {
            by,
            shift: if power { by.trailing_zeros() } else { 64 },
            inverse: if power || by == 0 {
                0
            } else {
                u64::MAX / u64::from(by) + 1
            },
        }
    }

    /// Returns the quotient and the remainder.
    #[inline]
    fn split(self, n: u64) -> (u32, u32) {
        if self.shift < 64 {
            ((n >> self.shift) as u32, n as u32 & (self.by - 1))
        } else {
            let by = u64::from(self.by);
            ((n / by) as u32, (n % by) as u32)
        }
    }

    /// Returns the quotient and the remainder of a 32-bit number without a division instruction (Lemire, Kaser and Kurz,
    /// "Faster remainder by direct computation", Software: Practice and Experience 49(6), 2019).
    #[inline]
    pub(crate) fn split_u32(self, n: u32) -> (u32, u32) {
        let quotient = if self.shift < 64 {
            n >> self.shift
        } else {
            ((u128::from(self.inverse) * u128::from(n)) >> 64) as u32
        };
        (quotient, n - quotient * self.by)
    }
}

/// The divisors that the hot path uses.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Divisors {
    /// Sectors in a clustered page, and in a mapped unit.
    line: Divisor,
    unit: Divisor,
    /// Mapped units in a clustered page, and in a clustered block.
    cpage: Divisor,
    cblock: Divisor,
    /// Clustered pages in a clustered block, clustered blocks in a group, lanes in a group, stations.
    cpages: Divisor,
    group: Divisor,
    lanes: Divisor,
    stations: Divisor,
}

/// How dies form stations and lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Dies {
    /// Dies of the drive.
    count: u32,
    per_station: u32,
    /// Planes that a lane has on each of its dies.
    planes_per_lane: u32,
}

/// The blocks of the fast cache; all 0 without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FastBlocks {
    /// Clustered blocks of a group for the static part; part of `reserve_cblocks`.
    pub(crate) cblocks_per_group: u32,
    /// Mapped units of a clustered block in SLC mode.
    pub(crate) units_per_cblock: u32,
}

/// The derived layout of a drive. All fields are counts; `cpage` means clustered page, `cblock` clustered block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Channels.
    pub channels: u32,
    /// Stations: the units that one flash operation occupies.
    pub stations: u32,
    /// Groups of lanes over which a clustered block is striped.
    pub groups: u32,
    /// Lanes in a group.
    pub lanes_per_group: u32,
    /// Clustered blocks in a group, over-provisioning included.
    pub cblocks_per_group: u32,
    /// Clustered blocks of a group that are reserved for open blocks and block exchanges, in addition to the spare blocks
    /// that the spec asks for.
    pub reserve_cblocks: u32,
    /// Mapped units of a clustered block that may stay empty: the rest of a page that cannot be programmed again.
    pub units_lost_per_cblock: u32,
    /// Clustered pages in a clustered block.
    pub cpages_per_cblock: u32,
    /// Mapped units in a clustered page.
    pub units_per_cpage: u32,
    /// Mapped units in a clustered block.
    pub units_per_cblock: u32,
    /// Sectors in a mapped unit.
    pub sectors_per_unit: u32,
    /// Sectors in a clustered page.
    pub(crate) sectors_per_cpage: u32,
    /// Sectors in a flash page.
    pub(crate) sectors_per_page: u32,
    /// Mapped units that the host can address.
    pub logical_units: u32,
    /// Mapped units of a mapping table stored in flash; their numbers follow those of the host's units.
    pub map_units: u32,
    /// Clustered blocks of a group that are bad from the start.
    pub bad_cblocks_per_group: u32,
    /// The blocks of the fast cache.
    pub(crate) fast: FastBlocks,
    /// Capacity in clustered blocks.
    pub(crate) logical_cblocks: u32,
    by: Divisors,
    dies: Dies,
}

/// Number of stations of a checked flash array. A station is a die, or as many dies as a clustered page needs.
pub(crate) fn stations(spec: &Spec) -> u32 {
    let flash = &spec.flash;
    let dies = flash.channels * flash.packages_per_channel * flash.dies_per_package;
    let width = (flash.clustered_page.0 / flash.page.0) as u32;
    dies / (width / flash.planes_per_die).max(1)
}

impl Geometry {
    /// Derives the layout from a checked spec.
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
        let units_per_cpage = (flash.clustered_page.0 / spec.unit()) as u32;
        let blocks = Blocks::of(spec);
        let stations = stations(spec);
        let cblocks_per_group = (blocks.share + blocks.spare) as u32;
        let cpages_per_cblock = (flash.clustered_block.0 / flash.clustered_page.0) as u32;
        Geometry {
            channels: flash.channels,
            stations,
            groups,
            lanes_per_group: wide / width,
            cblocks_per_group,
            reserve_cblocks: blocks.reserve as u32,
            units_lost_per_cblock: blocks.units_lost as u32,
            cpages_per_cblock,
            units_per_cpage,
            units_per_cblock,
            sectors_per_unit: (spec.unit() / SECTOR_BYTES) as u32,
            sectors_per_cpage: (flash.clustered_page.0 / SECTOR_BYTES) as u32,
            sectors_per_page: (flash.page.0 / SECTOR_BYTES) as u32,
            logical_units: logical_cblocks * units_per_cblock,
            map_units: map_units(spec) as u32,
            bad_cblocks_per_group: blocks.bad as u32,
            fast: FastBlocks {
                cblocks_per_group: blocks.fast as u32,
                units_per_cblock: blocks.fast_cpages as u32 * units_per_cpage,
            },
            logical_cblocks,
            by: Divisors {
                line: Divisor::new((flash.clustered_page.0 / SECTOR_BYTES) as u32),
                unit: Divisor::new((spec.unit() / SECTOR_BYTES) as u32),
                cpage: Divisor::new(units_per_cpage),
                cblock: Divisor::new(units_per_cblock),
                cpages: Divisor::new(cpages_per_cblock),
                group: Divisor::new(cblocks_per_group),
                lanes: Divisor::new(wide / width),
                stations: Divisor::new(stations),
            },
            dies: Dies {
                count: dies,
                per_station: (width / flash.planes_per_die).max(1),
                planes_per_lane: width.min(flash.planes_per_die),
            },
        }
    }

    /// Clustered blocks of a group that hold its share of the capacity.
    pub fn data_cblocks_per_group(&self) -> u32 {
        self.logical_cblocks.div_ceil(self.groups)
    }

    /// Total number of clustered blocks.
    pub(crate) fn cblocks(&self) -> u32 {
        self.groups * self.cblocks_per_group
    }

    /// Total number of physical mapped units.
    pub fn physical_units(&self) -> u32 {
        self.cblocks() * self.units_per_cblock
    }

    /// Returns the clustered block of a physical unit.
    #[inline]
    pub(crate) fn cblock_of_unit(&self, place: u32) -> u32 {
        self.by.cblock.split_u32(place).0
    }

    /// Returns the clustered page of a physical unit, and the index of the unit in it.
    #[inline]
    pub(crate) fn cpage_of_unit(&self, place: u32) -> (u32, u32) {
        self.by.cpage.split_u32(place)
    }

    /// Returns the mapped unit of a host sector, and the index of the sector in it.
    #[inline]
    pub(crate) fn unit_of_sector(&self, sector: u64) -> (u32, u32) {
        self.by.unit.split(sector)
    }

    /// Returns the clustered page of the host's address space that holds a sector, and the index of the sector in it.
    #[inline]
    pub(crate) fn line_of_sector(&self, sector: u64) -> (u32, u32) {
        self.by.line.split(sector)
    }

    /// Returns the group of a clustered block.
    #[inline]
    pub(crate) fn group_of_cblock(&self, cblock: u32) -> u32 {
        self.by.group.split_u32(cblock).0
    }

    /// Returns the station of a clustered page (numbered over all clustered blocks).
    #[inline]
    pub(crate) fn station_of_cpage(&self, cpage: u32) -> u32 {
        self.station_of_lane(self.lane_of_cpage(cpage))
    }

    /// Returns the lane (numbered over all groups) of a clustered page.
    #[inline]
    pub(crate) fn lane_of_cpage(&self, cpage: u32) -> u32 {
        self.lane_and_number(cpage).0
    }

    /// Returns the lane (numbered over all groups) of a clustered page, and the number of the page on that lane within
    /// its clustered block.
    #[inline]
    pub(crate) fn lane_and_number(&self, cpage: u32) -> (u32, u32) {
        let (cblock, in_block) = self.by.cpages.split_u32(cpage);
        let (number, lane_in_group) = self.by.lanes.split_u32(in_block);
        let first = self.group_of_cblock(cblock) * self.lanes_per_group;
        (first + lane_in_group, number)
    }

    /// Returns the index of a lane among the lanes that share its station, and the station.
    #[inline]
    pub(crate) fn station_and_plane(&self, lane: u32) -> (u32, u32) {
        self.by.stations.split_u32(lane)
    }

    /// Returns the station of lane `lane`.
    #[inline]
    pub(crate) fn station_of_lane(&self, lane: u32) -> u32 {
        self.by.stations.split_u32(lane).1
    }

    /// Returns the station of lane `lane` of a clustered block's group; lanes that share a die have the same station.
    #[inline]
    pub(crate) fn station_of_cblock(&self, cblock: u32, lane: u32) -> u32 {
        self.station_of_lane(self.group_of_cblock(cblock) * self.lanes_per_group + lane)
    }

    /// Returns the channel of each plane of station `station`, in the order of the pages of a clustered page.
    pub(crate) fn planes_of_station(&self, station: u32) -> Vec<u32> {
        let dies = &self.dies;
        let first = station * dies.per_station;
        let per_die = dies.planes_per_lane as usize;
        (first..(first + dies.per_station).min(dies.count))
            .flat_map(|die| std::iter::repeat_n(die % self.channels, per_die))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisors_divide() {
        let mut rng = fathom_base::Rng::new(1, 0);
        for _ in 0..200_000 {
            let by = (rng.next_u64() as u32 >> rng.below(32)).max(1);
            let n = rng.next_u64() as u32 >> rng.below(32);
            for n in [
                n,
                u32::MAX,
                u32::MAX / by * by,
                (u32::MAX / by * by).wrapping_sub(1),
            ] {
                let split = Divisor::new(by).split_u32(n);
                assert_eq!(split, (n / by, n % by), "{n} / {by}");
            }
        }
    }
}
