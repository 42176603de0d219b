//! Numbers of a drive, worked out once: counts, costs, and where everything is at the start.
//!
//! A *slot* is a block by its place in an element, plane after plane. A physical page is `slot x pages + page`; both
//! count within one element.

use super::spec::{PlaneMapping, Policy, Pool, Spec};
use fathom_base::{Dur, Rate};

/// Ticks in a nanosecond: in steps of 100 ps the reference's times are whole numbers.
pub(super) const TICKS_PER_NS: u64 = 10;
/// Data and spare bytes of a sector on an element's pins.
const SECTOR_ON_PINS: u64 = 528;

/// Counts.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) elements: u32,
    pub(super) stride: u32,
    pub(super) page_bytes: u32,
    pub(super) planes: u32,
    pub(super) units: u32,
    /// Blocks in a plane.
    pub(super) blocks: u32,
    /// Pages in a block, with the summary.
    pub(super) pages: u32,
    /// Blocks in a plane that hold data at the start.
    pub(super) usable: u32,
    /// Pages that an element exports.
    pub(super) exported: u32,
    /// Free blocks at or below which a plane is cleaned.
    pub(super) low: u32,
    /// The same for an element without copy-back.
    pub(super) low_element: u32,
    pub(super) endurance: u32,
    pub(super) gang: u32,
    pub(super) stripe: bool,
    pub(super) copy_back: bool,
    pub(super) in_plane: bool,
    pub(super) in_gangs: bool,
    pub(super) background: bool,
    pub(super) wear_aware: bool,
    pub(super) elevator: bool,
}

/// What things cost, in ticks of 100 ps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    pub(super) read: u64,
    pub(super) program: u64,
    pub(super) erase: u64,
    /// A page over the pins.
    pub(super) transfer: u64,
    /// The summary of a block: one sector over the pins, and its program.
    pub(super) summary: u64,
    /// A page over the channel to the host.
    pub(super) host: u64,
    pub(super) overhead: u64,
}

fn ticks(time: Dur) -> u64 {
    time.0 * TICKS_PER_NS
}

/// The time of a transfer, rounded up.
fn transfer(rate: Rate, bytes: u64) -> u64 {
    rate.transfer_ps(bytes).div_ceil(1_000 / TICKS_PER_NS)
}

impl Costs {
    pub(super) fn new(spec: &Spec) -> Self {
        let t = &spec.timing;
        let sectors = spec.element.page.0 / 512;
        Self {
            read: ticks(t.read),
            program: ticks(t.program),
            erase: ticks(t.erase),
            transfer: sectors * transfer(t.pins, SECTOR_ON_PINS),
            summary: transfer(t.pins, SECTOR_ON_PINS) + ticks(t.program),
            host: sectors * transfer(t.host, 512),
            overhead: ticks(t.command_overhead),
        }
    }
}

impl Shape {
    pub(super) fn new(spec: &Spec) -> Self {
        let (e, a, c) = (&spec.element, &spec.allocation, &spec.cleaning);
        let all = e.planes * e.blocks_per_plane;
        let low_element = c.min_free_percent * f64::from(all) / 100.0;
        Self {
            elements: spec.elements,
            stride: spec.stride,
            page_bytes: e.page.0 as u32,
            planes: e.planes,
            units: e.parallel_units,
            blocks: e.blocks_per_plane,
            pages: e.pages_per_block,
            usable: e.blocks_per_plane - spec.reserve_blocks(),
            exported: spec.pages_per_element() as u32,
            low: spec.low_blocks(),
            low_element: low_element as u32,
            endurance: c.endurance,
            gang: a.gang,
            stripe: e.plane_mapping == PlaneMapping::Stripe,
            copy_back: e.copy_back,
            in_gangs: a.pool == Pool::Gang,
            in_plane: a.pool == Pool::Plane,
            background: c.background,
            wear_aware: c.wear_aware,
            elevator: spec.driver.policy == Policy::Elevator,
        }
    }

    /// Pages of a block that hold data.
    #[inline]
    pub(super) fn data_pages(&self) -> u32 {
        self.pages - 1
    }

    /// Slots in an element.
    #[inline]
    pub(super) fn slots(&self) -> u32 {
        self.planes * self.blocks
    }

    /// The gang of an element.
    #[inline]
    pub(super) fn gang_of(&self, element: u32) -> u32 {
        if self.gang == 1 {
            element
        } else {
            element / self.gang
        }
    }

    /// The element of a page of the host, and the page within it.
    #[inline]
    pub(super) fn place(&self, page: u64) -> (u32, u32) {
        let page = page as u32;
        if self.stride == 1 {
            return (page % self.elements, page / self.elements);
        }
        let (run, rest) = (page / self.stride, page % self.stride);
        (
            run % self.elements,
            run / self.elements * self.stride + rest,
        )
    }

    /// Whether a block opened by that rank holds what it held at the start.
    #[inline]
    pub(super) fn is_original(&self, sequence: u32) -> bool {
        sequence.wrapping_sub(1) < self.planes * self.usable
    }

    /// The slot of the `n`-th of the blocks that hold data at the start, in order of block number.
    #[inline]
    pub(super) fn full_slot(&self, n: u32) -> u32 {
        let (plane, row) = if self.stripe {
            (n % self.planes, n / self.planes)
        } else {
            (n / self.usable, n % self.usable)
        };
        plane * self.blocks + row
    }

    /// Of a slot that holds data at the start, which of those it is.
    #[inline]
    pub(super) fn full_rank(&self, slot: u32) -> u32 {
        let (plane, row) = (slot / self.blocks, slot % self.blocks);
        if self.stripe {
            row * self.planes + plane
        } else {
            plane * self.usable + row
        }
    }

    /// The number of the block in a slot.
    #[inline]
    pub(super) fn block_number(&self, slot: u32) -> u32 {
        if self.stripe {
            slot % self.blocks * self.planes + slot / self.blocks
        } else {
            slot
        }
    }

    /// Where a page of an element is at the start.
    #[inline]
    pub(super) fn first_place(&self, page: u32) -> u32 {
        let n = page / self.data_pages();
        self.full_slot(n) * self.pages + page % self.data_pages()
    }

    /// What a physical page holds at the start, where it holds anything.
    #[inline]
    pub(super) fn first_page(&self, place: u32) -> u32 {
        self.full_rank(place / self.pages) * self.data_pages() + place % self.pages
    }
}
