//! The drive file: all parameters of a drive, with their units.
//!
//! Unknown keys are refused. [`Spec::from_toml`] reports the line and the key of an error and the allowed values.
//! [`Spec::check`] refuses a drive that cannot be built. The number of blocks follows from `capacity` and
//! `over_provisioning_percent`, so that the capacity is a setting and not a result.

mod check;
mod compression;
mod fast_cache;
mod host;
mod listed;
mod mapping;
pub(crate) mod read_buffer;
#[cfg(test)]
pub(crate) mod small;
mod thermal;
mod write_buffer;

pub use crate::buffer::WritePolicy;
pub use crate::ftl::FTLS;
pub use compression::Compression;
pub use fast_cache::{FastCache, Fold, WhenFull};
pub use host::{Log, Priority, QueueArbitration};
pub(crate) use listed::FTL;
pub use listed::{MappingKind, VICTIMS, Victim};
pub use mapping::{Faults, Gc, Mapping, Separation, Striping};
pub use read_buffer::{Prefetch, ReadBuffer};
pub use thermal::Thermal;
pub use write_buffer::{BUFFERS, Cut, Drain, Oversize, WriteBuffer};

pub use fathom_base::SpecError;
use fathom_base::{Bytes, Dur, Rate};
use fathom_block::layers::Limit;
use serde::{Deserialize, Serialize};

fathom_base::drive_kind!(Ssd = "ssd");

/// The parameters of a drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The kind of drive that the file describes.
    #[serde(default)]
    pub kind: Kind,
    /// Name of the drive for reports.
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
    /// The fast cache, if some blocks are programmed with one bit per cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fast_cache: Option<FastCache>,
    /// Garbage collection and wear levelling.
    #[serde(default)]
    pub gc: Gc,
    /// Bad blocks and failures of flash operations.
    #[serde(default)]
    pub faults: Faults,
    /// Compression of what the host writes, if the drive compresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression: Option<Compression>,
    /// Heat and throttling, if they are modelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thermal: Option<Thermal>,
    /// Random variation between two measurements.
    #[serde(default)]
    pub noise: Noise,
    /// Limits of a volume on the drive, if there are any. The drive itself does not know of them: `fathom_model` puts
    /// them above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
}

/// The host link. Commands are processed one after another, then their data is transferred.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Protocol. Both directions share a SATA link; an NVMe link has `bandwidth` in each direction.
    pub protocol: Protocol,
    /// Payload bandwidth of the link.
    pub bandwidth: Rate,
    /// Controller time for one command. Commands queue for it.
    pub command_overhead: Dur,
    /// Additional latency of every command. Latencies of different commands overlap.
    #[serde(default)]
    pub latency: Dur,
    /// Maximum number of commands in flight. 1 is a SATA drive without NCQ.
    pub queue_depth: u32,
    /// Size of the unit of address.
    #[serde(default = "sector")]
    pub logical_block: Bytes,
    /// Maximum length of a command.
    #[serde(default = "max_request")]
    pub max_request: Bytes,
    /// What the drive reports about itself.
    #[serde(default, skip_serializing_if = "is_default")]
    pub log: Log,
    /// Number of submission queues (NVMe). The requests of process `p` use queue `p % queues`.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub queues: u32,
    /// How the controller chooses the queue of its next command (more than one queue only).
    #[serde(default, skip_serializing_if = "is_default")]
    pub queue_arbitration: QueueArbitration,
    /// Commands that the controller takes from a queue before it takes them from another one; 0 for no limit (more than
    /// one queue only).
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub arbitration_burst: u32,
    /// Priority of each queue; all are medium by default (`queue_arbitration = "weighted"` only).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue_priorities: Vec<Priority>,
    /// Commands of high, medium and low priority in each round of arbitration; one each by default
    /// (`queue_arbitration = "weighted"` only).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue_weights: Vec<u32>,
}

