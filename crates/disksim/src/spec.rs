//! The drive file of the model: every number that makes a drive, with its unit.
//!
//! What is left out is as in `epo` Table I. Unknown keys are refused.

mod check;

use fathom_base::SpecError;
use fathom_base::{Bytes, Dur, Rate};
use serde::{Deserialize, Serialize};

fathom_base::drive_kind!(Disksim = "disksim");

/// A whole drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Spec {
    /// What the file describes.
    #[serde(default)]
    pub kind: Kind,
    /// A name for people.
    pub name: String,
    /// Elements (packages), each with pins of its own; 1 to 4096.
    pub elements: u32,
    /// Consecutive pages of the host that lie in one element, 1 to 65536.
    pub stride: u32,
    /// What an element is made of.
    pub element: Element,
    /// How long things take.
    pub timing: Timing,
    /// Where a write goes.
    pub allocation: Allocation,
    /// How room is made.
    pub cleaning: Cleaning,
    /// What holds requests back from the drive.
    pub driver: Driver,
}

/// What an element is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Element {
    /// Planes, 1 to 64.
    pub planes: u32,
    /// Groups of planes that work at the same time: 1 (the package), 2 (dies) or 4 (pairs of planes).
    pub parallel_units: u32,
    /// Blocks in a plane.
    pub blocks_per_plane: u32,
    /// Pages in a block, the last of which holds a summary and no data; 2 to 16384.
    pub pages_per_block: u32,
    /// Data bytes of a page; a multiple of 512 B.
    pub page: Bytes,
    /// In which plane a block lies.
    pub plane_mapping: PlaneMapping,
    /// Whether a page moves within its plane without crossing the pins. Without it an element writes to one block at
    /// a time.
    pub copy_back: bool,
}

/// In which plane a block lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlaneMapping {
    /// Block `b` in plane `b mod planes`.
    Stripe,
    /// Block `b` in plane `b / blocks_per_plane`.
    Concatenate,
}

/// How long things take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Timing {
    /// Array to page register.
    pub read: Dur,
    /// Page register to array.
    pub program: Dur,
    /// Erase of a block.
    pub erase: Dur,
    /// Rate of an element's pins. A sector takes 528 bytes on them: its data and its spare bytes.
    pub pins: Rate,
    /// Rate of the channel to the host.
    pub host: Rate,
    /// Delay of every command before anything else, in parallel for all.
    pub command_overhead: Dur,
}

/// Where a write goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Allocation {
    /// Where the new copy of a page may be.
    pub pool: Pool,
    /// Elements in a gang, which write in step (`pool = "gang"` only); divides the elements.
    pub gang: u32,
    /// Space that is not exported, in percent of a plane's blocks.
    pub reserve_percent: f64,
}

/// Where the new copy of a page may be.
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

/// How room is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cleaning {
    /// Free blocks at or below which a plane is cleaned, in percent of its blocks.
    pub min_free_percent: f64,
    /// Whether an element cleans when nothing waits for it.
    pub background: bool,
    /// Whether victims are chosen by wear as well: cold data moves into worn blocks, and very worn ones are passed
    /// over with a probability.
    pub wear_aware: bool,
    /// Erases that a block survives, 1 to 65534.
    pub endurance: u32,
    /// The seed of what wear-aware cleaning draws.
    pub seed: u64,
}

/// What holds requests back from the drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Driver {
    /// Which request goes next.
    pub policy: Policy,
    /// Requests at the drive at a time, 1 to 65536.
    pub queue_length: u32,
    /// Requests that the driver takes in all, 1 to 1048576.
    pub depth: u32,
}

/// Which request goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// The one that has waited longest.
    Fcfs,
    /// The lowest address at or above that of the last request, and where there is none the lowest of all: DiskSim's
    /// `CYCLE_LBN` (policy 3, C-LOOK), which the SSD extension's own parameter files give the driver.
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

/// A rate that is known not to be zero.
const fn rate(bytes_per_second: u64) -> Rate {
    match Rate::new(bytes_per_second) {
        Some(rate) => rate,
        None => panic!("a rate is never zero"),
    }
}

/// 0.025 us a byte.
const PINS: Rate = rate(40_000_000);
/// 238.4 ns for each sector of 512 B.
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
    /// Blocks of a plane that are not exported.
    pub fn reserve_blocks(&self) -> u32 {
        percent_of(
            self.allocation.reserve_percent,
            self.element.blocks_per_plane,
        )
    }

    /// Free blocks at or below which a plane is cleaned.
    pub fn low_blocks(&self) -> u32 {
        percent_of(
            self.cleaning.min_free_percent,
            self.element.blocks_per_plane,
        )
    }

    /// Pages that an element exports.
    pub fn pages_per_element(&self) -> u64 {
        let e = &self.element;
        let blocks = u64::from(e.planes)
            * u64::from(e.blocks_per_plane.saturating_sub(self.reserve_blocks()));
        blocks * u64::from(e.pages_per_block.saturating_sub(1))
    }

    /// Bytes that the host can address: whole strides only.
    pub fn capacity(&self) -> Bytes {
        let (pages, stride) = (self.pages_per_element(), u64::from(self.stride.max(1)));
        Bytes(pages / stride * stride * u64::from(self.elements) * self.element.page.0)
    }
}

/// So many percent of `n`, rounded down; zero where it is no number.
fn percent_of(percent: f64, n: u32) -> u32 {
    (percent * f64::from(n) / 100.0).clamp(0.0, f64::from(n)) as u32
}
