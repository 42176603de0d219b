//! The drive file: every number that makes a drive, with its unit.
//!
//! Unknown keys are refused. [`Spec::from_toml`] names line and key of what is wrong and says what is allowed;
//! [`Spec::check`] refuses what cannot be built. The number of blocks follows from `capacity` and
//! `over_provisioning_percent`, so that capacity is a setting and not a consequence.

use fathom_base::{Bytes, Dur, Rate};
use serde::{Deserialize, Serialize};

/// A whole drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
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
    /// Erase of a block (tBERS).
    pub erase: Dur,
    /// Bytes that the drive reads and writes as one.
    pub clustered_page: Bytes,
    /// Bytes that the drive erases as one.
    pub clustered_block: Bytes,
    /// Whether the command of a read waits for the transfers on its channel.
    #[serde(default)]
    pub arbitration: Arbitration,
}

/// Who goes first on a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// Commands slip in between transfers: a read starts in the array as soon as its die is free.
    #[default]
    CommandFirst,
    /// A read's command queues behind the transfers that were booked before it.
    InOrder,
}

/// The translation layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// How logical addresses find their place.
    pub kind: MappingKind,
    /// The smallest piece that is mapped on its own; a partly written one is read, modified and written.
    /// Defaults to the clustered page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Bytes>,
    /// Space beyond the capacity, in percent of it.
    pub over_provisioning_percent: f64,
    /// Log blocks (block mapping only).
    #[serde(default)]
    pub log_blocks: u32,
    /// Whether a partly filled clustered page can be programmed further (data sheets: NOP > 1); else the rest
    /// of it is lost.
    #[serde(default)]
    pub partial_program: bool,
}

/// Kinds of mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MappingKind {
    /// Every unit anywhere, greedy garbage collection.
    Page,
    /// Clustered blocks in order, with log blocks that are merged (`irbw` 2.1, `greedy-space` II).
    Block,
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

/// The memory for writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteBuffer {
    /// First in, first out, or a cache in order of last use.
    pub policy: WritePolicy,
    /// Bytes of data that it holds.
    pub capacity: Bytes,
    /// When it is drained, besides at a flush.
    pub drain: Drain,
    /// How long no write may come before an idle drain starts.
    #[serde(default)]
    pub idle_delay: Dur,
    /// Whether it survives a power cut, so that FLUSH need not drain it.
    #[serde(default)]
    pub battery: bool,
}

/// What the memory for writes does with a second write to the same place (`parameter-aware-io` 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WritePolicy {
    /// Buffer: the second write takes new room, unless it follows the first at once.
    Fifo,
    /// Cache: the second write replaces the first.
    Lru,
}

/// When the memory for writes is drained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Drain {
    /// Only when it is full.
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
fn line() -> Bytes {
    Bytes::kib(4)
}
fn max_request() -> Bytes {
    Bytes::mib(32)
}

/// A drive file that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpecError {
    /// Not TOML, an unknown key, a value of the wrong kind.
    #[error("line {line}, column {column}: {message}")]
    Syntax {
        /// From 1.
        line: usize,
        /// From 1, in bytes.
        column: usize,
        /// What is wrong there and what is allowed.
        message: String,
    },
    /// A value that makes no drive.
    #[error("`{key}` is {found}: {allowed}")]
    Value {
        /// The key's path, such as `flash.clustered_page`.
        key: &'static str,
        /// What it says.
        found: String,
        /// What would do.
        allowed: String,
    },
}

