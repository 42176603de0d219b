//! Derived numbers of a drive: counts, costs, and the initial place of every page.
//!
//! A *slot* is the position of a block in an element, numbered plane after plane. A physical page is `slot x pages +
//! page`; both count within one element.

use super::spec::{PlaneMapping, Policy, Pool, Spec};
use fathom_base::{Dur, Rate, Time};

/// Bytes of a sector on an element's pins: data and spare bytes.
const SECTOR_ON_PINS: f64 = 528.0;
/// An excess over a whole nanosecond that is smaller than this is treated as a rounding error.
const ROUNDING_NS: f64 = 0.05;

/// The counts of a drive.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) elements: u32,
    pub(super) stride: u32,
    pub(super) page_bytes: u32,
    pub(super) planes: u32,
    pub(super) units: u32,
    /// Blocks per plane.
    pub(super) blocks: u32,
    /// Pages per block, including the summary page.
    pub(super) pages: u32,
    /// Blocks per plane that hold data initially.
    pub(super) usable: u32,
    /// Pages exported per element.
    pub(super) exported: u32,
    /// A plane with this many free blocks or fewer is cleaned.
    pub(super) low: u32,
    /// The same limit for an element without copy-back.
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

/// Durations of the operations, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    pub(super) read: f64,
    pub(super) program: f64,
    /// Program of the last page of a block, including its summary: one sector over the pins and a program.
    pub(super) program_last: f64,
    pub(super) erase: f64,
    /// Transfer of a page over the pins.
    pub(super) transfer: f64,
    /// Read of a page from the array to the controller.
    pub(super) read_page: f64,
    /// Write of a page from the controller to the array; the second is for the last page of a block.
    write_page: [f64; 2],
    /// Transfer of a page over the channel to the host.
    pub(super) host: f64,
    pub(super) overhead: f64,
}

/// Converts a duration to milliseconds.
fn millis(time: Dur) -> f64 {
    time.0 as f64 / 1e6
}

/// Converts an instant to milliseconds.
#[inline]
pub(super) fn millis_at(time: Time) -> f64 {
    time.0 as f64 / 1e6
}

/// Converts an instant to whole nanoseconds, rounded up.
#[inline]
pub(super) fn time_at(millis: f64) -> Time {
    Time((millis * 1e6 + (1.0 - ROUNDING_NS)) as u64)
}

/// Returns the latest instant that [`time_at`] rounds to `time`.
#[inline]
pub(super) fn latest_at(time: Time) -> f64 {
    (time.0 as f64 + ROUNDING_NS) / 1e6
}

/// Returns the duration of a sector on the channel to the host, rounded up to 100 ps, in milliseconds.
fn host_sector(rate: Rate) -> f64 {
    rate.transfer_exact(512).as_ps().div_ceil(100) as f64 / 1e7
}

impl Costs {
    pub(super) fn new(spec: &Spec) -> Self {
        let t = &spec.timing;
        let sectors = (spec.element.page.0 / 512) as f64;
        let (read, program) = (millis(t.read), millis(t.program));
        let per_byte = 1e3 / t.pins.bytes_per_second() as f64;
        // Rounded only once, like in the reference; see the header of the crate.
        let with_transfer =
            |sectors: f64, other| (sectors * SECTOR_ON_PINS).mul_add(per_byte, other);
        let program_last = with_transfer(1.0, program) + program;
        Self {
            read,
            program,
            program_last,
            erase: millis(t.erase),
            transfer: with_transfer(sectors, 0.0),
            read_page: with_transfer(sectors, read),
            write_page: [
                with_transfer(sectors, program),
                with_transfer(sectors, program_last),
            ],
            host: sectors * host_sector(t.host),
            overhead: millis(t.command_overhead),
        }
    }

    /// Returns the time to program a page from its register; `last` is true for the last data page of a block.
    #[inline]
    pub(super) fn program_page(&self, last: bool) -> f64 {
        if last {
            self.program_last
        } else {
            self.program
        }
    }

    /// Returns the time to write a page from the controller to the array; `last` is true for the last data page of a
    /// block.
    #[inline]
    pub(super) fn write_page(&self, last: bool) -> f64 {
        self.write_page[usize::from(last)]
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

    /// Number of data pages per block.
    #[inline]
    pub(super) fn data_pages(&self) -> u32 {
        self.pages - 1
    }

    /// Number of slots per element.
    #[inline]
    pub(super) fn slots(&self) -> u32 {
        self.planes * self.blocks
    }

    /// Returns the gang of an element.
    #[inline]
    pub(super) fn gang_of(&self, element: u32) -> u32 {
        if self.gang == 1 {
            element
        } else {
            element / self.gang
        }
    }

    /// Returns the element of a host page, and the page within it.
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

    /// Returns true if a block opened with this rank still holds its initial contents.
    #[inline]
    pub(super) fn is_original(&self, sequence: u32) -> bool {
        sequence.wrapping_sub(1) < self.planes * self.usable
    }

    /// Returns the slot of the `n`-th block that holds data initially, in order of block number.
    #[inline]
    pub(super) fn full_slot(&self, n: u32) -> u32 {
        let (plane, row) = if self.stripe {
            (n % self.planes, n / self.planes)
        } else {
            (n / self.usable, n % self.usable)
        };
        plane * self.blocks + row
    }

    /// Returns the index of a slot among those that hold data initially; the inverse of [`Shape::full_slot`].
    #[inline]
    pub(super) fn full_rank(&self, slot: u32) -> u32 {
        let (plane, row) = (slot / self.blocks, slot % self.blocks);
        if self.stripe {
            row * self.planes + plane
        } else {
            plane * self.usable + row
        }
    }

    /// Returns the block number of a slot.
    #[inline]
    pub(super) fn block_number(&self, slot: u32) -> u32 {
        if self.stripe {
            slot % self.blocks * self.planes + slot / self.blocks
        } else {
            slot
        }
    }

    /// Returns the initial place of a page of an element.
    #[inline]
    pub(super) fn first_place(&self, page: u32) -> u32 {
        let n = page / self.data_pages();
        self.full_slot(n) * self.pages + page % self.data_pages()
    }

    /// Returns the initial content of a physical page, if it has any.
    #[inline]
    pub(super) fn first_page(&self, place: u32) -> u32 {
        self.full_rank(place / self.pages) * self.data_pages() + place % self.pages
    }
}
