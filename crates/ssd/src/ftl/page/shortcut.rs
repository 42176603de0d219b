//! Two shortcuts around the map of a large drive, which does not fit into any processor cache: entries are
//! prefetched before they are needed, and the map is not read where the address alone says enough about the place.
//!
//! Only this file and two calls in the engine know of them. They change no result. Measured with
//! `crates/model/examples/performance.rs` on `epo` (161 GiB), without and with: random reads 2.4 and 10.6 million
//! per second with [`AnyFtl::home`], random writes to a new drive 2.8 and 3.5 million per second with
//! [`AnyFtl::fetch`].

use super::PageFtl;
use crate::ftl::AnyFtl;
use fathom_base::Lpn;

/// What the address of a unit alone says about its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// Nothing: the map must be read.
    Anywhere,
    /// The unit was never written, or was trimmed.
    Nowhere,
    /// The unit is on this station. The page within the station does not affect timing.
    Station(u32),
}

impl AnyFtl {
    /// Prefetches the memory that holds the place of a unit.
    #[inline]
    pub(crate) fn fetch(&self, lpn: Lpn) {
        if let AnyFtl::Page(ftl) = self {
            ftl.map.fetch(lpn.index());
        }
    }

    /// Returns what is known about the place of a unit without reading the map.
    #[inline]
    pub(crate) fn home(&self, lpn: Lpn) -> Home {
        match self {
            AnyFtl::Page(ftl) => ftl.home(lpn),
            _ => Home::Anywhere,
        }
    }
}

impl PageFtl {
    #[inline]
    fn home(&self, lpn: Lpn) -> Home {
        // All pages of a group are equivalent if the group has one lane and a clustered page is one page.
        // They are not if some of them are in SLC mode.
        let alike = self.g.lanes_per_group == 1
            && self.g.sectors_per_cpage == self.g.sectors_per_page
            && self.cache.is_none();
        match (&self.stripes, self.map.holds(lpn.index())) {
            (Some(stripes), Some(true)) if alike => {
                Home::Station(self.g.station_of_lane(stripes.group_of(lpn.0)))
            }
            (Some(_), Some(false)) => Home::Nowhere,
            _ => Home::Anywhere,
        }
    }
}
