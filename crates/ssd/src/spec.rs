//! The drive file: every number that makes a drive, with its unit.
//!
//! Unknown keys are refused. [`Spec::from_toml`] names line and key of what is wrong and says what is allowed;
//! [`Spec::check`] refuses what cannot be built. The number of blocks follows from `capacity` and
//! `over_provisioning_percent`, so that capacity is a setting and not a consequence.

mod check;
mod listed;
mod mapping;
pub(crate) mod read_buffer;
mod write_buffer;

pub use crate::buffer::WritePolicy;
pub use crate::ftl::FTLS;
pub(crate) use listed::FTL;
pub use listed::{MappingKind, VICTIMS, Victim};
pub use mapping::{Faults, Gc, Mapping, Separation, Striping};
pub use read_buffer::{Prefetch, ReadBuffer};
pub use write_buffer::{BUFFERS, Cut, Drain, Oversize, WriteBuffer};

pub use fathom_base::SpecError;
use fathom_base::{Bytes, Dur, Rate};
use serde::{Deserialize, Serialize};

fathom_base::drive_kind!(Ssd = "ssd");

/// A whole drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// What the file describes.
    #[serde(default)]
    pub kind: Kind,
    /// A name for people.
    pub name: String,
    /// Bytes that the host can address.
    pub capacity: Bytes,
    /// The host link.
    pub host: Host,
    /// The flash array.
    pub flash: Flash,
    /// The translation layer.
    pub mapping: Mapping,
    /// The read buffer, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_buffer: Option<ReadBuffer>,
    /// The write buffer or cache, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_buffer: Option<WriteBuffer>,
    /// How room is made.
    #[serde(default)]
    pub gc: Gc,
    /// What fails.
    #[serde(default)]
    pub faults: Faults,
    /// What makes two measurements differ.
    #[serde(default)]
    pub noise: Noise,
}

/// The host link: commands one after another, then data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Both directions share a SATA link; NVMe has one of `bandwidth` each way.
    pub protocol: Protocol,
    /// Payload bandwidth of the link.
    pub bandwidth: Rate,
    /// Time of the controller for one command; commands queue for it.
    pub command_overhead: Dur,
    /// Further latency of every command, in parallel for all.
    #[serde(default)]
    pub latency: Dur,
    /// Commands that may be in flight; 1 is a SATA drive without NCQ.
    pub queue_depth: u32,
    /// The unit of address.
    #[serde(default = "sector")]
    pub logical_block: Bytes,
    /// The longest command.
    #[serde(default = "max_request")]
    pub max_request: Bytes,
}

/// Kinds of host link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Half duplex.
    Sata,
    /// Full duplex.
    Nvme,
}

/// The flash array. A clustered page is striped over `clustered_page / page` planes, a clustered block over
/// `clustered_block / (pages_per_block x page)` planes (`parameter-aware-io` 4.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flash {
    /// Channels, each with its own bus.
    pub channels: u32,
    /// Packages on each channel.
    pub packages_per_channel: u32,
    /// Dies in each package; a die works on one operation at a time.
    pub dies_per_package: u32,
    /// Planes in each die, which can work in step.
    pub planes_per_die: u32,
    /// Pages in a block.
    pub pages_per_block: u32,
    /// Data bytes of a page.
    pub page: Bytes,
    /// Bus rate of a channel.
    pub bus: Rate,
    /// Array to page register (tR).
    pub read: Dur,
    /// Page register to array (tPROG).
    pub program: Dur,
    /// Times of the pages of a word line, which take turns within a block, such as those of LSB, CSB and MSB pages; empty
    /// where all take `program`, which is else their mean.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub program_steps: Vec<Dur>,
    /// How programs follow one another on a die.
    #[serde(default)]
    pub program_mode: ProgramMode,
    /// Erase of a block (tBERS).
    pub erase: Dur,
    /// Bytes that the drive reads and writes as one.
    pub clustered_page: Bytes,
    /// Bytes that the drive erases as one.
    pub clustered_block: Bytes,
    /// Who goes first on a channel and on a die.
    #[serde(default)]
    pub arbitration: Arbitration,
    /// From a read's suspend command until the array is free for it (`arbitration = "suspend"` only).
    #[serde(default)]
    pub suspend_latency: Dur,
    /// Time lost by a program, a copy or an erase that goes on after reads (`arbitration = "suspend"` only).
    #[serde(default)]
    pub suspend_overhead: Dur,
    /// Whether a page is moved within its plane without crossing the bus (copy-back; no error correction on the
    /// way).
    #[serde(default)]
    pub copy_back: bool,
}

/// How programs follow one another on a die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramMode {
    /// One after the other: over the bus, then in the array.
    #[default]
    Page,
    /// The next one crosses the bus while the array works (cache program).
    Cache,
    /// Those that wait for other planes of a die and have the same page number are programmed in step (multi-plane
    /// program).
    MultiPlane,
}

/// Who goes first on a channel and on a die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// Commands slip in between transfers: a read starts in the array as soon as its die is free.
    #[default]
    CommandFirst,
    /// A read's command queues behind the transfers that were booked before it.
    InOrder,
    /// As command-first, and reads overtake the programs and erases that wait for their die.
    ReadFirst,
    /// As read-first, and a read interrupts a program, a copy or an erase in the array.
    Suspend,
}

/// What makes two measurements differ: all of it drawn from the seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Noise {
    /// Standard deviation of the command overhead, in percent of it.
    pub command_percent: f64,
    /// Standard deviation of every flash operation, in percent of it.
    pub flash_percent: f64,
    /// Mean time between two pieces of background work, each on one die; zero for none.
    pub background_interval: Dur,
    /// Mean length of a piece of background work.
    pub background_duration: Dur,
}

fn sector() -> Bytes {
    Bytes(fathom_base::SECTOR_BYTES)
}
fn max_request() -> Bytes {
    Bytes::mib(32)
}

impl Spec {
    /// Log blocks of each of `groups` groups, where the drive has `log_blocks`.
    pub(crate) fn logs_per_group(&self, log_blocks: u32, groups: u32) -> u32 {
        let least = self.mapping.kind.needs().logs_min;
        log_blocks.div_ceil(groups).max(least)
    }

    /// The mapped unit in bytes.
    pub fn unit(&self) -> u64 {
        self.mapping.unit.unwrap_or(self.flash.clustered_page).0
    }
}
