//! The drive file: every number that makes a drive, with its unit.
//!
//! Unknown keys are refused. [`Spec::from_toml`] names line and key of what is wrong and says what is allowed;
//! [`Spec::check`] refuses what cannot be built. The number of blocks follows from `capacity` and
//! `over_provisioning_percent`, so that capacity is a setting and not a consequence.

mod check;
mod listed;
mod mapping;

use crate::buffer::POLICIES;
pub use crate::buffer::WritePolicy;
pub use listed::{FTLS, MappingKind, VICTIMS, Victim};
pub use mapping::{Faults, Gc, Mapping, Separation, Striping};

pub use fathom_base::SpecError;
use fathom_base::registry::{keyed, table_of};
use fathom_base::{Bytes, Dur, Named, Rate, drive_file, keys};
use serde::{Deserialize, Serialize};

/// The kind of drive that the file describes: this one, of those that there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// `kind = "ssd"`.
    #[default]
    #[serde(rename = "ssd")]
    Ssd,
}

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

/// The read buffer: lines in order of last use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadBuffer {
    /// Bytes of data that it holds.
    pub capacity: Bytes,
    /// Bytes of a line.
    #[serde(default = "line")]
    pub line: Bytes,
    /// Shorter reads pass it by.
    #[serde(default = "sector")]
    pub min_request: Bytes,
    /// Reading ahead, if the drive does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefetch: Option<Prefetch>,
}

/// Reading ahead of a sequential stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prefetch {
    /// Consecutive reads that make a stream.
    pub after: u32,
    /// How far ahead of the stream to read.
    pub depth: Bytes,
}

keys! {
    /// The memory for writes.
    #[serde(deny_unknown_fields)]
    pub struct WriteBuffer {
        /// What leaves it first.
        pub policy: WritePolicy,
        /// Bytes of data that it holds.
        pub capacity: Bytes,
        /// What `bplru` and `lb-clock` take for a block; left out for any other, and for the clustered block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub block: Option<Bytes>,
        /// When it is drained, besides at a flush.
        #[serde(default)]
        pub drain: Drain,
        /// How long no write may come before an idle drain starts.
        #[serde(default)]
        pub idle_delay: Dur,
        /// Whether it survives a power cut, so that FLUSH need not drain it.
        #[serde(default)]
        pub battery: bool,
        /// Whether `fifo` joins a write to the clustered page that was written last; else every command's part of a page is
        /// programmed by itself.
        #[serde(default = "yes")]
        pub combine: bool,
        /// Once full, all of it is drained before more is taken ("as soon as the buffer is full", `parameter-aware-io` 4.3);
        /// else only as much as makes room.
        #[serde(default)]
        pub drain_whole: bool,
        /// What a command waits for that is longer than the buffer.
        #[serde(default)]
        pub oversize: Oversize,
        /// Where a command is cut into what is programmed together.
        #[serde(default)]
        pub cut: Cut,
    }
}

/// Write buffers: values of `write_buffer.policy`, and `no-cache`.
pub const BUFFERS: &[Named] = &keyed::<{ POLICIES.len() }>(
    POLICIES,
    WriteBuffer::KEYS,
    Some(|| table_of(&WriteBuffer::new(WritePolicy::Lru, Bytes::mib(8)))),
);

impl WriteBuffer {
    /// A volatile buffer that is drained when it is full, with every other setting's default.
    pub fn new(policy: WritePolicy, capacity: Bytes) -> Self {
        Self {
            policy,
            capacity,
            block: None,
            drain: Drain::OnFull,
            idle_delay: Dur::ZERO,
            battery: false,
            combine: true,
            drain_whole: false,
            oversize: Oversize::default(),
            cut: Cut::default(),
        }
    }
}

/// What a command waits for that is longer than the write buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Oversize {
    /// For room for its last byte, as any other.
    #[default]
    Buffered,
    /// Until all of it is in flash (`parameter-aware-io` 4.2.6: a write longer than the buffer pays for flash writes,
    /// though the buffer is empty).
    WriteThrough,
}

/// Where a command is cut into what is programmed together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// At clustered pages of the drive.
    #[default]
    Page,
    /// At every clustered page's length from its own beginning too: of one that is not aligned no page comes whole.
    Command,
}

/// When the memory for writes is drained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Drain {
    /// Only when it is full.
    #[default]
    OnFull,
    /// When it is full, and when no write has come for `idle_delay`.
    Idle,
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
fn yes() -> bool {
    true
}
fn line() -> Bytes {
    Bytes::kib(4)
}
fn max_request() -> Bytes {
    Bytes::mib(32)
}

impl Spec {
    /// Reads a drive file.
    ///
    /// # Errors
    /// [`SpecError::Syntax`] with line and column, or [`SpecError::Value`] from [`Spec::check`].
    pub fn from_toml(text: &str) -> Result<Spec, SpecError> {
        let spec: Spec = drive_file::from_toml(text)?;
        spec.check()?;
        Ok(spec)
    }

    /// The drive file of this drive, with every default written out.
    pub fn to_toml(&self) -> String {
        drive_file::to_toml(self)
    }

    /// The mapped unit in bytes.
    pub fn unit(&self) -> u64 {
        self.mapping.unit.unwrap_or(self.flash.clustered_page).0
    }
}