/// Protocols of the host link.
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
    /// Dies in each package. A die works on one operation at a time.
    pub dies_per_package: u32,
    /// Planes in each die. They can work in step.
    pub planes_per_die: u32,
    /// Pages in a block.
    pub pages_per_block: u32,
    /// Data bytes per page.
    pub page: Bytes,
    /// Transfer rate of a channel's bus.
    pub bus: Rate,
    /// Time to read a page from the array into the page register (tR).
    pub read: Dur,
    /// Time to program a page from the page register into the array (tPROG).
    pub program: Dur,
    /// Program times of the pages of a word line, such as LSB, CSB and MSB pages, which alternate within a block. If
    /// empty, all pages take `program`; otherwise `program` must be their mean.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub program_steps: Vec<Dur>,
    /// How consecutive programs on a die overlap.
    #[serde(default)]
    pub program_mode: ProgramMode,
    /// Time to erase a block (tBERS).
    pub erase: Dur,
    /// Bytes that the drive reads and writes as one page.
    pub clustered_page: Bytes,
    /// Bytes that the drive erases as one block.
    pub clustered_block: Bytes,
    /// Priority of operations on a channel and on a die.
    #[serde(default)]
    pub arbitration: Arbitration,
    /// Time from the suspend command of a read until the array is free for it (`arbitration = "suspend"` only).
    #[serde(default)]
    pub suspend_latency: Dur,
    /// Time that a program, a copy or an erase loses each time it resumes after reads (`arbitration = "suspend"` only).
    #[serde(default)]
    pub suspend_overhead: Dur,
    /// Whether a page can be moved within its plane without crossing the bus (copy-back). There is no error correction
    /// on the way.
    #[serde(default)]
    pub copy_back: bool,
    /// Pages of a stripe over dies of which one holds the parity of the others (RAIN). 0 for no parity.
    #[serde(default, skip_serializing_if = "is_default")]
    pub parity_stripe: u32,
}

/// How consecutive programs on a die overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramMode {
    /// No overlap: each one crosses the bus, then is programmed in the array.
    #[default]
    Page,
    /// The next program crosses the bus while the array works (cache program).
    Cache,
    /// Programs that wait for different planes of a die and have the same page number are programmed in step
    /// (multi-plane program).
    MultiPlane,
}

/// Priority of operations on a channel and on a die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// Commands are sent between transfers: a read starts in the array as soon as its die is free.
    #[default]
    CommandFirst,
    /// The command of a read queues behind the transfers that were booked before it.
    InOrder,
    /// Like command-first, and reads overtake the programs and erases that wait for their die.
    ReadFirst,
    /// Like read-first, and a read suspends a program, a copy or an erase in the array.
    Suspend,
}

/// Random variation between two measurements. All of it is drawn from the seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Noise {
    /// Standard deviation of the command overhead, in percent of its mean.
    pub command_percent: f64,
    /// Standard deviation of the time of each flash operation, in percent of its mean.
    pub flash_percent: f64,
    /// Mean time between two pieces of background work, each on one die. Zero disables background work.
    pub background_interval: Dur,
    /// Mean duration of a piece of background work.
    pub background_duration: Dur,
}

fn one() -> u32 {
    1
}
fn is_one(n: &u32) -> bool {
    *n == 1
}
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
fn sector() -> Bytes {
    Bytes(fathom_base::SECTOR_BYTES)
}
fn max_request() -> Bytes {
    Bytes::mib(32)
}

impl Spec {
    /// Returns the number of log blocks in each of `groups` groups of a drive with `log_blocks`, rounded up. It is at
    /// least the minimum of the mapping.
    pub(crate) fn logs_per_group(&self, log_blocks: u32, groups: u32) -> u32 {
        let least = self.mapping.kind.needs().logs_min;
        log_blocks.div_ceil(groups).max(least)
    }

    /// Returns the bytes of the capacity that can hold data: less than all if zones can hold less than their size.
    pub(crate) fn stored(&self) -> u64 {
        let (mapping, capacity) = (&self.mapping, self.capacity.0);
        match (mapping.zone, mapping.zone_capacity) {
            (Some(zone), Some(held)) if mapping.kind.is_zoned() => {
                capacity / zone.0.max(1) * held.0
            }
            _ => capacity,
        }
    }

    /// Returns the mapped unit in bytes.
    pub fn unit(&self) -> u64 {
        self.mapping.unit.unwrap_or(self.flash.clustered_page).0
    }
}