impl Spec {
    /// Reads a drive file.
    ///
    /// # Errors
    /// [`SpecError::Syntax`] with line and column, or [`SpecError::Value`] from [`Spec::check`].
    pub fn from_toml(text: &str) -> Result<Spec, SpecError> {
        let spec: Spec = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start).min(text.len());
            let before = text.get(..at).unwrap_or_default();
            SpecError::Syntax {
                line: before.matches('\n').count() + 1,
                column: at - before.rfind('\n').map_or(0, |i| i + 1) + 1,
                message: error.message().to_owned(),
            }
        })?;
        spec.check()?;
        Ok(spec)
    }

    /// The drive file of this drive, with every default written out.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }

    /// The mapped unit in bytes.
    pub fn unit(&self) -> u64 {
        self.mapping.unit.unwrap_or(self.flash.clustered_page).0
    }

    /// Whether such a drive can be built.
    ///
    /// # Errors
    /// [`SpecError::Value`] for the first value that cannot be.
    pub fn check(&self) -> Result<(), SpecError> {
        self.check_host()?;
        self.check_flash()?;
        self.check_mapping()?;
        self.check_buffers()
    }

    fn check_host(&self) -> Result<(), SpecError> {
        let host = &self.host;
        let block = host.logical_block.0;
        want(
            block >= 512 && block.is_power_of_two() && block <= 1 << 20,
            "host.logical_block",
            host.logical_block,
            || "a power of two from 512B to 1MiB".into(),
        )?;
        want(
            (1..=65_536).contains(&host.queue_depth),
            "host.queue_depth",
            host.queue_depth,
            || "1 to 65536".into(),
        )?;
        want(
            host.max_request.0 >= block && host.max_request.0.is_multiple_of(block),
            "host.max_request",
            host.max_request,
            || format!("a multiple of the logical block of {}", host.logical_block),
        )
    }

    fn check_flash(&self) -> Result<(), SpecError> {
        let flash = &self.flash;
        let counts = [
            ("flash.channels", flash.channels, 256),
            (
                "flash.packages_per_channel",
                flash.packages_per_channel,
                256,
            ),
            ("flash.dies_per_package", flash.dies_per_package, 64),
            ("flash.planes_per_die", flash.planes_per_die, 64),
            ("flash.pages_per_block", flash.pages_per_block, 16_384),
        ];
        for (key, n, most) in counts {
            want((1..=most).contains(&n), key, n, || format!("1 to {most}"))?;
        }
        let page = flash.page.0;
        want(
            page >= 512 && page.is_multiple_of(512) && page <= 1 << 20,
            "flash.page",
            flash.page,
            || "a multiple of 512B, at most 1MiB".into(),
        )?;
        let dies = u64::from(flash.channels * flash.packages_per_channel * flash.dies_per_package);
        let (planes, per_die) = (
            dies * u64::from(flash.planes_per_die),
            u64::from(flash.planes_per_die),
        );
        let width = flash.clustered_page.0 / page;
        let whole = width * page == flash.clustered_page.0 && width > 0;
        let fits = whole
            && (per_die.is_multiple_of(width)
                || (width.is_multiple_of(per_die) && dies.is_multiple_of(width / per_die)));
        want(fits, "flash.clustered_page", flash.clustered_page, || {
            format!(
                "pages of {} over planes of one die, or over whole dies that divide all {dies}",
                flash.page
            )
        })?;
        let block = page * u64::from(flash.pages_per_block);
        let wide = flash.clustered_block.0 / block;
        let fits = wide * block == flash.clustered_block.0
            && wide > 0
            && wide.is_multiple_of(width)
            && planes.is_multiple_of(wide);
        want(fits, "flash.clustered_block", flash.clustered_block, || {
            format!(
                "blocks of {} over a number of planes that divides all {planes} and is a multiple of the clustered page's {width}",
                Bytes(block)
            )
        })
    }

    fn check_mapping(&self) -> Result<(), SpecError> {
        let (mapping, flash) = (&self.mapping, &self.flash);
        let unit = self.unit();
        let fits = unit >= self.host.logical_block.0
            && unit.is_multiple_of(self.host.logical_block.0)
            && flash.clustered_page.0.is_multiple_of(unit);
        want(fits, "mapping.unit", Bytes(unit), || {
            format!(
                "a multiple of the logical block that divides the clustered page of {}",
                flash.clustered_page
            )
        })?;
        let over = mapping.over_provisioning_percent;
        want(
            (0.0..=1000.0).contains(&over),
            "mapping.over_provisioning_percent",
            over,
            || "0 to 1000".into(),
        )?;
        let block_mapped = mapping.kind == MappingKind::Block;
        want(
            !block_mapped || (1..=65_536).contains(&mapping.log_blocks),
            "mapping.log_blocks",
            mapping.log_blocks,
            || "1 to 65536 for block mapping".into(),
        )?;
        want(
            self.capacity.0 >= flash.clustered_block.0
                && self.capacity.0.is_multiple_of(flash.clustered_block.0),
            "capacity",
            self.capacity,
            || {
                format!(
                    "a positive multiple of the clustered block of {}",
                    flash.clustered_block
                )
            },
        )?;
        let physical = crate::geometry::physical_units(self);
        want(
            physical.is_some_and(|n| n < 1 << 31),
            "capacity",
            self.capacity,
            || {
                "at most 2147483647 mapped units with over-provisioning, log blocks and spare blocks"
                    .into()
            },
        )
    }

    fn check_buffers(&self) -> Result<(), SpecError> {
        if let Some(buffer) = &self.read_buffer {
            let line = buffer.line.0;
            want(
                line >= 512 && line.is_multiple_of(512),
                "read_buffer.line",
                buffer.line,
                || "a multiple of 512B".into(),
            )?;
            let room = (line..=16 << 30).contains(&buffer.capacity.0)
                && buffer.capacity.0.is_multiple_of(line);
            want(room, "read_buffer.capacity", buffer.capacity, || {
                format!("a multiple of the line of {}, at most 16GiB", buffer.line)
            })?;
        }
        if let Some(buffer) = &self.write_buffer {
            let least = self.host.logical_block.0;
            let room = (least..=16 << 30).contains(&buffer.capacity.0)
                && buffer.capacity.0.is_multiple_of(512);
            want(room, "write_buffer.capacity", buffer.capacity, || {
                format!("a multiple of 512B from {} to 16GiB", Bytes(least))
            })?;
        }
        let noise = &self.noise;
        for (key, percent) in [
            ("noise.command_percent", noise.command_percent),
            ("noise.flash_percent", noise.flash_percent),
        ] {
            want((0.0..=100.0).contains(&percent), key, percent, || {
                "0 to 100".into()
            })?;
        }
        Ok(())
    }
}

fn want(
    holds: bool,
    key: &'static str,
    found: impl std::fmt::Display,
    allowed: impl FnOnce() -> String,
) -> Result<(), SpecError> {
    if holds {
        return Ok(());
    }
    Err(SpecError::Value {
        key,
        found: found.to_string(),
        allowed: allowed(),
    })
}
