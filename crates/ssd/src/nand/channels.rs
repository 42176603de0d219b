//! The buses of the channels, and the channels that the planes of a station use.
//!
//! A channel counts picoseconds ([`fathom_base::bus`]) so that back-to-back transfers keep their exact rate; the end of a
//! transfer is rounded up only once.

use super::job::Place;
use crate::geometry::Geometry;
use crate::spec::Spec;
use fathom_base::{Bus, Exact, Rate, SECTOR_BYTES, Time};

#[derive(Clone, Debug)]
pub(super) struct Channels {
    rate: Rate,
    sectors_per_page: u32,
    /// Duration of the transfer of a whole page.
    whole_page: Exact,
    buses: Vec<Bus>,
    /// Channel of each plane of each station, `width` entries per station.
    planes: Vec<u32>,
    width: usize,
}

impl Channels {
    pub(super) fn new(spec: &Spec, g: &Geometry) -> Self {
        let stations = 0..g.stations;
        let planes: Vec<u32> = stations.flat_map(|s| g.planes_of_station(s)).collect();
        let page_bytes = u64::from(g.sectors_per_page) * SECTOR_BYTES;
        Self {
            rate: spec.flash.bus,
            sectors_per_page: g.sectors_per_page,
            whole_page: spec.flash.bus.transfer_exact(page_bytes),
            buses: vec![Bus::default(); g.channels as usize],
            width: planes.len() / g.stations as usize,
            planes,
        }
    }

    /// Returns true if two stations share a channel.
    pub(super) fn are_shared(&self) -> bool {
        let mut channels = self.planes.clone();
        channels.dedup();
        channels.sort_unstable();
        channels.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// Returns the time from `now` on at which the channel of the first page of a place is free.
    pub(super) fn free_at(&self, station: u32, place: Place, now: Time) -> Time {
        let plane = (place.first / self.sectors_per_page) as usize;
        let channel = self.planes[station as usize * self.width + plane % self.width];
        now.max(self.buses[channel as usize].free_at().ceil())
    }

    /// Books the channels of a place's planes from `now` on. Returns the end of the last transfer.
    #[inline]
    pub(super) fn transfer(&mut self, station: u32, place: Place, now: Time) -> Time {
        if self.width == 1 && place.sectors == self.sectors_per_page {
            let channel = self.planes[station as usize];
            let (_, end) = self.buses[channel as usize].book(now, self.whole_page);
            return end.ceil();
        }
        self.transfer_parts(station, place, now)
    }

    fn transfer_parts(&mut self, station: u32, place: Place, now: Time) -> Time {
        let mut last = Exact::default();
        let (mut sector, end) = (place.first, place.first + place.sectors);
        while sector < end {
            let plane = sector / self.sectors_per_page;
            let upto = ((plane + 1) * self.sectors_per_page).min(end);
            let length = if upto - sector == self.sectors_per_page {
                self.whole_page
            } else {
                let bytes = u64::from(upto - sector) * SECTOR_BYTES;
                self.rate.transfer_exact(bytes)
            };
            let channel = self.planes[station as usize * self.width + plane as usize % self.width];
            let (_, end) = self.buses[channel as usize].book(now, length);
            last = last.max(end);
            sector = upto;
        }
        now.max(last.ceil())
    }

    /// Size of the tables in bytes.
    pub(super) fn state_bytes(&self) -> usize {
        self.planes.capacity() * 4 + self.buses.capacity() * size_of::<Bus>()
    }

    /// Removes all bookings.
    pub(super) fn clear(&mut self) {
        self.buses.fill(Bus::default());
    }
}
