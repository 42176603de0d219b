//! The drive file of the model: all parameters of a drive, with their units.
//!
//! Omitted values are those of `epo` Table I. Unknown keys are refused.

mod check;

use fathom_base::SpecError;
use fathom_base::{Bytes, Dur, Rate};
use serde::{Deserialize, Serialize};

fathom_base::drive_kind!(Disksim = "disksim");

/// The parameters of a drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Spec {
    /// The kind of drive that the file describes.
    #[serde(default)]
    pub kind: Kind,
    /// Name of the drive, for people.
    pub name: String,
    /// Elements (packages), each with its own pins; 1 to 4096.
    pub elements: u32,
    /// Consecutive host pages in one element, 1 to 65536.
    pub stride: u32,
    /// Structure of an element.
    pub element: Element,
    /// Durations of the operations.
    pub timing: Timing,
    /// Placement of writes.
    pub allocation: Allocation,
    /// Cleaning (garbage collection).
    pub cleaning: Cleaning,
    /// The driver, which limits the requests at the drive.
    pub driver: Driver,
}

/// Structure of an element.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Element {
    /// Planes, 1 to 64.
    pub planes: u32,
    /// Groups of planes that operate in parallel: 1 (the package), 2 (dies) or 4 (pairs of planes).
    pub parallel_units: u32,
    /// Blocks per plane.
    pub blocks_per_plane: u32,
    /// Pages per block, 2 to 16384; the last page holds a summary and no data.
    pub pages_per_block: u32,
    /// Data bytes per page; a multiple of 512 B.
    pub page: Bytes,
    /// Mapping of blocks to planes.
    pub plane_mapping: PlaneMapping,
    /// Whether a page can be moved within its plane without crossing the pins. Without copy-back an element writes to one
    /// block at a time.
    pub copy_back: bool,
}

/// Mapping of blocks to planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlaneMapping {
    /// Block `b` is in plane `b mod planes`.
    Stripe,
    /// Block `b` is in plane `b / blocks_per_plane`.
    Concatenate,
}

/// Durations of the operations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Timing {
    /// Time from array to page register.
    pub read: Dur,
    /// Time from page register to array.
    pub program: Dur,
    /// Erase time of a block.
    pub erase: Dur,
    /// Transfer rate of an element's pins. A sector occupies 528 bytes on them: its data and its spare bytes.
    pub pins: Rate,
    /// Transfer rate of the channel to the host.
    pub host: Rate,
    /// Delay of every command before its execution, in parallel for all commands.
    pub command_overhead: Dur,
}

/// Placement of writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Allocation {
    /// Where the new copy of a page may be placed.
    pub pool: Pool,
    /// Elements per gang, which write in step (`pool = "gang"` only); must divide the number of elements.
    pub gang: u32,
    /// Reserved space that is not exported, in percent of a plane's blocks.
    pub reserve_percent: f64,
}

/// Where the new copy of a page may be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pool {
    /// Anywhere in the gang of elements, which write in step.
    Gang,
    /// Anywhere in the element.
    Chip,
    /// In the plane of the old copy.
    Plane,
}

/// Cleaning (garbage collection).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cleaning {
    /// Share of free blocks at or below which a plane is cleaned, in percent.
    pub min_free_percent: f64,
    /// Whether an element also cleans when no request waits for it.
    pub background: bool,
    /// Whether the choice of victims considers wear: cold data is moved into worn blocks, and very worn blocks are
    /// skipped with a probability.
    pub wear_aware: bool,
    /// Number of erases that a block survives, 1 to 65534.
    pub endurance: u32,
    /// Seed of the random numbers of wear-aware cleaning.
    pub seed: u64,
}

/// The driver, which limits the requests at the drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Driver {
    /// Order of dispatch.
    pub policy: Policy,
    /// Maximum number of requests at the drive, 1 to 65536.
    pub queue_length: u32,
    /// Maximum number of requests in the driver and the drive, 1 to 1048576.
    pub depth: u32,
}

/// Order of dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// First come, first served.
    Fcfs,
    /// The lowest address at or above that of the last request, or the lowest of all if there is none: DiskSim's
    /// `CYCLE_LBN` (policy 3, C-LOOK), which the SSD extension's own parameter files select for the driver.
    Elevator,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            kind: Kind::default(),
            name: "ms-ssd".into(),
            elements: 48,
            stride: 1,
            element: Element::default(),
            timing: Timing::default(),
            allocation: Allocation::default(),
            cleaning: Cleaning::default(),
            driver: Driver::default(),
        }
    }
}

impl Default for Element {
    fn default() -> Self {
        Self {
            planes: 8,
            parallel_units: 1,
            blocks_per_plane: 2048,
            pages_per_block: 64,
            page: Bytes::kib(4),
            plane_mapping: PlaneMapping::Stripe,
            copy_back: true,
        }
    }
}

/// Converts a rate that is known not to be zero.
const fn rate(bytes_per_second: u64) -> Rate {
    match Rate::new(bytes_per_second) {
        Some(rate) => rate,
        None => panic!("a rate is never zero"),
    }
}

/// 0.025 us per byte.
const PINS: Rate = rate(40_000_000);
/// 238.4 ns per sector of 512 B.
const HOST: Rate = rate(2_147_651_007);

impl Default for Timing {
    fn default() -> Self {
        Self {
            read: Dur::us(25),
            program: Dur::us(200),
            erase: Dur::us(1500),
            pins: PINS,
            host: HOST,
            command_overhead: Dur::ZERO,
        }
    }
}

impl Default for Allocation {
    fn default() -> Self {
        Self {
            pool: Pool::Chip,
            gang: 1,
            reserve_percent: 15.0,
        }
    }
}

impl Default for Cleaning {
    fn default() -> Self {
        Self {
            min_free_percent: 5.0,
            background: false,
            wear_aware: false,
            endurance: 50,
            seed: 0,
        }
    }
}

impl Default for Driver {
    fn default() -> Self {
        Self {
            policy: Policy::Fcfs,
            queue_length: 20,
            depth: 65_536,
        }
    }
}

impl Spec {
    /// Returns the number of blocks per plane that are not exported.
    pub fn reserve_blocks(&self) -> u32 {
        percent_of(
            self.allocation.reserve_percent,
            self.element.blocks_per_plane,
        )
    }

    /// Returns the number of free blocks at or below which a plane is cleaned.
    pub fn low_blocks(&self) -> u32 {
        percent_of(
            self.cleaning.min_free_percent,
            self.element.blocks_per_plane,
        )
    }

    /// Returns the number of pages that an element exports.
    pub fn pages_per_element(&self) -> u64 {
        let e = &self.element;
        let blocks = u64::from(e.planes)
            * u64::from(e.blocks_per_plane.saturating_sub(self.reserve_blocks()));
        blocks * u64::from(e.pages_per_block.saturating_sub(1))
    }

    /// Returns the number of bytes that the host can address: whole strides only.
    pub fn capacity(&self) -> Bytes {
        let (pages, stride) = (self.pages_per_element(), u64::from(self.stride.max(1)));
        Bytes(pages / stride * stride * u64::from(self.elements) * self.element.page.0)
    }
}

/// Returns `percent` percent of `n`, rounded down and limited to `0..=n`; zero if `percent` is not a number.
fn percent_of(percent: f64, n: u32) -> u32 {
    (percent * f64::from(n) / 100.0).clamp(0.0, f64::from(n)) as u32
}
